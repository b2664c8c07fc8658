package encode

import (
	"github.com/s3window/s3window/internal/encode/otlp"
	"github.com/s3window/s3window/internal/encode/parquet"
)

// spanEvents is the column of the events of spans.
type spanEvents struct {
	list       *parquet.List
	time       *parquet.ListInt64
	name       *parquet.ListLabel
	attributes elementAttributes
	dropped    *parquet.ListNumber
}

func newSpanEvents(t *parquet.Table) (e spanEvents) {
	e.list = t.List("events")
	e.time = e.list.Int64("time_unix_nano")
	e.name = e.list.Label("name")
	e.attributes = newElementAttributes(e.list)
	e.dropped = e.list.Count("dropped_attributes_count")
	return e
}

const knownEventFields = 1<<1 | 1<<2 | 1<<3 | 1<<4

// put adds a Span.Event message to the list of the row under construction.
func (e *spanEvents) put(b []byte) int {
	var time, dropped uint64
	var name, kv []byte
	for i := 0; i < len(b); {
		var tag uint64
		tag, i = otlp.Uvarint(b, i)
		switch {
		case i < 0:
		case tag == 1<<3|1:
			time, i = otlp.Fixed64(b, i)
		case tag == 2<<3|2:
			name, i = otlp.Bytes(b, i)
		case tag == 3<<3|2:
			if kv, i = otlp.Bytes(b, i); i >= 0 {
				if at := e.attributes.put(kv); at < 0 {
					return at
				}
			}
		case tag == 4<<3|0:
			dropped, i = otlp.Uvarint(b, i)
		default:
			i = otlp.Skip(b, i, tag, knownEventFields)
		}
		if i < 0 {
			return i
		}
	}
	e.time.Add(int64(time))
	e.name.Add(name)
	e.attributes.end()
	e.dropped.Add(int64(uint32(dropped)))
	e.list.End()
	return 0
}

// spanLinks is the column of the links of spans.
type spanLinks struct {
	list            *parquet.List
	traceID, spanID *parquet.ListID
	state           *parquet.ListLabel
	flags           *parquet.ListNumber
	attributes      elementAttributes
	dropped         *parquet.ListNumber
}

func newSpanLinks(t *parquet.Table) (l spanLinks) {
	l.list = t.List("links")
	l.traceID = l.list.ID("trace_id")
	l.spanID = l.list.ID("span_id")
	l.state = l.list.Label("trace_state")
	l.flags = l.list.Count("flags")
	l.attributes = newElementAttributes(l.list)
	l.dropped = l.list.Count("dropped_attributes_count")
	return l
}

const knownLinkFields = 1<<1 | 1<<2 | 1<<3 | 1<<4 | 1<<5 | 1<<6

// put adds a Span.Link message to the list of the row under construction.
func (l *spanLinks) put(b []byte) int {
	var traceID, spanID, state, kv []byte
	var dropped uint64
	var flags uint32
	for i := 0; i < len(b); {
		var tag uint64
		tag, i = otlp.Uvarint(b, i)
		switch {
		case i < 0:
		case tag == 1<<3|2:
			traceID, i = otlp.Bytes(b, i)
		case tag == 2<<3|2:
			spanID, i = otlp.Bytes(b, i)
		case tag == 3<<3|2:
			state, i = otlp.Bytes(b, i)
		case tag == 4<<3|2:
			if kv, i = otlp.Bytes(b, i); i >= 0 {
				if at := l.attributes.put(kv); at < 0 {
					return at
				}
			}
		case tag == 5<<3|0:
			dropped, i = otlp.Uvarint(b, i)
		case tag == 6<<3|5:
			flags, i = otlp.Fixed32(b, i)
		default:
			i = otlp.Skip(b, i, tag, knownLinkFields)
		}
		if i < 0 {
			return i
		}
	}
	if !validID(&traceID, 16) || !validID(&spanID, 8) {
		return otlp.BadID
	}
	l.traceID.Add(traceID)
	l.spanID.Add(spanID)
	l.state.Add(state)
	l.flags.Add(int64(flags))
	l.attributes.end()
	l.dropped.Add(int64(uint32(dropped)))
	l.list.End()
	return 0
}
