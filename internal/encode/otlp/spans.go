package otlp

// Span is a decoded Span message.
type Span struct {
	Start, End                           uint64 // nanoseconds since the epoch
	Kind                                 int32
	Flags                                uint32
	Dropped, DroppedEvents, DroppedLinks uint32
	TraceID, SpanID, ParentID            []byte // of their length, or nil
	State, Name                          []byte
	StatusCode                           int32
	StatusMessage                        []byte
}

// SpanSink is AttributeSink for what a Span message has several of.
type SpanSink interface {
	AttributeSink
	Event(message []byte) int
	Link(message []byte) int
}

const knownSpanFields = 1<<17 - 1<<1

// Parse is Log.Parse for a Span message.
func (s *Span) Parse(b []byte, sink SpanSink) (i int) {
	var status []byte
	for i < len(b) {
		tag := uint64(b[i])
		if i++; tag >= 0x80 {
			if tag, i = Uvarint(b, i-1); i < 0 {
				return i
			}
		}
		var n uint64
		var m []byte
		switch tag {
		case 1<<3 | 2:
			s.TraceID, i = Bytes(b, i)
		case 2<<3 | 2:
			s.SpanID, i = Bytes(b, i)
		case 3<<3 | 2:
			s.State, i = Bytes(b, i)
		case 4<<3 | 2:
			s.ParentID, i = Bytes(b, i)
		case 5<<3 | 2:
			s.Name, i = Bytes(b, i)
		case 6<<3 | 0:
			n, i = Uvarint(b, i)
			s.Kind = int32(n)
		case 7<<3 | 1:
			s.Start, i = Fixed64(b, i)
		case 8<<3 | 1:
			s.End, i = Fixed64(b, i)
		case 9<<3 | 2:
			if m, i = Bytes(b, i); i < 0 {
				return i
			}
			if at := sink.Attribute(m); at < 0 {
				return at
			}
		case 10<<3 | 0:
			n, i = Uvarint(b, i)
			s.Dropped = uint32(n)
		case 11<<3 | 2:
			if m, i = Bytes(b, i); i < 0 {
				return i
			}
			if at := sink.Event(m); at < 0 {
				return at
			}
		case 12<<3 | 0:
			n, i = Uvarint(b, i)
			s.DroppedEvents = uint32(n)
		case 13<<3 | 2:
			if m, i = Bytes(b, i); i < 0 {
				return i
			}
			if at := sink.Link(m); at < 0 {
				return at
			}
		case 14<<3 | 0:
			n, i = Uvarint(b, i)
			s.DroppedLinks = uint32(n)
		case 15<<3 | 2:
			m, i = Bytes(b, i)
			status = Merge(status, m)
		case 16<<3 | 5:
			s.Flags, i = Fixed32(b, i)
		default:
			i = Skip(b, i, tag, knownSpanFields)
		}
		if i < 0 {
			return i
		}
	}
	if at := s.parseStatus(status); at < 0 {
		return at
	}
	if !checkID(&s.ParentID, 8) {
		return BadID
	}
	return checkIDs(i, &s.TraceID, &s.SpanID)
}

// parseStatus decodes the Status message.
func (s *Span) parseStatus(b []byte) (i int) {
	for i < len(b) {
		var tag, n uint64
		tag, i = Uvarint(b, i)
		switch {
		case i < 0:
		case tag == 2<<3|2:
			s.StatusMessage, i = Bytes(b, i)
		case tag == 3<<3|0:
			n, i = Uvarint(b, i)
			s.StatusCode = int32(n)
		default:
			i = Skip(b, i, tag, 1<<2|1<<3)
		}
		if i < 0 {
			return i
		}
	}
	return i
}

// Nanos returns the time of the span: its start, or else its end; 0 is none.
func (s *Span) Nanos() uint64 {
	if s.Start != 0 {
		return s.Start
	}
	return s.End
}

// Duration returns the span's nanoseconds; 0 unless both its times are known.
func (s *Span) Duration() int64 {
	if s.Start == 0 || s.End == 0 {
		return 0
	}
	return int64(s.End - s.Start)
}
