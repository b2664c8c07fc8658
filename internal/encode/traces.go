package encode

import (
	"github.com/s3window/s3window/internal/encode/otlp"
	"github.com/s3window/s3window/internal/encode/parquet"
)

// traces has the columns of spans, one row per span.
type traces struct {
	runs

	ts, start, end, duration, received          *parquet.Int64
	traceID, spanID, parentID                   *parquet.ID
	state, name, kind, status, message          *parquet.Label
	flags, dropped, droppedEvents, droppedLinks *parquet.Number
	attributes                                  rowAttributes
	events                                      spanEvents
	links                                       spanLinks

	kinds, codes otlp.Enum
	text         []byte
}

// traceColumns are the columns of the schema before the promoted ones, in
// order.
var traceColumns = [...]string{
	"ts", "start_time_unix_nano", "end_time_unix_nano", "duration_nano", "received_at",
	"trace_id", "span_id", "parent_span_id", "trace_state", "flags", "name", "kind", "service_name",
	"status_code", "status_message", "attributes", "attributes_types", "dropped_attributes_count",
	"events", "dropped_events_count", "links", "dropped_links_count",
	"scope_name", "scope_version", "scope_attributes", "scope_attributes_types",
	"scope_dropped_attributes_count", "scope_schema_url",
	"resource_attributes", "resource_attributes_types", "resource_dropped_attributes_count", "resource_schema_url",
}

func newTraces(t *parquet.Table, columns []Column) *traces {
	x := &traces{runs: newRuns(t), kinds: otlp.SpanKinds(), codes: otlp.StatusCodes()}
	x.item = x.span
	x.ts = t.Timestamp("ts")
	x.start = t.Int64("start_time_unix_nano", false)
	x.end = t.Int64("end_time_unix_nano", false)
	x.duration = t.Int64("duration_nano", true)
	x.received = t.Timestamp("received_at")
	x.traceID = t.ID("trace_id", true)
	x.spanID = t.ID("span_id", false)
	x.parentID = t.ID("parent_span_id", false)
	x.state = t.Label("trace_state", false)
	x.flags = t.Count("flags")
	x.name = t.Label("name", true)
	x.kind = t.Label("kind", true)
	x.resources.service = x.resources.set.Label("service_name", true)
	x.status = t.Label("status_code", true)
	x.message = t.Label("status_message", false)
	x.attributes.columns(t)
	x.dropped = t.Count("dropped_attributes_count")
	x.events = newSpanEvents(t)
	x.droppedEvents = t.Count("dropped_events_count")
	x.links = newSpanLinks(t)
	x.droppedLinks = t.Count("dropped_links_count")
	x.attributes.promoted = x.columns(columns)
	return x
}

func (x *traces) held() int {
	return x.runs.held() + x.attributes.held() + x.events.attributes.held() + x.links.attributes.held() + cap(x.text)
}

func (x *traces) reset() {
	x.runs.reset()
	x.attributes.reset()
	x.events.attributes.reset()
	x.links.attributes.reset()
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

// span adds the row of a Span message.
func (x *traces) span(s *stager, b []byte, received int64) error {
	if x.full() {
		if err := x.cut(s); err != nil {
			return err
		}
	}
	var sp span
	for i := 0; i < len(b); {
		tag := uint64(b[i])
		if i++; tag >= 0x80 {
			if tag, i = otlp.Uvarint(b, i-1); i < 0 {
				return otlp.Fault(i)
			}
		}
		switch tag {
		case 9<<3 | 2, 11<<3 | 2, 13<<3 | 2:
			i = x.nested(tag>>3, b, i)
		default:
			i = sp.field(tag, b, i)
		}
		if i < 0 {
			return otlp.Fault(i)
		}
	}
	return otlp.Fault(x.put(s, &sp, received, len(b)))
}

// nested puts an attribute, event or link, whose message stands at b[i:].
func (x *traces) nested(field uint64, b []byte, i int) int {
	m, i := otlp.Bytes(b, i)
	if i < 0 {
		return i
	}
	var at int
	switch field {
	case 9:
		at = x.attributes.put(m)
	case 11:
		at = x.events.put(m)
	default:
		at = x.links.put(m)
	}
	if at < 0 {
		return at
	}
	return i
}

// field decodes a field that is not put before the whole span is known.
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
