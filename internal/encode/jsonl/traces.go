package jsonl

import (
	"strconv"
	"unicode/utf8"

	"github.com/s3window/s3window/internal/encode/otlp"
)

// traces makes the lines of spans.
type traces struct {
	runs
	events, links   otlp.Messages // of the next line
	ofEvent, ofLink attributes
	kinds, codes    otlp.Enum
}

func newTraces(columns []Column) *traces {
	x := &traces{
		runs: newRuns(columns), ofEvent: newAttributes(nil), ofLink: newAttributes(nil), kinds: otlp.SpanKinds(), codes: otlp.StatusCodes(),
	}
	x.item = x.line
	return x
}

func (x *traces) held() int {
	return x.runs.held() + x.events.Held() + x.links.Held() + x.ofEvent.held() + x.ofLink.held()
}

// group implements rows.
func (x *traces) group(out *lines, g *otlp.Group) error {
	defer x.release()
	return x.runs.group(out, g)
}

func (x *traces) release() {
	for _, m := range []*otlp.Messages{&x.events, &x.links, &x.ofEvent.sent, &x.ofLink.sent} {
		m.Release()
	}
}

// line adds the line of a Span message.
func (x *traces) line(out *lines, message []byte) error {
	if err := x.enter(out); err != nil {
		return err
	}
	x.attributes.begin()
	x.events, x.links = x.events[:0], x.links[:0]
	var r otlp.Span
	if at := r.Parse(message, x); at < 0 {
		return otlp.Fault(at)
	}
	b, ts := out.begin(r.Nanos())
	b = out.stamp.appendNanos(append(b, `,"start_time_unix_nano":`...), r.Start)
	b = out.stamp.appendNanos(append(b, `,"end_time_unix_nano":`...), r.End)
	b = strconv.AppendInt(append(b, `,"duration_nano":`...), r.Duration(), 10)
	b = append(append(b, `,"received_at":`...), out.receivedText...)
	b = appendHex(append(b, `,"trace_id":"`...), r.TraceID)
	b = appendHex(append(b, `","span_id":"`...), r.SpanID)
	b = appendHex(append(b, `","parent_span_id":"`...), r.ParentID)
	from := len(b)
	b = otlp.AppendQuoted(append(b, `","trace_state":`...), r.State)
	b = strconv.AppendUint(append(b, `,"flags":`...), uint64(r.Flags), 10)
	b = otlp.AppendQuoted(append(b, `,"name":`...), r.Name)
	b = x.kinds.Append(append(b, `,"kind":"`...), r.Kind)
	b = append(append(b, `","service_name":`...), x.service...)
	b = x.codes.Append(append(b, `,"status_code":"`...), r.StatusCode)
	b = otlp.AppendQuoted(append(b, `","status_message":`...), r.StatusMessage)
	b, at := x.attributes.append(b)
	if at < 0 {
		return otlp.Fault(at)
	}
	b = strconv.AppendUint(append(b, `,"dropped_attributes_count":`...), uint64(r.Dropped), 10)
	if b, at = x.lists(out, b, &r); at < 0 {
		return otlp.Fault(at)
	}
	if out.buf = b; !utf8.Valid(b[from:]) {
		out.mend(from)
	}
	x.rest(out, ts)
	return nil
}

// These implement otlp.SpanSink.
func (x *traces) Attribute(kv []byte) int  { return x.attributes.Attribute(kv) }
func (x *traces) Event(message []byte) int { return x.events.Add(message) }
func (x *traces) Link(message []byte) int  { return x.links.Add(message) }

// lists appends the events and links.
func (x *traces) lists(out *lines, b []byte, r *otlp.Span) ([]byte, int) {
	b, at := appendList(append(b, `,"events":[`...), x.events, func(b, m []byte) ([]byte, int) { return x.appendEvent(b, out, m) })
	if at < 0 {
		return b, at
	}
	b = strconv.AppendUint(append(b, `],"dropped_events_count":`...), uint64(r.DroppedEvents), 10)
	if b, at = appendList(append(b, `,"links":[`...), x.links, x.appendLink); at < 0 {
		return b, at
	}
	return strconv.AppendUint(append(b, `],"dropped_links_count":`...), uint64(r.DroppedLinks), 10), 0
}

// appendList appends the elements of an array. The second result is a fault if
// one is malformed.
func appendList(b []byte, messages [][]byte, element func(b, message []byte) ([]byte, int)) ([]byte, int) {
	for i, m := range messages {
		if i > 0 {
			b = append(b, ',')
		}
		var at int
		if b, at = element(b, m); at < 0 {
			return b, at
		}
	}
	return b, 0
}

// appendEvent appends a Span.Event message.
func (x *traces) appendEvent(b []byte, out *lines, m []byte) ([]byte, int) {
	x.ofEvent.begin()
	var e otlp.Event
	if at := e.Parse(m, &x.ofEvent); at < 0 {
		return b, at
	}
	b = out.stamp.appendNanos(append(b, `{"time_unix_nano":`...), e.Time)
	b = otlp.AppendQuoted(append(b, `,"name":`...), e.Name)
	b, at := x.ofEvent.append(b)
	b = strconv.AppendUint(append(b, `,"dropped_attributes_count":`...), uint64(e.Dropped), 10)
	return append(b, '}'), at
}

// appendLink appends a Span.Link message.
func (x *traces) appendLink(b, m []byte) ([]byte, int) {
	x.ofLink.begin()
	var l otlp.Link
	if at := l.Parse(m, &x.ofLink); at < 0 {
		return b, at
	}
	b = appendHex(append(b, `{"trace_id":"`...), l.TraceID)
	b = appendHex(append(b, `","span_id":"`...), l.SpanID)
	b = otlp.AppendQuoted(append(b, `","trace_state":`...), l.State)
	b = strconv.AppendUint(append(b, `,"flags":`...), uint64(l.Flags), 10)
	b, at := x.ofLink.append(b)
	b = strconv.AppendUint(append(b, `,"dropped_attributes_count":`...), uint64(l.Dropped), 10)
	return append(b, '}'), at
}
