package otlp

import "encoding/binary"

// AttributeSink takes the KeyValue messages of a message while it is decoded, in
// the order sent. What it returns is a fault if it is negative.
type AttributeSink interface {
	Attribute(kv []byte) int
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

// Nanos returns the time of the record: its own, or else the observed one; 0 is
// none.
func (m *Log) Nanos() uint64 {
	if m.Time != 0 {
		return m.Time
	}
	return m.ObservedTime
}

// Nanos returns the time of the span: its start, or else its end; 0 is none.
func (m *Span) Nanos() uint64 {
	if m.StartTime != 0 {
		return m.StartTime
	}
	return m.EndTime
}

// Duration returns the span's nanoseconds; 0 unless both its times are known.
func (m *Span) Duration() int64 {
	if m.StartTime == 0 || m.EndTime == 0 {
		return 0
	}
	return int64(m.EndTime - m.StartTime)
}

// Nanos returns the time of the point; 0 is none.
func (m *Point) Nanos() uint64 { return m.Time }

// Release lets go of what was decoded, and keeps the memory for more.
func (m *Point) Release() {
	for _, l := range m.lists() {
		clear(l[:cap(l)])
	}
	m.reset()
}

// Held returns how many bytes of memory it keeps.
func (m *Point) Held() (n int) {
	for _, l := range m.lists() {
		n += 24 * cap(l)
	}
	return n
}

// checkID tells whether an id has its length or is empty, and makes one of zeros
// only nil: in OTLP that says that there is none. n is 8 or 16.
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
