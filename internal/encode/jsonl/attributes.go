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
	letters []byte
	sent    otlp.Messages // of the next object
}

// newAttributes returns one that fills the columns of records.
func newAttributes(columns []Column) (a attributes) {
	var of []Column
	a.columns, of = promotedAt(columns, Record)
	a.keys = newKeys(of)
	return a
}

func (a *attributes) held() int {
	n := a.keys.held() + cap(a.letters) + a.sent.Held()
	for i := range a.columns {
		n += cap(a.columns[i].value)
	}
	return n
}

// Attribute implements otlp.AttributeSink.
func (a *attributes) Attribute(kv []byte) int { return a.sent.Add(kv) }

// begin makes ready for the next object.
func (a *attributes) begin() { a.sent = a.sent[:0] }

// release lets go of the payload.
func (a *attributes) release() { a.sent.Release() }

// append appends the fields attributes and attributes_types of what was sent.
// The second result is a fault if it is malformed.
func (a *attributes) append(b []byte) ([]byte, int) {
	a.letters = a.letters[:0]
	a.keys.startRecord()
	forget(a.columns)
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
	v := otlp.Value{Kind: otlp.String}
	var short bool
	if v.Raw, short = otlp.ShortString(value); !short {
		if v, at = otlp.ParseValue(value); at < 0 {
			return b, at
		}
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
		a.columns[k.column-1].take(v, b[from:])
	}
	return b, 0
}
