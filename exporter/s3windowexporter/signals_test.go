package s3windowexporter

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/s3window/s3window/internal/partition"
)

// signals is an exporter in a pipeline of each signal.
type signals struct {
	exporter.Traces
	exporter.Metrics
	exporter.Logs
}

func (r *rig) startSignals() signals {
	r.t.Helper()
	require.NoError(r.t, r.cfg.Validate())
	var s signals
	var err error
	s.Traces, err = r.factory.CreateTraces(r.t.Context(), settings(), r.cfg)
	require.NoError(r.t, err)
	s.Metrics, err = r.factory.CreateMetrics(r.t.Context(), settings(), r.cfg)
	require.NoError(r.t, err)
	s.Logs = r.create(settings())
	for _, c := range []component.Component{s.Traces, s.Metrics, s.Logs} {
		require.NoError(r.t, c.Start(r.t.Context(), r.host))
	}
	return s
}

func (r *rig) shutdownSignals(s signals) {
	r.t.Helper()
	for _, c := range []component.Component{s.Traces, s.Metrics, s.Logs} {
		require.NoError(r.t, c.Shutdown(r.t.Context()))
	}
}

// spans is a request with n spans for each of the tenants.
func spans(n int, tenants ...string) ptrace.Traces {
	td := ptrace.NewTraces()
	for _, tenant := range tenants {
		rs := td.ResourceSpans().AppendEmpty()
		rs.Resource().Attributes().PutStr("tenant.id", tenant)
		all := rs.ScopeSpans().AppendEmpty().Spans()
		for range n {
			all.AppendEmpty().Events().AppendEmpty().SetName("of " + tenant)
		}
	}
	td.MarkReadOnly()
	return td
}

// points is a request with n data points for each of the tenants.
func points(n int, tenants ...string) pmetric.Metrics {
	md := pmetric.NewMetrics()
	for _, tenant := range tenants {
		rm := md.ResourceMetrics().AppendEmpty()
		rm.Resource().Attributes().PutStr("tenant.id", tenant)
		ms := rm.ScopeMetrics().AppendEmpty().Metrics()
		ms.AppendEmpty().SetName("without data")
		all := ms.AppendEmpty().SetEmptyGauge().DataPoints()
		for i := range n {
			all.AppendEmpty().SetIntValue(int64(i))
		}
	}
	md.MarkReadOnly()
	return md
}

// An exporter in three pipelines has one queue and one memory limit, and goes
// on until the last of its pipelines has shut down.
func TestSignalsShareOneExporter(t *testing.T) {
	r := newRig(t)
	s := r.startSignals()
	require.NoError(t, s.ConsumeTraces(t.Context(), spans(3, "a", "b", "a")))
	require.NoError(t, s.ConsumeMetrics(t.Context(), points(5, "b", "a")))
	require.NoError(t, s.ConsumeLogs(t.Context(), logs(2, "a")))
	for _, want := range []struct {
		tenant string
		signal partition.Signal
		n      int64
	}{
		{"a", partition.Traces, 6},
		{"b", partition.Traces, 3},
		{"a", partition.Metrics, 5},
		{"b", partition.Metrics, 5},
		{"a", partition.Logs, 2},
		{"b", partition.Logs, 0},
	} {
		r.await(func() bool { return r.committedOf(want.tenant, want.signal) >= want.n })
		assert.Equal(t, want.n, r.committedOf(want.tenant, want.signal), "%v", want)
	}
	opened, _ := r.storage.opens()
	queues := 0
	for _, name := range opened {
		if name == settings().ID.String()+"/"+clientName {
			queues++
		}
	}
	assert.Equal(t, 1, queues, "one queue of all signals: %v", opened)

	require.NoError(t, s.Traces.Shutdown(t.Context()))
	require.NoError(t, s.Metrics.Shutdown(t.Context()))
	require.NoError(t, s.ConsumeLogs(t.Context(), logs(1, "b")))
	r.awaitCommitted("b", 1)
	require.NoError(t, s.Logs.Shutdown(t.Context()))
	assert.Empty(t, r.host.statuses(), "nothing failed")
	_, open := r.storage.opens()
	assert.Zero(t, open, "clients are closed")
}

// The queue that is full is full for every signal.
func TestSignalsShareTheQueuesRoom(t *testing.T) {
	r := newOfflineRig(t, "http://127.0.0.1:1")
	r.cfg.QueueConfig.Get().QueueSize = 1 << 20
	s := r.startSignals()
	defer r.shutdownSignals(s)
	var err error
	for err == nil {
		err = s.ConsumeTraces(t.Context(), spans(5_000, "a"))
	}
	for err = nil; err == nil; {
		err = s.ConsumeTraces(t.Context(), spans(100, "a"))
	}
	require.Error(t, s.ConsumeLogs(t.Context(), logs(5_000, "a")))
	require.Error(t, s.ConsumeMetrics(t.Context(), points(5_000, "a")))
}

// A promoted column may have the name of a column that one signal has: that
// signal's pipeline is refused, and no other.
func TestColumnsOfAnotherSignal(t *testing.T) {
	r := newOfflineRig(t, "http://127.0.0.1:1")
	r.cfg.Parquet.Columns = []ColumnConfig{{Attribute: "x", As: "metric_unit", Type: "string"}}
	require.NoError(t, r.cfg.Validate())
	_, err := r.factory.CreateMetrics(t.Context(), settings(), r.cfg)
	require.ErrorContains(t, err, "`parquet::columns`, in a pipeline of metrics: ")
	require.ErrorContains(t, err, `"metric_unit"`)
	e, err := r.factory.CreateTraces(t.Context(), settings(), r.cfg)
	require.NoError(t, err)
	require.NoError(t, e.Shutdown(t.Context()))
}
