package jsonl

import (
	"strconv"

	"github.com/s3window/s3window/internal/encode/otlp"
)

// attributes makes objects of the attributes of records, or of what stands in
// lists of records.
type attributes struct {
	keys    keys
	columns []promoted
	sent    [][]byte // KeyValue messages of the next object
	letters []byte
}

// newAttributes returns one that fills the columns of records.
func newAttributes(columns []Column) (a attributes) {
	var of []Column
	a.columns, of = promotedAt(columns, Record)
	a.keys = newKeys(of)
	return a
}

func (a *attributes) held() int {
	n := a.keys.held() + 24*cap(a.sent) + cap(a.letters)
	for i := range a.columns {
		n += cap(a.columns[i].value)
	}
	return n
}

// begin makes ready for the next object.
func (a *attributes) begin() {
	a.sent, a.letters = a.sent[:0], a.letters[:0]
	a.keys.startRecord()
	forget(a.columns)
}

// release lets go of the payload.
func (a *attributes) release() { clear(a.sent[:cap(a.sent)]) }

// collect takes the KeyValue message that stands at b[i:].
func (a *attributes) collect(b []byte, i int) int {
	kv, i := otlp.Bytes(b, i)
	if i >= 0 {
		a.sent = append(a.sent, kv)
	}
	return i
}

// append appends the fields attributes and attributes_types. The second result
// is a fault if an attribute is malformed.
func (a *attributes) append(b []byte) ([]byte, int) {
	b = append(b, `,"attributes":`...)
	object := len(b)
	for _, kv := range a.sent {
		var at int
		if b, at = a.attribute(b, kv); at < 0 {
			return b, at
		}
	}
	if len(b) == object {
		b = append(b, '{')
	}
	b[object] = '{' // for the comma before the first
	b = append(append(b, `},"attributes_types":"`...), a.letters...)
	return append(b, '"'), 0
}

// attribute appends an attribute as a field behind a comma.
func (a *attributes) attribute(b, kv []byte) ([]byte, int) {
	raw, value, at := otlp.KeyValue(kv)
	if at < 0 {
		return b, at
	}
	v, at := otlp.ParseValue(value)
	if at < 0 {
		return b, at
	}
	k := a.keys.find(raw)
	b = append(b, k.quoted...)
	from := len(b)
	switch v.Kind {
	case otlp.String:
		b = otlp.AppendQuoted(b, v.Raw)
	case otlp.Int:
		b = strconv.AppendInt(b, v.Int(), 10)
	default:
		if b, at = v.AppendJSON(b); at < 0 {
			return b, at
		}
	}
	a.letters = append(a.letters, byte(v.Kind))
	if k.column > 0 {
		a.columns[k.column-1].take(v.Kind, b[from:])
	}
	return b, 0
}
