package decode

import (
	"math"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"pgregory.net/rapid"

	"github.com/s3window/s3window/internal/encode"
)

func (w world) resource(r pcommon.Resource) {
	w.attributes(r.Attributes(), 0)
	if s := w.pick("service", "", "shop", "api", "\xffbad", "7"); s == "7" {
		r.Attributes().PutInt("service.name", 7)
	} else if s != "" {
		r.Attributes().PutStr("service.name", s)
	}
	r.SetDroppedAttributesCount(w.uint32("dropped"))
}

func (w world) instrumentation(s pcommon.InstrumentationScope) {
	s.SetName(w.text("name"))
	s.SetVersion(w.pick("version", "", "1", "\xff1"))
	w.attributes(s.Attributes(), 0)
	s.SetDroppedAttributesCount(w.uint32("dropped"))
}

func (w world) uint32(label string) uint32 {
	return rapid.SampledFrom([]uint32{0, 1, 5, math.MaxUint32}).Draw(w.T, label)
}

func (w world) time(label string) pcommon.Timestamp {
	return pcommon.Timestamp(rapid.SampledFrom([]uint64{0, 1, 999, 1789990000123456789, math.MaxInt64, 1 << 63, math.MaxUint64}).Draw(w.T, label))
}

func (w world) traceID() (id pcommon.TraceID) {
	if rapid.Bool().Draw(w.T, "id") {
		id[0], id[15] = 1, 0xff
	}
	return id
}

func (w world) spanID() (id pcommon.SpanID) {
	if rapid.Bool().Draw(w.T, "id") {
		id[7] = 0xab
	}
	return id
}

func (w world) enum(label string) int32 {
	return rapid.SampledFrom([]int32{0, 1, 2, 3, 5, 6, -1, math.MinInt32, math.MaxInt32}).Draw(w.T, label)
}

func (w world) traces() ptrace.Traces {
	x := ptrace.NewTraces()
	for range rapid.IntRange(0, 3).Draw(w.T, "resources") {
		rs := x.ResourceSpans().AppendEmpty()
		rs.SetSchemaUrl(w.pick("schema", "", "https://x", "\xff"))
		w.resource(rs.Resource())
		for range rapid.IntRange(0, 2).Draw(w.T, "scopes") {
			ss := rs.ScopeSpans().AppendEmpty()
			ss.SetSchemaUrl(w.pick("schema", "", "https://y"))
			w.instrumentation(ss.Scope())
			for range rapid.IntRange(0, 3).Draw(w.T, "spans") {
				w.span(ss.Spans().AppendEmpty())
			}
		}
	}
	return x
}

func (w world) span(sp ptrace.Span) {
	sp.SetTraceID(w.traceID())
	sp.SetSpanID(w.spanID())
	sp.SetParentSpanID(w.spanID())
	sp.TraceState().FromRaw(w.text("state"))
	sp.SetFlags(w.uint32("flags"))
	sp.SetName(w.text("name"))
	sp.SetKind(ptrace.SpanKind(w.enum("kind")))
	sp.SetStartTimestamp(w.time("start"))
	sp.SetEndTimestamp(w.time("end"))
	sp.Status().SetCode(ptrace.StatusCode(w.enum("code")))
	sp.Status().SetMessage(w.text("message"))
	w.attributes(sp.Attributes(), 0)
	sp.SetDroppedAttributesCount(w.uint32("dropped"))
	sp.SetDroppedEventsCount(w.uint32("dropped"))
	sp.SetDroppedLinksCount(w.uint32("dropped"))
	for range rapid.IntRange(0, 3).Draw(w.T, "events") {
		e := sp.Events().AppendEmpty()
		e.SetTimestamp(w.time("time"))
		e.SetName(w.text("name"))
		w.attributes(e.Attributes(), 1)
		e.SetDroppedAttributesCount(w.uint32("dropped"))
	}
	for range rapid.IntRange(0, 3).Draw(w.T, "links") {
		l := sp.Links().AppendEmpty()
		l.SetTraceID(w.traceID())
		l.SetSpanID(w.spanID())
		l.TraceState().FromRaw(w.text("state"))
		l.SetFlags(w.uint32("flags"))
		w.attributes(l.Attributes(), 1)
		l.SetDroppedAttributesCount(w.uint32("dropped"))
	}
}

func serviceOf(r pcommon.Resource) string {
	v, ok := r.Attributes().Get("service.name")
	if !ok {
		return ""
	}
	return mended(v.AsString())
}

func aloneSpans(t failer, payload []byte) (out []group) {
	t.Helper()
	x, err := (&ptrace.ProtoUnmarshaler{}).UnmarshalTraces(payload)
	if err != nil {
		t.Fatalf("pdata refuses the payload: %v", err)
	}
	for _, rs := range x.ResourceSpans().All() {
		g := group{service: serviceOf(rs.Resource())}
		for _, ss := range rs.ScopeSpans().All() {
			for _, sp := range ss.Spans().All() {
				one := ptrace.NewTraces()
				r := one.ResourceSpans().AppendEmpty()
				// Without entity references.
				rs.Resource().Attributes().CopyTo(r.Resource().Attributes())
				r.Resource().SetDroppedAttributesCount(rs.Resource().DroppedAttributesCount())
				r.SetSchemaUrl(rs.SchemaUrl())
				s := r.ScopeSpans().AppendEmpty()
				ss.Scope().CopyTo(s.Scope())
				s.SetSchemaUrl(ss.SchemaUrl())
				sp.CopyTo(s.Spans().AppendEmpty())
				g.records = append(g.records, marshalTraces(one))
			}
		}
		out = append(out, g)
	}
	return out
}

func normalSpan(spec encode.Spec, one []byte) []byte {
	x, _ := (&ptrace.ProtoUnmarshaler{}).UnmarshalTraces(one)
	rs := x.ResourceSpans().At(0)
	ss := rs.ScopeSpans().At(0)
	rs.SetSchemaUrl(mended(rs.SchemaUrl()))
	ss.SetSchemaUrl(mended(ss.SchemaUrl()))
	normalHeads(spec, rs.Resource(), ss.Scope())
	sp := ss.Spans().At(0)
	sp.SetName(mended(sp.Name()))
	sp.TraceState().FromRaw(mended(sp.TraceState().AsRaw()))
	sp.Status().SetMessage(mended(sp.Status().Message()))
	normalMap(sp.Attributes(), spec, func(c encode.Column) string { return c.Attribute })
	for _, e := range sp.Events().All() {
		e.SetName(mended(e.Name()))
		normalMap(e.Attributes(), encode.Spec{}, nil)
	}
	for _, l := range sp.Links().All() {
		l.TraceState().FromRaw(mended(l.TraceState().AsRaw()))
		normalMap(l.Attributes(), encode.Spec{}, nil)
	}
	return marshalTraces(x)
}

func spanHeads(one []byte) (out [][]byte) {
	x, _ := (&ptrace.ProtoUnmarshaler{}).UnmarshalTraces(one)
	rs := x.ResourceSpans().At(0)
	rs.ScopeSpans().At(0).Spans().RemoveIf(func(ptrace.Span) bool { return true })
	scope := marshalTraces(x)
	rs.ScopeSpans().RemoveIf(func(ptrace.ScopeSpans) bool { return true })
	return [][]byte{marshalTraces(x), scope}
}
