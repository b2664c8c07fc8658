package otlp

import "encoding/binary"

// Log is a decoded LogRecord.
type Log struct {
	Time, Observed          uint64 // nanoseconds since the epoch
	Severity                int32
	Flags, Dropped          uint32
	SeverityText, EventName []byte
	Body                    Value
	TraceID, SpanID         []byte // of their length, or nil
}

// AttributeSink takes the KeyValue messages of a message while it is decoded, in
// the order sent. What it returns is a fault if it is negative.
type AttributeSink interface {
	Attribute(kv []byte) int
}

const knownLogFields = 1<<1 | 1<<2 | 1<<3 | 1<<5 | 1<<6 | 1<<7 | 1<<8 | 1<<9 | 1<<10 | 1<<11 | 1<<12

// Parse decodes a LogRecord message into a zero Log; its attributes go to sink. It
// returns a fault if the message is malformed, or the one that sink returns. What
// the body holds is not looked into.
func (l *Log) Parse(b []byte, sink AttributeSink) (i int) {
	var n uint64
	var body []byte
	for i < len(b) {
		tag := uint64(b[i])
		if i++; tag >= 0x80 {
			if tag, i = Uvarint(b, i-1); i < 0 {
				return i
			}
		}
		switch tag {
		case 1<<3 | 1:
			l.Time, i = Fixed64(b, i)
		case 2<<3 | 0:
			n, i = Uvarint(b, i)
			l.Severity = int32(n)
		case 3<<3 | 2:
			l.SeverityText, i = Bytes(b, i)
		case 5<<3 | 2:
			var m []byte
			m, i = Bytes(b, i)
			body = Merge(body, m)
		case 6<<3 | 2:
			var kv []byte
			if kv, i = Bytes(b, i); i < 0 {
				return i
			}
			if at := sink.Attribute(kv); at < 0 {
				return at
			}
		case 7<<3 | 0:
			n, i = Uvarint(b, i)
			l.Dropped = uint32(n)
		case 8<<3 | 5:
			l.Flags, i = Fixed32(b, i)
		case 9<<3 | 2:
			l.TraceID, i = Bytes(b, i)
		case 10<<3 | 2:
			l.SpanID, i = Bytes(b, i)
		case 11<<3 | 1:
			l.Observed, i = Fixed64(b, i)
		case 12<<3 | 2:
			l.EventName, i = Bytes(b, i)
		default:
			i = Skip(b, i, tag, knownLogFields)
		}
		if i < 0 {
			return i
		}
	}
	var at int
	if l.Body, at = ParseValue(body); at < 0 {
		return at
	}
	return checkIDs(i, &l.TraceID, &l.SpanID)
}

// Nanos returns the time of the record: its own, or else the observed one; 0 is
// none.
func (l *Log) Nanos() uint64 {
	if l.Time != 0 {
		return l.Time
	}
	return l.Observed
}

// Messages are parts of a message in the order sent.
type Messages [][]byte

// Add keeps a part. It returns 0, as the methods of sinks do.
func (m *Messages) Add(part []byte) int {
	*m = append(*m, part)
	return 0
}

// Release lets go of them, and keeps the memory for more.
func (m *Messages) Release() {
	clear((*m)[:cap(*m)])
	*m = (*m)[:0]
}

// Held returns how many bytes of memory they keep.
func (m *Messages) Held() int { return 24 * cap(*m) }

// checkIDs returns i, or a fault if an id has the wrong length. Ids of zeros
// only say that there is none, in OTLP, and become nil.
func checkIDs(i int, traceID, spanID *[]byte) int {
	if !checkID(traceID, 16) || !checkID(spanID, 8) {
		return BadID
	}
	return i
}

// checkID tells whether an id has its length or is empty, and makes one of
// zeros only nil. n is 8 or 16.
func checkID(id *[]byte, n int) bool {
	b := *id
	if len(b) == 0 {
		return true
	}
	if len(b) != n {
		return false
	}
	if binary.LittleEndian.Uint64(b)|binary.LittleEndian.Uint64(b[n-8:]) == 0 {
		*id = nil
	}
	return true
}
