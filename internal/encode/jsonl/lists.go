package jsonl

import (
	"strconv"

	"github.com/s3window/s3window/internal/encode/otlp"
)

// list makes an array of what a span or data point has several of, each with
// attributes of its own.
type list struct {
	attributes attributes // of the element under construction
	sent       [][]byte   // messages of the next array
}

func newList() list { return list{attributes: newAttributes(nil)} }

func (l *list) held() int { return l.attributes.held() + 24*cap(l.sent) }

// begin makes ready for the next array.
func (l *list) begin() { l.sent = l.sent[:0] }

// release lets go of the payload.
func (l *list) release() {
	clear(l.sent[:cap(l.sent)])
	l.attributes.release()
}

// collect takes the message that stands at b[i:].
func (l *list) collect(b []byte, i int) int {
	m, i := otlp.Bytes(b, i)
	if i >= 0 {
		l.sent = append(l.sent, m)
	}
	return i
}

// append appends the elements. The second result is a fault if one is
// malformed.
func (l *list) append(b []byte, out *lines, element func(b []byte, out *lines, a *attributes, message []byte) ([]byte, int)) ([]byte, int) {
	for i, m := range l.sent {
		if i > 0 {
			b = append(b, ',')
		}
		l.attributes.begin()
		var at int
		if b, at = element(b, out, &l.attributes, m); at < 0 {
			return b, at
		}
	}
	return b, 0
}

const knownEventFields = 1<<1 | 1<<2 | 1<<3 | 1<<4

// appendEvent appends a Span.Event message.
func appendEvent(b []byte, out *lines, a *attributes, m []byte) ([]byte, int) {
	var time, dropped uint64
	var name []byte
	for i := 0; i < len(m); {
		var tag uint64
		tag, i = otlp.Uvarint(m, i)
		switch {
		case i < 0:
		case tag == 1<<3|1:
			time, i = otlp.Fixed64(m, i)
		case tag == 2<<3|2:
			name, i = otlp.Bytes(m, i)
		case tag == 3<<3|2:
			i = a.collect(m, i)
		case tag == 4<<3|0:
			dropped, i = otlp.Uvarint(m, i)
		default:
			i = otlp.Skip(m, i, tag, knownEventFields)
		}
		if i < 0 {
			return b, i
		}
	}
	b = out.stamp.appendNanos(append(b, `{"time_unix_nano":`...), time)
	b = otlp.AppendQuoted(append(b, `,"name":`...), name)
	b, at := a.append(b)
	b = strconv.AppendUint(append(b, `,"dropped_attributes_count":`...), uint64(uint32(dropped)), 10)
	return append(b, '}'), at
}

const knownLinkFields = 1<<1 | 1<<2 | 1<<3 | 1<<4 | 1<<5 | 1<<6

// appendLink appends a Span.Link message.
func appendLink(b []byte, _ *lines, a *attributes, m []byte) ([]byte, int) {
	var traceID, spanID, state []byte
	var dropped uint64
	var flags uint32
	for i := 0; i < len(m); {
		var tag uint64
		tag, i = otlp.Uvarint(m, i)
		switch {
		case i < 0:
		case tag == 1<<3|2:
			traceID, i = otlp.Bytes(m, i)
		case tag == 2<<3|2:
			spanID, i = otlp.Bytes(m, i)
		case tag == 3<<3|2:
			state, i = otlp.Bytes(m, i)
		case tag == 4<<3|2:
			i = a.collect(m, i)
		case tag == 5<<3|0:
			dropped, i = otlp.Uvarint(m, i)
		case tag == 6<<3|5:
			flags, i = otlp.Fixed32(m, i)
		default:
			i = otlp.Skip(m, i, tag, knownLinkFields)
		}
		if i < 0 {
			return b, i
		}
	}
	b, ok := appendIDs(append(b, `{"trace_id":"`...), traceID, spanID)
	if !ok {
		return b, otlp.BadID
	}
	b = otlp.AppendQuoted(append(b, `,"trace_state":`...), state)
	b = strconv.AppendUint(append(b, `,"flags":`...), uint64(flags), 10)
	b, at := a.append(b)
	b = strconv.AppendUint(append(b, `,"dropped_attributes_count":`...), uint64(uint32(dropped)), 10)
	return append(b, '}'), at
}

// appendIDs appends a trace id and the field span_id, or returns false if one
// has the wrong length.
func appendIDs(b, traceID, spanID []byte) ([]byte, bool) {
	traceID, okTrace := otlp.ID(traceID, 16)
	spanID, okSpan := otlp.ID(spanID, 8)
	b = appendHex(b, traceID)
	b = appendHex(append(b, `","span_id":"`...), spanID)
	return append(b, '"'), okTrace && okSpan
}

const knownExemplarFields = 1<<8 - 1<<2

// appendExemplar appends an Exemplar message.
func appendExemplar(b []byte, out *lines, a *attributes, m []byte) ([]byte, int) {
	var time, value uint64
	var has uint8
	var traceID, spanID []byte
	for i := 0; i < len(m); {
		var tag uint64
		tag, i = otlp.Uvarint(m, i)
		switch {
		case i < 0:
		case tag == 2<<3|1:
			time, i = otlp.Fixed64(m, i)
		case tag == 3<<3|1:
			has = otlp.HasDouble
			value, i = otlp.Fixed64(m, i)
		case tag == 4<<3|2:
			spanID, i = otlp.Bytes(m, i)
		case tag == 5<<3|2:
			traceID, i = otlp.Bytes(m, i)
		case tag == 6<<3|1:
			has = otlp.HasInt
			value, i = otlp.Fixed64(m, i)
		case tag == 7<<3|2:
			i = a.collect(m, i)
		default:
			i = otlp.Skip(m, i, tag, knownExemplarFields)
		}
		if i < 0 {
			return b, i
		}
	}
	b = out.stamp.appendNanos(append(b, `{"time_unix_nano":`...), time)
	b = appendSingle(b, has, value)
	b, ok := appendIDs(append(b, `,"trace_id":"`...), traceID, spanID)
	if !ok {
		return b, otlp.BadID
	}
	b, at := a.append(b)
	return append(b, '}'), at
}
