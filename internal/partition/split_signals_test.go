package partition

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

func TestSpansAreDealtOutByTenant(t *testing.T) {
	td := ptrace.NewTraces()
	for i, tenant := range []string{"a", "b", "a", ""} {
		rs := td.ResourceSpans().AppendEmpty()
		rs.Resource().Attributes().PutStr("tenant.id", tenant)
		if tenant == "" {
			continue // no span: nobody's
		}
		rs.ScopeSpans().AppendEmpty().Spans().AppendEmpty().SetName(tenant)
		for range i {
			rs.ScopeSpans().At(0).Spans().AppendEmpty().SetName(tenant)
		}
	}
	parts, err := NewSplitter(Rules{From: []Rule{{ResourceAttribute: "tenant.id"}}, Default: "none"}, Bounds{}).Traces(t.Context(), td)
	require.NoError(t, err)
	require.Len(t, parts, 2)
	for i, want := range []struct {
		tenant string
		items  int
	}{{"a", 4}, {"b", 2}} {
		require.Equal(t, want.tenant, parts[i].Tenant)
		require.Equal(t, want.items, parts[i].Items)
		got, err := (&ptrace.ProtoUnmarshaler{}).UnmarshalTraces(parts[i].Payload)
		require.NoError(t, err)
		require.Equal(t, want.items, got.SpanCount())
		for _, rs := range got.ResourceSpans().All() {
			require.Equal(t, want.tenant, rs.ScopeSpans().At(0).Spans().At(0).Name())
		}
	}
}

func TestDataPointsAreDealtOutByTenant(t *testing.T) {
	md := pmetric.NewMetrics()
	for _, tenant := range []string{"a", "b", "only empty metrics"} {
		rm := md.ResourceMetrics().AppendEmpty()
		rm.Resource().Attributes().PutStr("tenant.id", tenant)
		ms := rm.ScopeMetrics().AppendEmpty().Metrics()
		ms.AppendEmpty().SetName("without data")
		ms.AppendEmpty().SetEmptyGauge()
		if tenant == "only empty metrics" {
			continue
		}
		ms.AppendEmpty().SetEmptyGauge().DataPoints().AppendEmpty()
		ms.AppendEmpty().SetEmptySum().DataPoints().AppendEmpty()
		ms.AppendEmpty().SetEmptyHistogram().DataPoints().AppendEmpty()
		ms.AppendEmpty().SetEmptyExponentialHistogram().DataPoints().AppendEmpty()
		ms.AppendEmpty().SetEmptySummary().DataPoints().AppendEmpty()
	}
	parts, err := NewSplitter(Rules{From: []Rule{{ResourceAttribute: "tenant.id"}}, Default: "none"}, Bounds{}).Metrics(t.Context(), md)
	require.NoError(t, err)
	require.Len(t, parts, 2)
	for i, tenant := range []string{"a", "b"} {
		require.Equal(t, tenant, parts[i].Tenant)
		require.Equal(t, 5, parts[i].Items)
		got, err := (&pmetric.ProtoUnmarshaler{}).UnmarshalMetrics(parts[i].Payload)
		require.NoError(t, err)
		require.Equal(t, 5, got.DataPointCount())
		require.Equal(t, 7, got.MetricCount())
	}
}
