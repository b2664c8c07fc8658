package encode

import "github.com/s3window/s3window/internal/encode/otlp"

// put adds the row of a span whose attributes, events and links are in their
// columns already.
func (x *traces) put(s *stager, sp *span, received int64, size int) int {
	if !validID(&sp.traceID, 16) || !validID(&sp.spanID, 8) || !validID(&sp.parentID, 8) {
		return otlp.BadID
	}
	status, at := otlp.ParseStatus(sp.status)
	if at < 0 {
		return at
	}
	ts, duration := received, int64(0)
	switch {
	case sp.start != 0:
		ts = int64(sp.start / 1000)
	case sp.end != 0:
		ts = int64(sp.end / 1000)
	}
	if sp.start != 0 && sp.end != 0 {
		duration = int64(sp.end - sp.start)
	}
	s.minTime, s.maxTime = min(s.minTime, ts), max(s.maxTime, ts)
	x.ts.Add(ts)
	x.start.Add(int64(sp.start))
	x.end.Add(int64(sp.end))
	x.duration.Add(duration)
	x.received.Add(received)
	x.traceID.Add(sp.traceID)
	x.spanID.Add(sp.spanID)
	x.parentID.Add(sp.parentID)
	x.state.Add(sp.state)
	x.flags.Add(int64(sp.flags))
	x.name.Add(sp.name)
	x.text = x.kinds.Append(x.text[:0], sp.kind)
	x.kind.Add(x.text)
	x.text = x.codes.Append(x.text[:0], status.Code)
	x.status.Add(x.text)
	x.message.Add(status.Message)
	x.attributes.endRow()
	x.dropped.Add(int64(sp.dropped))
	x.events.list.EndRow()
	x.droppedEvents.Add(int64(sp.droppedEvents))
	x.links.list.EndRow()
	x.droppedLinks.Add(int64(sp.droppedLinks))
	x.table.EndRow(size)
	return 0
}
