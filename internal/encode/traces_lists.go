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

func newSpanEvents(t *parquet.Table) *spanEvents {
	e := &spanEvents{}
	e.list = t.List("events")
	e.time = e.list.Int64("time_unix_nano")
	e.name = e.list.Label("name")
	e.attributes = newElementAttributes(e.list)
	e.dropped = e.list.Count("dropped_attributes_count")
	return e
}

// put adds a Span.Event message to the list of the row under construction.
func (e *spanEvents) put(message []byte) int {
	var x otlp.Event
	if at := x.Parse(message, &e.attributes); at < 0 {
		return at
	}
	e.time.Add(int64(x.Time))
	e.name.Add(x.Name)
	e.attributes.end()
	e.dropped.Add(int64(x.Dropped))
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

func newSpanLinks(t *parquet.Table) *spanLinks {
	l := &spanLinks{}
	l.list = t.List("links")
	l.traceID = l.list.ID("trace_id")
	l.spanID = l.list.ID("span_id")
	l.state = l.list.Label("trace_state")
	l.flags = l.list.Count("flags")
	l.attributes = newElementAttributes(l.list)
	l.dropped = l.list.Count("dropped_attributes_count")
	return l
}

// put adds a Span.Link message to the list of the row under construction.
func (l *spanLinks) put(message []byte) int {
	var x otlp.Link
	if at := x.Parse(message, &l.attributes); at < 0 {
		return at
	}
	l.traceID.Add(x.TraceID)
	l.spanID.Add(x.SpanID)
	l.state.Add(x.State)
	l.flags.Add(int64(x.Flags))
	l.attributes.end()
	l.dropped.Add(int64(x.Dropped))
	l.list.End()
	return 0
}
