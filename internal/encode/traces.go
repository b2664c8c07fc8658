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
	events                                      *spanEvents
	links                                       *spanLinks

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
	x.item = x.put
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

// put adds the row of a Span message.
func (x *traces) put(s *stager, b []byte, received int64) error {
	if x.full() {
		if err := x.cut(s); err != nil {
			return err
		}
	}
	var r otlp.Span
	if at := r.Parse(b, x); at < 0 {
		return otlp.Fault(at)
	}
	x.ts.Add(s.time(r.Nanos(), received))
	x.start.Add(int64(r.Start))
	x.end.Add(int64(r.End))
	x.duration.Add(r.Duration())
	x.received.Add(received)
	x.traceID.Add(r.TraceID)
	x.spanID.Add(r.SpanID)
	x.parentID.Add(r.ParentID)
	x.state.Add(r.State)
	x.flags.Add(int64(r.Flags))
	x.name.Add(r.Name)
	x.text = x.kinds.Append(x.text[:0], r.Kind)
	x.kind.Add(x.text)
	x.text = x.codes.Append(x.text[:0], r.StatusCode)
	x.status.Add(x.text)
	x.message.Add(r.StatusMessage)
	x.attributes.endRow()
	x.dropped.Add(int64(r.Dropped))
	x.events.list.EndRow()
	x.droppedEvents.Add(int64(r.DroppedEvents))
	x.links.list.EndRow()
	x.droppedLinks.Add(int64(r.DroppedLinks))
	x.table.EndRow(len(b))
	return nil
}

// These implement otlp.SpanSink.
func (x *traces) Attribute(kv []byte) int  { return x.attributes.Attribute(kv) }
func (x *traces) Event(message []byte) int { return x.events.put(message) }
func (x *traces) Link(message []byte) int  { return x.links.put(message) }
