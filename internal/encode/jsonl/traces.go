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

// span is the fields of a Span but for its attributes, events and links.
type span struct {
	start, end                           uint64
	kind                                 int32
	flags                                uint32
	dropped, droppedEvents, droppedLinks uint32
	traceID, spanID, parentID            []byte
	state, name, status                  []byte
}

const knownSpanFields = 1<<17 - 1<<1

// span adds the line of a Span message.
func (x *traces) span(out *lines, b []byte) error {
	if err := x.enter(out); err != nil {
		return err
	}
	x.attributes.begin()
	x.events.begin()
	x.links.begin()
	var sp span
	for i := 0; i < len(b); {
		tag := uint64(b[i])
		if i++; tag >= 0x80 {
			if tag, i = otlp.Uvarint(b, i-1); i < 0 {
				return otlp.Fault(i)
			}
		}
		switch tag {
		case 9<<3 | 2:
			i = x.attributes.collect(b, i)
		case 11<<3 | 2:
			i = x.events.collect(b, i)
		case 13<<3 | 2:
			i = x.links.collect(b, i)
		default:
			i = sp.field(tag, b, i)
		}
		if i < 0 {
			return otlp.Fault(i)
		}
	}
	return otlp.Fault(x.line(out, &sp))
}

// field decodes a field that is not collected.
func (sp *span) field(tag uint64, b []byte, i int) int {
	var n uint64
	switch tag {
	case 1<<3 | 2:
		sp.traceID, i = otlp.Bytes(b, i)
	case 2<<3 | 2:
		sp.spanID, i = otlp.Bytes(b, i)
	case 3<<3 | 2:
		sp.state, i = otlp.Bytes(b, i)
	case 4<<3 | 2:
		sp.parentID, i = otlp.Bytes(b, i)
	case 5<<3 | 2:
		sp.name, i = otlp.Bytes(b, i)
	case 6<<3 | 0:
		n, i = otlp.Uvarint(b, i)
		sp.kind = int32(n)
	case 7<<3 | 1:
		sp.start, i = otlp.Fixed64(b, i)
	case 8<<3 | 1:
		sp.end, i = otlp.Fixed64(b, i)
	case 10<<3 | 0:
		n, i = otlp.Uvarint(b, i)
		sp.dropped = uint32(n)
	case 12<<3 | 0:
		n, i = otlp.Uvarint(b, i)
		sp.droppedEvents = uint32(n)
	case 14<<3 | 0:
		n, i = otlp.Uvarint(b, i)
		sp.droppedLinks = uint32(n)
	case 15<<3 | 2:
		var m []byte
		m, i = otlp.Bytes(b, i)
		sp.status = otlp.Merge(sp.status, m)
	case 16<<3 | 5:
		sp.flags, i = otlp.Fixed32(b, i)
	default:
		i = otlp.Skip(b, i, tag, knownSpanFields)
	}
	return i
}

// line appends the span's line to out.
func (x *traces) line(out *lines, sp *span) int {
	status, at := otlp.ParseStatus(sp.status)
	if at < 0 {
		return at
	}
	ids := [...]struct {
		name string
		id   []byte
		n    int
	}{
		{`,"trace_id":"`, sp.traceID, 16}, {`","span_id":"`, sp.spanID, 8}, {`","parent_span_id":"`, sp.parentID, 8},
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
	b = otlp.AppendQuoted(append(b, `","trace_state":`...), sp.state)
	b = strconv.AppendUint(append(b, `,"flags":`...), uint64(sp.flags), 10)
	b = otlp.AppendQuoted(append(b, `,"name":`...), sp.name)
	b = x.kinds.Append(append(b, `,"kind":"`...), sp.kind)
	b = append(append(b, `","service_name":`...), x.service...)
	b = x.codes.Append(append(b, `,"status_code":"`...), status.Code)
	b = otlp.AppendQuoted(append(b, `","status_message":`...), status.Message)
	if b, at = x.attributes.append(b); at < 0 {
		return at
	}
	b = strconv.AppendUint(append(b, `,"dropped_attributes_count":`...), uint64(sp.dropped), 10)
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
func (x *traces) lists(out *lines, b []byte, sp *span) ([]byte, int) {
	b, at := x.events.append(append(b, `,"events":[`...), out, appendEvent)
	if at < 0 {
		return b, at
	}
	b = strconv.AppendUint(append(b, `],"dropped_events_count":`...), uint64(sp.droppedEvents), 10)
	if b, at = x.links.append(append(b, `,"links":[`...), out, appendLink); at < 0 {
		return b, at
	}
	return strconv.AppendUint(append(b, `],"dropped_links_count":`...), uint64(sp.droppedLinks), 10), 0
}

// times appends the fields of the span's times, and returns its ts.
func (x *traces) times(out *lines, sp *span) (b []byte, ts int64) {
	nanos, duration := sp.start, int64(0)
	switch {
	case nanos == 0:
		nanos = sp.end
	case sp.end != 0:
		duration = int64(sp.end - sp.start)
	}
	b, ts = out.begin(nanos)
	b = out.stamp.appendNanos(append(b, `,"start_time_unix_nano":`...), sp.start)
	b = out.stamp.appendNanos(append(b, `,"end_time_unix_nano":`...), sp.end)
	b = strconv.AppendInt(append(b, `,"duration_nano":`...), duration, 10)
	return append(append(b, `,"received_at":`...), out.receivedText...), ts
}
