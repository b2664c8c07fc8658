package otlp

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
