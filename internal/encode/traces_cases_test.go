package encode

import (
	"math"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/s3window/s3window/internal/encode/encodetest"
)

type tracesCase struct {
	name string
	fill func(ptrace.Traces)
}

func oneSpan(fill func(rs ptrace.ResourceSpans, ss ptrace.ScopeSpans, sp ptrace.Span)) func(ptrace.Traces) {
	return func(x ptrace.Traces) {
		rs := x.ResourceSpans().AppendEmpty()
		ss := rs.ScopeSpans().AppendEmpty()
		fill(rs, ss, ss.Spans().AppendEmpty())
	}
}

func spanOnly(fill func(ptrace.Span)) func(ptrace.Traces) {
	return oneSpan(func(_ ptrace.ResourceSpans, _ ptrace.ScopeSpans, sp ptrace.Span) { fill(sp) })
}

func tracesCases() []tracesCase {
	const bad = "a\xff\xfeb\xc3"
	return []tracesCase{
		{"nothing", func(ptrace.Traces) {}},
		{"an empty span", spanOnly(func(ptrace.Span) {})},
		{"every field", oneSpan(everySpanField)},
		{"an end alone", spanOnly(func(sp ptrace.Span) { sp.SetEndTimestamp(1234567) })},
		{"an end before the start", spanOnly(func(sp ptrace.Span) {
			sp.SetStartTimestamp(2000)
			sp.SetEndTimestamp(1000)
		})},
		{"extreme numbers", spanOnly(func(sp ptrace.Span) {
			sp.SetStartTimestamp(1)
			sp.SetEndTimestamp(math.MaxUint64)
			sp.SetKind(math.MinInt32)
			sp.Status().SetCode(math.MaxInt32)
			sp.SetFlags(math.MaxUint32)
			sp.SetDroppedAttributesCount(math.MaxUint32)
			sp.SetDroppedEventsCount(math.MaxUint32)
			sp.SetDroppedLinksCount(math.MaxUint32)
			sp.Events().AppendEmpty().SetTimestamp(math.MaxUint64)
			sp.Links().AppendEmpty().SetFlags(math.MaxUint32)
		})},
		{"kinds and codes", func(x ptrace.Traces) {
			ss := x.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty()
			for i := range 7 {
				sp := ss.Spans().AppendEmpty()
				sp.SetKind(ptrace.SpanKind(i))
				sp.Status().SetCode(ptrace.StatusCode(i))
			}
		}},
		{"lists of many lengths", func(x ptrace.Traces) {
			ss := x.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty()
			for i := range 80 {
				listsOfLength(ss.Spans().AppendEmpty(), i%5, i%4, i%3)
			}
			listsOfLength(ss.Spans().AppendEmpty(), 3000, 40, 2000)
		}},
		{"attributes of every kind", spanOnly(func(sp ptrace.Span) {
			kinds(sp.Attributes())
			kinds(sp.Events().AppendEmpty().Attributes())
			kinds(sp.Links().AppendEmpty().Attributes())
		})},
		{"invalid UTF-8 everywhere", oneSpan(func(rs ptrace.ResourceSpans, ss ptrace.ScopeSpans, sp ptrace.Span) {
			everySpanField(rs, ss, sp)
			sp.SetName(bad)
			sp.TraceState().FromRaw(bad)
			sp.Status().SetMessage(bad)
			e, l := sp.Events().AppendEmpty(), sp.Links().AppendEmpty()
			e.SetName(bad)
			l.TraceState().FromRaw(bad)
			for _, m := range []pcommon.Map{sp.Attributes(), e.Attributes(), l.Attributes()} {
				m.PutStr(bad, bad)
				m.PutEmptyBytes("y").FromRaw([]byte(bad))
			}
		})},
		{"promoted attributes", oneSpan(func(rs ptrace.ResourceSpans, ss ptrace.ScopeSpans, sp ptrace.Span) {
			for _, m := range []pcommon.Map{rs.Resource().Attributes(), ss.Scope().Attributes(), sp.Attributes(), sp.Events().AppendEmpty().Attributes()} {
				m.PutStr("promoted", "text")
				m.PutInt("int", -5)
				m.PutStr("double", "of another type")
				m.PutBool("bool", true)
			}
		})},
		{"long values", spanOnly(func(sp ptrace.Span) {
			long := strings.Repeat("0123456789abcdef", 1<<16)
			sp.SetName(long)
			for range 3 {
				e := sp.Events().AppendEmpty()
				e.SetName(long)
				e.Attributes().PutStr(long, long+"x")
			}
		})},
		{"generated", func(x ptrace.Traces) {
			for _, p := range encodetest.Traces(3, 2000) {
				y, err := (&ptrace.ProtoUnmarshaler{}).UnmarshalTraces(p)
				if err != nil {
					panic(err)
				}
				y.ResourceSpans().MoveAndAppendTo(x.ResourceSpans())
			}
		}},
	}
}

func listsOfLength(sp ptrace.Span, events, attributes, links int) {
	for i := range events {
		e := sp.Events().AppendEmpty()
		e.SetTimestamp(pcommon.Timestamp(i))
		e.SetName("event " + itoa(int64(i%7)))
		for j := range (i + attributes) % 5 {
			e.Attributes().PutInt("k"+itoa(int64(j)), int64(i))
		}
	}
	for i := range links {
		l := sp.Links().AppendEmpty()
		l.SetSpanID([8]byte{7: byte(i)})
		for j := range i % 3 {
			l.Attributes().PutStr("k"+itoa(int64(j)), "v")
		}
	}
}

func everySpanField(rs ptrace.ResourceSpans, ss ptrace.ScopeSpans, sp ptrace.Span) {
	rs.SetSchemaUrl("https://resource")
	rs.Resource().SetDroppedAttributesCount(1)
	rs.Resource().Attributes().PutStr("service.name", "shop")
	ss.SetSchemaUrl("https://scope")
	ss.Scope().SetName("lib")
	ss.Scope().SetVersion("1.2")
	ss.Scope().SetDroppedAttributesCount(2)
	ss.Scope().Attributes().PutBool("a", true)
	sp.SetTraceID([16]byte{1, 15: 255})
	sp.SetSpanID([8]byte{2, 7: 254})
	sp.SetParentSpanID([8]byte{3, 7: 253})
	sp.TraceState().FromRaw("a=b,c=d")
	sp.SetFlags(0x301)
	sp.SetName("GET /x")
	sp.SetKind(ptrace.SpanKindServer)
	sp.SetStartTimestamp(1789990000123456789)
	sp.SetEndTimestamp(1789990000223456790)
	sp.Attributes().PutStr("k", "v")
	sp.SetDroppedAttributesCount(3)
	e := sp.Events().AppendEmpty()
	e.SetTimestamp(1789990000123456999)
	e.SetName("event")
	e.Attributes().PutStr("ek", "ev")
	e.SetDroppedAttributesCount(4)
	sp.SetDroppedEventsCount(5)
	l := sp.Links().AppendEmpty()
	l.SetTraceID([16]byte{4, 15: 252})
	l.SetSpanID([8]byte{5, 7: 251})
	l.TraceState().FromRaw("e=f")
	l.SetFlags(0x100)
	l.Attributes().PutStr("lk", "lv")
	l.SetDroppedAttributesCount(6)
	sp.SetDroppedLinksCount(7)
	sp.Status().SetCode(ptrace.StatusCodeError)
	sp.Status().SetMessage("broken")
}
