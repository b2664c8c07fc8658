package jsonl

import (
	"strconv"
	"unicode/utf8"

	"github.com/s3window/s3window/internal/encode/otlp"
)

// traces makes the lines of spans.
type traces struct {
	runs
	events, links list
	kinds, codes  otlp.Enum
}

func newTraces(columns []Column) *traces {
	x := &traces{
		runs: newRuns(columns), events: newList(), links: newList(), kinds: otlp.SpanKinds(), codes: otlp.StatusCodes(),
	}
	x.item = x.span
	return x
}

func (x *traces) held() int { return x.runs.held() + x.events.held() + x.links.held() }

// group implements rows.
func (x *traces) group(out *lines, g *otlp.Group) error {
	defer x.events.release()
	defer x.links.release()
	return x.runs.group(out, g)
}

// span adds the line of a Span message.
func (x *traces) span(out *lines, b []byte) error {
	if err := x.enter(out); err != nil {
		return err
	}
	x.attributes.begin()
	x.events.begin()
	x.links.begin()
	var sp otlp.Span
	for i := 0; i < len(b); {
		tag := uint64(b[i])
		if i++; tag >= 0x80 {
			if tag, i = otlp.Uvarint(b, i-1); i < 0 {
				return otlp.Fault(i)
			}
		}
		switch tag {
		case otlp.SpanAttributes<<3 | 2:
			i = x.attributes.collect(b, i)
		case otlp.SpanEvents<<3 | 2:
			i = x.events.collect(b, i)
		case otlp.SpanLinks<<3 | 2:
			i = x.links.collect(b, i)
		default:
			i = sp.Field(tag, b, i)
		}
		if i < 0 {
			return otlp.Fault(i)
		}
	}
	return otlp.Fault(x.line(out, &sp))
}

// line appends the span's line to out.
func (x *traces) line(out *lines, sp *otlp.Span) int {
	status, at := otlp.ParseStatus(sp.Status)
	if at < 0 {
		return at
	}
	ids := [...]struct {
		name string
		id   []byte
		n    int
	}{
		{`,"trace_id":"`, sp.TraceID, 16}, {`","span_id":"`, sp.SpanID, 8}, {`","parent_span_id":"`, sp.ParentID, 8},
	}
	b, ts := x.times(out, sp)
	for i := range ids {
		id, ok := otlp.ID(ids[i].id, ids[i].n)
		if !ok {
			return otlp.BadID
		}
		b = appendHex(append(b, ids[i].name...), id)
	}
	from := len(b)
	b = otlp.AppendQuoted(append(b, `","trace_state":`...), sp.State)
	b = strconv.AppendUint(append(b, `,"flags":`...), uint64(sp.Flags), 10)
	b = otlp.AppendQuoted(append(b, `,"name":`...), sp.Name)
	b = x.kinds.Append(append(b, `,"kind":"`...), sp.Kind)
	b = append(append(b, `","service_name":`...), x.service...)
	b = x.codes.Append(append(b, `,"status_code":"`...), status.Code)
	b = otlp.AppendQuoted(append(b, `","status_message":`...), status.Message)
	if b, at = x.attributes.append(b); at < 0 {
		return at
	}
	b = strconv.AppendUint(append(b, `,"dropped_attributes_count":`...), uint64(sp.Dropped), 10)
	if b, at = x.lists(out, b, sp); at < 0 {
		return at
	}
	if out.buf = b; !utf8.Valid(b[from:]) {
		out.mend(from)
	}
	x.rest(out, ts)
	return 0
}

// lists appends the events and links.
func (x *traces) lists(out *lines, b []byte, sp *otlp.Span) ([]byte, int) {
	b, at := x.events.append(append(b, `,"events":[`...), out, appendEvent)
	if at < 0 {
		return b, at
	}
	b = strconv.AppendUint(append(b, `],"dropped_events_count":`...), uint64(sp.DroppedEvents), 10)
	if b, at = x.links.append(append(b, `,"links":[`...), out, appendLink); at < 0 {
		return b, at
	}
	return strconv.AppendUint(append(b, `],"dropped_links_count":`...), uint64(sp.DroppedLinks), 10), 0
}

// times appends the fields of the span's times, and returns its ts.
func (x *traces) times(out *lines, sp *otlp.Span) (b []byte, ts int64) {
	nanos, duration := sp.Start, int64(0)
	switch {
	case nanos == 0:
		nanos = sp.End
	case sp.End != 0:
		duration = int64(sp.End - sp.Start)
	}
	b, ts = out.begin(nanos)
	b = out.stamp.appendNanos(append(b, `,"start_time_unix_nano":`...), sp.Start)
	b = out.stamp.appendNanos(append(b, `,"end_time_unix_nano":`...), sp.End)
	b = strconv.AppendInt(append(b, `,"duration_nano":`...), duration, 10)
	return append(append(b, `,"received_at":`...), out.receivedText...), ts
}
