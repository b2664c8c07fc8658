package otlp

// Field numbers of what a Span has several of.
const (
	SpanAttributes = 9
	SpanEvents     = 11
	SpanLinks      = 13
)

// Span is the fields of a Span message but for its attributes, events and
// links. Status is the message, not yet walked.
type Span struct {
	Start, End                           uint64 // nanoseconds since the epoch
	Kind                                 int32
	Flags                                uint32
	Dropped, DroppedEvents, DroppedLinks uint32
	TraceID, SpanID, ParentID            []byte
	State, Name, Status                  []byte
}

const knownSpanFields = 1<<17 - 1<<1

// Field decodes the field whose tag stands before b[i:], other than one with
// attributes, events or links, which the caller takes itself. It returns the
// index after it, or a fault.
func (sp *Span) Field(tag uint64, b []byte, i int) int {
	var n uint64
	switch tag {
	case 1<<3 | 2:
		sp.TraceID, i = Bytes(b, i)
	case 2<<3 | 2:
		sp.SpanID, i = Bytes(b, i)
	case 3<<3 | 2:
		sp.State, i = Bytes(b, i)
	case 4<<3 | 2:
		sp.ParentID, i = Bytes(b, i)
	case 5<<3 | 2:
		sp.Name, i = Bytes(b, i)
	case 6<<3 | 0:
		n, i = Uvarint(b, i)
		sp.Kind = int32(n)
	case 7<<3 | 1:
		sp.Start, i = Fixed64(b, i)
	case 8<<3 | 1:
		sp.End, i = Fixed64(b, i)
	case 10<<3 | 0:
		n, i = Uvarint(b, i)
		sp.Dropped = uint32(n)
	case 12<<3 | 0:
		n, i = Uvarint(b, i)
		sp.DroppedEvents = uint32(n)
	case 14<<3 | 0:
		n, i = Uvarint(b, i)
		sp.DroppedLinks = uint32(n)
	case 15<<3 | 2:
		var m []byte
		m, i = Bytes(b, i)
		sp.Status = Merge(sp.Status, m)
	case 16<<3 | 5:
		sp.Flags, i = Fixed32(b, i)
	default:
		i = Skip(b, i, tag, knownSpanFields)
	}
	return i
}

// Status is a decoded Status message of a span.
type Status struct {
	Code    int32
	Message []byte
}

// ParseStatus decodes a Status message. The second result is a fault if the
// message is malformed.
func ParseStatus(b []byte) (s Status, i int) {
	for i < len(b) {
		var tag uint64
		tag, i = Uvarint(b, i)
		switch {
		case i < 0:
		case tag == 2<<3|2:
			s.Message, i = Bytes(b, i)
		case tag == 3<<3|0:
			var n uint64
			n, i = Uvarint(b, i)
			s.Code = int32(n)
		default:
			i = Skip(b, i, tag, 1<<2|1<<3)
		}
		if i < 0 {
			return s, i
		}
	}
	return s, i
}
