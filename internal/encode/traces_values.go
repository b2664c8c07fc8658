package encode

import "github.com/s3window/s3window/internal/encode/otlp"

// put adds the row of a span whose attributes, events and links are in their
// columns already.
func (x *traces) put(s *stager, sp *otlp.Span, received int64, size int) int {
	if !validID(&sp.TraceID, 16) || !validID(&sp.SpanID, 8) || !validID(&sp.ParentID, 8) {
		return otlp.BadID
	}
	status, at := otlp.ParseStatus(sp.Status)
	if at < 0 {
		return at
	}
	ts, duration := received, int64(0)
	switch {
	case sp.Start != 0:
		ts = int64(sp.Start / 1000)
	case sp.End != 0:
		ts = int64(sp.End / 1000)
	}
	if sp.Start != 0 && sp.End != 0 {
		duration = int64(sp.End - sp.Start)
	}
	s.minTime, s.maxTime = min(s.minTime, ts), max(s.maxTime, ts)
	x.ts.Add(ts)
	x.start.Add(int64(sp.Start))
	x.end.Add(int64(sp.End))
	x.duration.Add(duration)
	x.received.Add(received)
	x.traceID.Add(sp.TraceID)
	x.spanID.Add(sp.SpanID)
	x.parentID.Add(sp.ParentID)
	x.state.Add(sp.State)
	x.flags.Add(int64(sp.Flags))
	x.name.Add(sp.Name)
	x.text = x.kinds.Append(x.text[:0], sp.Kind)
	x.kind.Add(x.text)
	x.text = x.codes.Append(x.text[:0], status.Code)
	x.status.Add(x.text)
	x.message.Add(status.Message)
	x.attributes.endRow()
	x.dropped.Add(int64(sp.Dropped))
	x.events.list.EndRow()
	x.droppedEvents.Add(int64(sp.DroppedEvents))
	x.links.list.EndRow()
	x.droppedLinks.Add(int64(sp.DroppedLinks))
	x.table.EndRow(size)
	return 0
}
