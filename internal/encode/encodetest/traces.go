package encodetest

import (
	"fmt"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// Traces returns export requests with n spans in all.
func Traces(seed int64, n int) [][]byte {
	w := NewWorld(seed)
	var out [][]byte
	var m ptrace.ProtoMarshaler
	for done := 0; done < n; {
		traces := ptrace.NewTraces()
		base := Start + int64(float64(window)*float64(done)/float64(n))
		for range 1 + w.r.Intn(10) {
			if c := min(n-done-traces.SpanCount(), 1+w.r.Intn(300)); c > 0 {
				w.spans(traces.ResourceSpans().AppendEmpty(), c, base)
			}
		}
		done += traces.SpanCount()
		b, err := m.MarshalTraces(traces)
		if err != nil {
			panic(err) // the marshaler has no error to return
		}
		out = append(out, b)
	}
	return out
}

func (w *World) spans(rs ptrace.ResourceSpans, n int, base int64) {
	in := w.instance()
	rs.SetSchemaUrl("https://opentelemetry.io/schemas/1.37.0")
	in.fill(rs.Resource().Attributes())
	ss := rs.ScopeSpans().AppendEmpty()
	ss.Scope().SetName("github.com/example/otel-" + in.language + "-instrumentation")
	ss.Scope().SetVersion("0.14.2")
	tr := &trace{}
	for range n {
		base += int64(w.r.ExpFloat64() * 1e6)
		w.span(ss.Spans().AppendEmpty(), in, tr, base)
	}
}

func (w *World) span(sp ptrace.Span, in *instance, tr *trace, ts int64) {
	r := w.r
	if tr.left == 0 {
		tr.left = 2 + r.Intn(8)
		r.Read(tr.id[:])
		tr.span = [8]byte{}
	}
	tr.left--
	sp.SetTraceID(tr.id)
	sp.SetParentSpanID(tr.span)
	r.Read(tr.span[:])
	sp.SetSpanID(tr.span)
	sp.SetFlags(0x101)
	sp.SetStartTimestamp(pcommon.Timestamp(ts))
	sp.SetEndTimestamp(pcommon.Timestamp(ts + int64(r.ExpFloat64()*20e6)))
	t := in.templates[r.Intn(len(in.templates))]
	user := w.userIDs[w.users.Uint64()]
	sp.SetName(in.routes[r.Intn(len(in.routes))])
	sp.SetKind(ptrace.SpanKind(1 + r.Intn(5)))
	w.attributes(sp.Attributes(), t, in.service, user)
	if r.Intn(20) == 0 {
		sp.Status().SetCode(ptrace.StatusCodeError)
		sp.Status().SetMessage("upstream timeout after " + fmt.Sprint(r.Intn(5)) + " s")
		e := sp.Events().AppendEmpty()
		e.SetName("exception")
		e.SetTimestamp(sp.EndTimestamp())
		e.Attributes().PutStr("exception.type", "java.net.SocketTimeoutException")
		e.Attributes().PutStr("exception.message", w.body(t, in.service, user))
	}
	if r.Intn(8) == 0 {
		sp.Events().AppendEmpty().SetName("message")
		l := sp.Links().AppendEmpty()
		l.SetTraceID(tr.id)
		l.SetSpanID(tr.span)
		l.Attributes().PutInt("messaging.batch.index", int64(r.Intn(10)))
	}
}
