package route

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/s3window/s3window/internal/partition"
)

// filler makes random requests.
type filler struct{ *rand.Rand }

func (f filler) attributes(m pcommon.Map, key string) {
	if f.IntN(4) == 0 {
		m.PutStr("other", "y")
	}
	switch f.IntN(7) {
	case 0:
	case 1:
		m.PutInt(key, int64(f.IntN(2)))
	case 2:
		m.PutBool(key, true)
	case 3:
		m.PutEmptySlice(key).AppendEmpty().SetStr("no scalar")
	case 4:
		m.PutDouble(key, 1.5)
	default:
		m.PutStr(key, []string{"", "a", "b/c", "1", "ü"}[f.IntN(5)])
	}
}

func (f filler) time() pcommon.Timestamp {
	hours := []int64{0, 0, 0, 0, 1, 2, 5, 7, -2}[f.IntN(9)]
	if f.IntN(10) == 0 {
		return 0
	}
	return pcommon.Timestamp((received - hours*time.Hour.Microseconds()) * 1000)
}

func (f filler) request(t testing.TB, signal partition.Signal) []byte {
	t.Helper()
	var b []byte
	var err error
	switch signal {
	case partition.Logs:
		b, err = f.logs()
	case partition.Traces:
		b, err = f.traces()
	default:
		b, err = f.metrics()
	}
	require.NoError(t, err)
	return b
}

func (f filler) logs() ([]byte, error) {
	ld := plog.NewLogs()
	for range f.IntN(4) {
		rl := ld.ResourceLogs().AppendEmpty()
		f.attributes(rl.Resource().Attributes(), "service.name")
		rl.SetSchemaUrl("of the resource")
		for range f.IntN(3) {
			sl := rl.ScopeLogs().AppendEmpty()
			f.attributes(sl.Scope().Attributes(), "x")
			sl.SetSchemaUrl("of the scope")
			for i := range f.IntN(6) {
				lr := sl.LogRecords().AppendEmpty()
				lr.Body().SetStr(fmt.Sprint(i))
				lr.SetTimestamp(f.time())
				lr.SetObservedTimestamp(f.time())
				f.attributes(lr.Attributes(), "x")
			}
		}
	}
	return (&plog.ProtoMarshaler{}).MarshalLogs(ld)
}

func (f filler) traces() ([]byte, error) {
	td := ptrace.NewTraces()
	for range f.IntN(4) {
		rs := td.ResourceSpans().AppendEmpty()
		f.attributes(rs.Resource().Attributes(), "service.name")
		for range f.IntN(3) {
			ss := rs.ScopeSpans().AppendEmpty()
			f.attributes(ss.Scope().Attributes(), "x")
			for i := range f.IntN(6) {
				sp := ss.Spans().AppendEmpty()
				sp.SetName(fmt.Sprint(i))
				sp.SetStartTimestamp(f.time())
				sp.SetEndTimestamp(f.time())
				f.attributes(sp.Attributes(), "x")
			}
		}
	}
	return (&ptrace.ProtoMarshaler{}).MarshalTraces(td)
}

func (f filler) metrics() ([]byte, error) {
	md := pmetric.NewMetrics()
	for range f.IntN(4) {
		rm := md.ResourceMetrics().AppendEmpty()
		f.attributes(rm.Resource().Attributes(), "service.name")
		for range f.IntN(3) {
			sm := rm.ScopeMetrics().AppendEmpty()
			f.attributes(sm.Scope().Attributes(), "x")
			for i := range f.IntN(7) {
				m := sm.Metrics().AppendEmpty()
				m.SetName(fmt.Sprint(i))
				m.SetUnit("1")
				f.attributes(m.Metadata(), "meta")
				f.data(m, i)
			}
		}
	}
	return (&pmetric.ProtoMarshaler{}).MarshalMetrics(md)
}

func (f filler) data(m pmetric.Metric, kind int) {
	add := func(p interface {
		dataPoint
		SetTimestamp(pcommon.Timestamp)
	}) {
		p.SetTimestamp(f.time())
		f.attributes(p.Attributes(), "x")
	}
	switch kind {
	case 0:
	case 1:
		m.SetEmptyGauge()
		for range f.IntN(4) {
			add(m.Gauge().DataPoints().AppendEmpty())
		}
	case 2:
		m.SetEmptySum().SetIsMonotonic(true)
		m.Sum().SetAggregationTemporality(pmetric.AggregationTemporalityDelta)
		for range f.IntN(4) {
			add(m.Sum().DataPoints().AppendEmpty())
		}
	case 3:
		m.SetEmptyHistogram().SetAggregationTemporality(pmetric.AggregationTemporalityDelta)
		for range f.IntN(4) {
			add(m.Histogram().DataPoints().AppendEmpty())
		}
	case 4:
		m.SetEmptyExponentialHistogram().SetAggregationTemporality(pmetric.AggregationTemporalityCumulative)
		for range f.IntN(4) {
			add(m.ExponentialHistogram().DataPoints().AppendEmpty())
		}
	default:
		m.SetEmptySummary()
		for range f.IntN(4) {
			add(m.Summary().DataPoints().AppendEmpty())
		}
	}
}
