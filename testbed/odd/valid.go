package odd

import (
	"math"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// times are those that readers get wrong: unknown, the first, the ends of
// int64 and uint64 nanoseconds.
func times() []pcommon.Timestamp {
	return []pcommon.Timestamp{0, 1, 999, 1789990000123456789, math.MaxInt64, 1 << 63, math.MaxUint64}
}

func logs() (out [][]byte) {
	add := func(fill func(plog.ResourceLogs, plog.ScopeLogs, plog.LogRecord)) {
		x := plog.NewLogs()
		rl := x.ResourceLogs().AppendEmpty()
		sl := rl.ScopeLogs().AppendEmpty()
		fill(rl, sl, sl.LogRecords().AppendEmpty())
		out = append(out, marshalled((&plog.ProtoMarshaler{}).MarshalLogs(x)))
	}
	for _, fill := range attributeCases() {
		add(func(rl plog.ResourceLogs, sl plog.ScopeLogs, lr plog.LogRecord) {
			fill(rl.Resource().Attributes())
			rl.Resource().Attributes().PutStr("service.name", "odd")
			fill(sl.Scope().Attributes())
			fill(lr.Attributes())
			fill(lr.Body().SetEmptyMap())
		})
	}
	for _, at := range times() {
		add(func(_ plog.ResourceLogs, _ plog.ScopeLogs, lr plog.LogRecord) { lr.SetTimestamp(at) })
		add(func(_ plog.ResourceLogs, _ plog.ScopeLogs, lr plog.LogRecord) { lr.SetObservedTimestamp(at) })
	}
	for _, fill := range bodies() {
		add(func(_ plog.ResourceLogs, _ plog.ScopeLogs, lr plog.LogRecord) { fill(lr.Body()) })
	}
	add(func(rl plog.ResourceLogs, sl plog.ScopeLogs, lr plog.LogRecord) {
		rl.SetSchemaUrl("https://resource")
		rl.Resource().SetDroppedAttributesCount(math.MaxUint32)
		sl.SetSchemaUrl("https://scope")
		sl.Scope().SetName("lib 😀\x00")
		sl.Scope().SetVersion("1.2")
		sl.Scope().SetDroppedAttributesCount(2)
		lr.SetSeverityNumber(math.MinInt32)
		lr.SetSeverityText(strings.Repeat("x", 63) + "ééé")
		lr.SetEventName(invalid)
		lr.SetTraceID([16]byte{1, 15: 255})
		lr.SetSpanID([8]byte{2, 7: 254})
		lr.SetFlags(math.MaxUint32)
		lr.SetDroppedAttributesCount(math.MaxUint32)
	})
	return out
}

func bodies() []func(pcommon.Value) {
	return []func(pcommon.Value){
		func(v pcommon.Value) { v.SetStr("") },
		func(v pcommon.Value) { v.SetStr("null") },
		func(v pcommon.Value) { v.SetStr("{\"json\": \"as text\"}\n") },
		func(v pcommon.Value) { v.SetStr(strings.Repeat("0123456789abcdef", 1<<16)) },
		func(v pcommon.Value) { v.SetStr(invalid + "\x00😀") },
		func(v pcommon.Value) { v.SetBool(false) },
		func(v pcommon.Value) { v.SetInt(math.MinInt64) },
		func(v pcommon.Value) { v.SetDouble(math.NaN()) },
		func(v pcommon.Value) { v.SetDouble(-0.5) },
		func(v pcommon.Value) { v.SetEmptyBytes() },
		func(v pcommon.Value) { v.SetEmptyBytes().FromRaw([]byte{0, 255}) },
		func(v pcommon.Value) { v.SetEmptyMap() },
		func(v pcommon.Value) { v.SetEmptySlice() },
		func(v pcommon.Value) { numbers(v.SetEmptySlice().AppendEmpty().SetEmptyMap()) },
	}
}

func traces() (out [][]byte) {
	add := func(fill func(ptrace.ResourceSpans, ptrace.ScopeSpans, ptrace.Span)) {
		x := ptrace.NewTraces()
		rs := x.ResourceSpans().AppendEmpty()
		ss := rs.ScopeSpans().AppendEmpty()
		fill(rs, ss, ss.Spans().AppendEmpty())
		out = append(out, marshalled((&ptrace.ProtoMarshaler{}).MarshalTraces(x)))
	}
	for _, fill := range attributeCases() {
		add(func(rs ptrace.ResourceSpans, ss ptrace.ScopeSpans, sp ptrace.Span) {
			fill(rs.Resource().Attributes())
			rs.Resource().Attributes().PutInt("service.name", 7)
			fill(ss.Scope().Attributes())
			fill(sp.Attributes())
			sp.Events().AppendEmpty()
			fill(sp.Events().AppendEmpty().Attributes())
			fill(sp.Links().AppendEmpty().Attributes())
			sp.Links().AppendEmpty()
		})
	}
	for _, at := range times() {
		add(func(_ ptrace.ResourceSpans, _ ptrace.ScopeSpans, sp ptrace.Span) {
			sp.SetStartTimestamp(at)
			sp.Events().AppendEmpty().SetTimestamp(at)
		})
		add(func(_ ptrace.ResourceSpans, _ ptrace.ScopeSpans, sp ptrace.Span) {
			sp.SetStartTimestamp(5)
			sp.SetEndTimestamp(at)
		})
	}
	add(func(_ ptrace.ResourceSpans, _ ptrace.ScopeSpans, sp ptrace.Span) {
		for i := range 500 {
			e := sp.Events().AppendEmpty()
			e.SetName("event " + invalid)
			e.SetDroppedAttributesCount(uint32(i))
			e.Attributes().PutInt("i", int64(i))
		}
	})
	add(func(_ ptrace.ResourceSpans, _ ptrace.ScopeSpans, sp ptrace.Span) {
		sp.SetTraceID([16]byte{1, 15: 255})
		sp.SetSpanID([8]byte{2, 7: 254})
		sp.SetParentSpanID([8]byte{3, 7: 253})
		sp.TraceState().FromRaw("a=b," + invalid)
		sp.SetFlags(math.MaxUint32)
		sp.SetName("GET /😀\x00")
		sp.SetKind(math.MinInt32)
		sp.Status().SetCode(math.MaxInt32)
		sp.Status().SetMessage("broken\nline")
		sp.SetDroppedAttributesCount(math.MaxUint32)
		sp.SetDroppedEventsCount(5)
		sp.SetDroppedLinksCount(7)
		l := sp.Links().AppendEmpty()
		l.SetTraceID([16]byte{4, 15: 252})
		l.SetSpanID([8]byte{5, 7: 251})
		l.TraceState().FromRaw("e=f")
		l.SetFlags(0x100)
		l.SetDroppedAttributesCount(6)
	})
	return out
}

func metrics() (out [][]byte) {
	add := func(fill func(pmetric.ResourceMetrics, pmetric.ScopeMetrics, pmetric.Metric)) {
		x := pmetric.NewMetrics()
		rm := x.ResourceMetrics().AppendEmpty()
		sm := rm.ScopeMetrics().AppendEmpty()
		fill(rm, sm, sm.Metrics().AppendEmpty())
		out = append(out, marshalled((&pmetric.ProtoMarshaler{}).MarshalMetrics(x)))
	}
	for _, fill := range attributeCases() {
		add(func(rm pmetric.ResourceMetrics, sm pmetric.ScopeMetrics, m pmetric.Metric) {
			fill(rm.Resource().Attributes())
			fill(sm.Scope().Attributes())
			fill(m.Metadata())
			m.SetName("odd " + invalid)
			p := m.SetEmptyGauge().DataPoints().AppendEmpty()
			fill(p.Attributes())
			fill(p.Exemplars().AppendEmpty().FilteredAttributes())
			p.Exemplars().AppendEmpty()
		})
	}
	for _, at := range times() {
		add(func(_ pmetric.ResourceMetrics, _ pmetric.ScopeMetrics, m pmetric.Metric) {
			p := m.SetEmptySum().DataPoints().AppendEmpty()
			p.SetStartTimestamp(at)
			p.SetTimestamp(at)
			p.Exemplars().AppendEmpty().SetTimestamp(at)
		})
	}
	for _, n := range []int64{math.MinInt64, math.MaxInt64, 0} {
		add(func(_ pmetric.ResourceMetrics, _ pmetric.ScopeMetrics, m pmetric.Metric) {
			s := m.SetEmptySum()
			s.SetIsMonotonic(n == 0)
			s.SetAggregationTemporality(pmetric.AggregationTemporality(n % 5))
			s.DataPoints().AppendEmpty().SetIntValue(n)
			s.DataPoints().AppendEmpty().Exemplars().AppendEmpty().SetIntValue(n)
		})
	}
	for _, f := range extremes() {
		add(func(_ pmetric.ResourceMetrics, sm pmetric.ScopeMetrics, m pmetric.Metric) { extremePoints(sm, m, f) })
	}
	return out
}

// extremePoints makes a point of every kind out of f.
func extremePoints(sm pmetric.ScopeMetrics, m pmetric.Metric, f float64) {
	m.SetName("gauge")
	p := m.SetEmptyGauge().DataPoints().AppendEmpty()
	p.SetDoubleValue(f)
	p.SetFlags(math.MaxUint32)
	p.Exemplars().AppendEmpty().SetDoubleValue(f)
	hs := sm.Metrics().AppendEmpty().SetEmptyHistogram()
	hs.DataPoints().AppendEmpty()
	h := hs.DataPoints().AppendEmpty()
	h.SetCount(math.MaxUint64)
	h.SetSum(f)
	h.SetMin(f)
	h.SetMax(f)
	h.ExplicitBounds().Append(f, f)
	h.BucketCounts().Append(math.MaxUint64, 0)
	e := sm.Metrics().AppendEmpty().SetEmptyExponentialHistogram().DataPoints().AppendEmpty()
	e.SetScale(math.MinInt32)
	e.SetZeroCount(math.MaxUint64)
	e.SetZeroThreshold(f)
	e.Positive().SetOffset(math.MaxInt32)
	e.Positive().BucketCounts().Append(1, 2, 3)
	e.Negative().SetOffset(math.MinInt32)
	e.Negative().BucketCounts().Append(math.MaxUint64, 0, 1<<63)
	q := sm.Metrics().AppendEmpty().SetEmptySummary().DataPoints().AppendEmpty()
	q.SetCount(1 << 63)
	for range 2 {
		v := q.QuantileValues().AppendEmpty()
		v.SetQuantile(f)
		v.SetValue(f)
	}
}
