package otlp

// Event is a decoded Span.Event.
type Event struct {
	Time    uint64 // nanoseconds since the epoch
	Name    []byte
	Dropped uint32
}

// Parse is Log.Parse for a Span.Event message.
func (e *Event) Parse(b []byte, sink AttributeSink) (i int) {
	for i < len(b) {
		var tag, n uint64
		var m []byte
		tag, i = Uvarint(b, i)
		switch {
		case i < 0:
		case tag == 1<<3|1:
			e.Time, i = Fixed64(b, i)
		case tag == 2<<3|2:
			e.Name, i = Bytes(b, i)
		case tag == 3<<3|2:
			if m, i = Bytes(b, i); i >= 0 {
				if at := sink.Attribute(m); at < 0 {
					return at
				}
			}
		case tag == 4<<3|0:
			n, i = Uvarint(b, i)
			e.Dropped = uint32(n)
		default:
			i = Skip(b, i, tag, 1<<5-1<<1)
		}
		if i < 0 {
			return i
		}
	}
	return i
}

// Link is a decoded Span.Link.
type Link struct {
	TraceID, SpanID []byte // of their length, or nil
	State           []byte
	Flags, Dropped  uint32
}

// Parse is Log.Parse for a Span.Link message.
func (l *Link) Parse(b []byte, sink AttributeSink) (i int) {
	for i < len(b) {
		var tag, n uint64
		var m []byte
		tag, i = Uvarint(b, i)
		switch {
		case i < 0:
		case tag == 1<<3|2:
			l.TraceID, i = Bytes(b, i)
		case tag == 2<<3|2:
			l.SpanID, i = Bytes(b, i)
		case tag == 3<<3|2:
			l.State, i = Bytes(b, i)
		case tag == 4<<3|2:
			if m, i = Bytes(b, i); i >= 0 {
				if at := sink.Attribute(m); at < 0 {
					return at
				}
			}
		case tag == 5<<3|0:
			n, i = Uvarint(b, i)
			l.Dropped = uint32(n)
		case tag == 6<<3|5:
			l.Flags, i = Fixed32(b, i)
		default:
			i = Skip(b, i, tag, 1<<7-1<<1)
		}
		if i < 0 {
			return i
		}
	}
	return checkIDs(i, &l.TraceID, &l.SpanID)
}

// Exemplar is a decoded Exemplar. It has HasDouble, HasInt, or nothing.
type Exemplar struct {
	Time            uint64 // nanoseconds since the epoch
	Has             uint8
	Number          uint64 // the bits of the value
	TraceID, SpanID []byte // of their length, or nil
}

// Parse is Log.Parse for an Exemplar message.
func (e *Exemplar) Parse(b []byte, sink AttributeSink) (i int) {
	for i < len(b) {
		var tag uint64
		var m []byte
		tag, i = Uvarint(b, i)
		switch {
		case i < 0:
		case tag == 2<<3|1:
			e.Time, i = Fixed64(b, i)
		case tag == 3<<3|1:
			e.Has = HasDouble
			e.Number, i = Fixed64(b, i)
		case tag == 4<<3|2:
			e.SpanID, i = Bytes(b, i)
		case tag == 5<<3|2:
			e.TraceID, i = Bytes(b, i)
		case tag == 6<<3|1:
			e.Has = HasInt
			e.Number, i = Fixed64(b, i)
		case tag == 7<<3|2:
			if m, i = Bytes(b, i); i >= 0 {
				if at := sink.Attribute(m); at < 0 {
					return at
				}
			}
		default:
			i = Skip(b, i, tag, 1<<8-1<<2)
		}
		if i < 0 {
			return i
		}
	}
	return checkIDs(i, &e.TraceID, &e.SpanID)
}

// Quantile is a decoded SummaryDataPoint.ValueAtQuantile; the bits of its
// doubles.
type Quantile struct{ Quantile, Value uint64 }

// Parse is Log.Parse for a ValueAtQuantile message.
func (q *Quantile) Parse(b []byte) (i int) {
	for i < len(b) {
		var tag uint64
		tag, i = Uvarint(b, i)
		switch {
		case i < 0:
		case tag == 1<<3|1:
			q.Quantile, i = Fixed64(b, i)
		case tag == 2<<3|1:
			q.Value, i = Fixed64(b, i)
		default:
			i = Skip(b, i, tag, 1<<1|1<<2)
		}
		if i < 0 {
			return i
		}
	}
	return i
}
