package decode

import (
	"slices"

	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/s3window/s3window/internal/encode/otlp"
	"github.com/s3window/s3window/internal/partition"
)

// The fields of a span.
const (
	spanStart = ownFields + iota
	spanEnd
	spanTraceID
	spanSpanID
	spanParentID
	spanState
	spanFlags
	spanName
	spanKind
	spanStatus
	spanMessage
	spanAttributes
	spanDropped
	spanEvents
	spanDroppedEvents
	spanLinks
	spanDroppedLinks
)

// The fields of an event.
const (
	eventTime = iota
	eventName
	eventAttributes
	eventDropped
)

// The fields of a link.
const (
	linkTraceID = iota
	linkSpanID
	linkState
	linkFlags
	linkAttributes
	linkDropped
)

// traces makes requests of spans.
type traces struct {
	one, all     ptrace.Traces
	sizer        ptrace.ProtoMarshaler
	kinds, codes otlp.Enum
}

func (x *traces) schema() schema {
	kvs := slices.Concat(fields(asObject, "attributes"), fields(asNumber, "dropped_attributes_count"))
	events := slices.Concat(fields(asNumber, "time_unix_nano"), fields(asText, "name"), kvs)
	links := slices.Concat(fields(asText, "trace_id", "span_id", "trace_state"), fields(asNumber, "flags"), kvs)
	return schema{
		signal: partition.Traces, attributes: spanAttributes, derived: []string{"ts", "received_at", "service_name", "duration_nano"},
		fields: withOwn(
			fields(asNumber, "start_time_unix_nano", "end_time_unix_nano"),
			fields(asText, "trace_id", "span_id", "parent_span_id", "trace_state"), fields(asNumber, "flags"),
			fields(asText, "name", "kind", "status_code", "status_message"), kvs,
			[]field{{"events", asStructs, events}}, fields(asNumber, "dropped_events_count"),
			[]field{{"links", asStructs, links}}, fields(asNumber, "dropped_links_count")),
	}
}

func (x *traces) heads() [][]int { return heads() }

func (x *traces) begin() {
	x.one = ptrace.NewTraces()
	x.one.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty()
}

func (x *traces) size() int { return x.sizer.TracesSize(x.one) }

func (x *traces) head(r row, level int) {
	rs := x.one.ResourceSpans().At(0)
	if level == 0 {
		rs.SetSchemaUrl(r.text(resourceSchema))
		readResource(r, rs.Resource())
		return
	}
	ss := rs.ScopeSpans().At(0)
	ss.SetSchemaUrl(r.text(scopeSchema))
	readScope(r, ss.Scope())
}

func (x *traces) item(r row) {
	sp := x.one.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0)
	sp.SetStartTimestamp(readTime(r, spanStart))
	sp.SetEndTimestamp(readTime(r, spanEnd))
	sp.SetTraceID(readTraceID(r, spanTraceID))
	sp.SetSpanID(readSpanID(r, spanSpanID))
	sp.SetParentSpanID(readSpanID(r, spanParentID))
	sp.TraceState().FromRaw(r.text(spanState))
	sp.SetFlags(uint32(r.number(spanFlags)))
	sp.SetName(r.text(spanName))
	sp.SetKind(ptrace.SpanKind(readEnum(r, spanKind, x.kinds)))
	sp.Status().SetCode(ptrace.StatusCode(readEnum(r, spanStatus, x.codes)))
	sp.Status().SetMessage(r.text(spanMessage))
	r.attributes(spanAttributes, sp.Attributes())
	sp.SetDroppedAttributesCount(uint32(r.number(spanDropped)))
	sp.SetDroppedEventsCount(uint32(r.number(spanDroppedEvents)))
	sp.SetDroppedLinksCount(uint32(r.number(spanDroppedLinks)))
	r.each(spanEvents, func(r row) {
		e := sp.Events().AppendEmpty()
		e.SetTimestamp(readTime(r, eventTime))
		e.SetName(r.text(eventName))
		r.attributes(eventAttributes, e.Attributes())
		e.SetDroppedAttributesCount(uint32(r.number(eventDropped)))
	})
	r.each(spanLinks, func(r row) {
		l := sp.Links().AppendEmpty()
		l.SetTraceID(readTraceID(r, linkTraceID))
		l.SetSpanID(readSpanID(r, linkSpanID))
		l.TraceState().FromRaw(r.text(linkState))
		l.SetFlags(uint32(r.number(linkFlags)))
		r.attributes(linkAttributes, l.Attributes())
		l.SetDroppedAttributesCount(uint32(r.number(linkDropped)))
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
