package decode

import (
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/s3window/s3window/internal/encode/otlp"
	"github.com/s3window/s3window/internal/partition"
)

// traces makes requests of spans.
type traces struct {
	one, all     ptrace.Traces
	sizer        ptrace.ProtoMarshaler
	kinds, codes otlp.Enum
}

func (x *traces) layout() layout { return newLayout(partition.Traces, spanFields(), spanAttributes) }

func (x *traces) heads() [][]int { return heads() }

func (x *traces) begin() {
	x.one = ptrace.NewTraces()
	x.one.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty()
}

func (x *traces) size() int { return x.sizer.TracesSize(x.one) }

func (x *traces) head(r row, level int) {
	rs := x.one.ResourceSpans().At(0)
	if level == 0 {
		rs.SetSchemaUrl(r.text(resourceSchemaURL))
		readResource(r, rs.Resource())
		return
	}
	ss := rs.ScopeSpans().At(0)
	ss.SetSchemaUrl(r.text(scopeSchemaURL))
	readScope(r, ss.Scope())
}

func (x *traces) item(r row) {
	sp := x.one.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0)
	sp.SetStartTimestamp(readTime(r, spanStartTimeUnixNano))
	sp.SetEndTimestamp(readTime(r, spanEndTimeUnixNano))
	sp.SetTraceID(readTraceID(r, spanTraceID))
	sp.SetSpanID(readSpanID(r, spanSpanID))
	sp.SetParentSpanID(readSpanID(r, spanParentSpanID))
	sp.TraceState().FromRaw(r.text(spanTraceState))
	sp.SetFlags(uint32(r.number(spanFlags)))
	sp.SetName(r.text(spanName))
	sp.SetKind(ptrace.SpanKind(readEnum(r, spanKind, x.kinds)))
	sp.Status().SetCode(ptrace.StatusCode(readEnum(r, spanStatusCode, x.codes)))
	sp.Status().SetMessage(r.text(spanStatusMessage))
	r.attributes(spanAttributes, sp.Attributes())
	sp.SetDroppedAttributesCount(uint32(r.number(spanDroppedAttributesCount)))
	sp.SetDroppedEventsCount(uint32(r.number(spanDroppedEventsCount)))
	sp.SetDroppedLinksCount(uint32(r.number(spanDroppedLinksCount)))
	r.each(spanEvents, func(r row) {
		e := sp.Events().AppendEmpty()
		e.SetTimestamp(readTime(r, eventTimeUnixNano))
		e.SetName(r.text(eventName))
		r.attributes(eventAttributes, e.Attributes())
		e.SetDroppedAttributesCount(uint32(r.number(eventDroppedAttributesCount)))
	})
	r.each(spanLinks, func(r row) {
		l := sp.Links().AppendEmpty()
		l.SetTraceID(readTraceID(r, linkTraceID))
		l.SetSpanID(readSpanID(r, linkSpanID))
		l.TraceState().FromRaw(r.text(linkTraceState))
		l.SetFlags(uint32(r.number(linkFlags)))
		r.attributes(linkAttributes, l.Attributes())
		l.SetDroppedAttributesCount(uint32(r.number(linkDroppedAttributesCount)))
	})
}

func (x *traces) put(level int) {
	from, to := x.one.ResourceSpans(), x.all.ResourceSpans()
	if level == 0 {
		from.MoveAndAppendTo(to)
		return
	}
	scopes, into := from.At(0).ScopeSpans(), to.At(to.Len()-1).ScopeSpans()
	if level == 1 {
		scopes.MoveAndAppendTo(into)
		return
	}
	scopes.At(0).Spans().MoveAndAppendTo(into.At(into.Len() - 1).Spans())
}

func (x *traces) take() ptrace.Traces {
	out := x.all
	x.all = ptrace.NewTraces()
	return out
}
