package encode

import (
	"encoding/binary"

	"github.com/s3window/s3window/internal/encode/otlp"
)

func (l *logs) putBody(v otlp.Value) int {
	l.bodyType.Add([]byte{byte(v.Kind)})
	if v.Kind == otlp.String {
		l.body.Add(v.Raw)
		return 0
	}
	var at int
	if l.text, at = v.AppendText(l.text[:0]); at < 0 {
		return at
	}
	l.body.Add(l.text)
	return 0
}

// attribute puts one attribute of a record into its promoted column or the
// map.
func (l *logs) attribute(kv []byte) int {
	key, value, at := otlp.KeyValue(kv)
	if at < 0 {
		return at
	}
	v, at := otlp.ParseValue(value)
	if at < 0 {
		return at
	}
	k := l.attributes.Find(key)
	if k.Class != 0 && l.promoted[k.Class-1].take(v) {
		return 0
	}
	l.attributes.Key(k, key)
	l.letters = append(l.letters, byte(v.Kind))
	switch v.Kind {
	case otlp.String:
		l.attributes.String(v.Raw)
	case otlp.Int:
		l.attributes.Int(v.Int())
	default:
		if l.text, at = v.AppendText(l.text[:0]); at < 0 {
			return at
		}
		l.attributes.String(l.text)
	}
	return 0
}

// validID tells whether an id has its length or is empty, and empties one of
// zeros only, which in OTLP says that there is none.
func validID(id *[]byte, n int) bool {
	b := *id
	if len(b) == 0 {
		return true
	}
	if len(b) != n {
		return false
	}
	x := binary.LittleEndian.Uint64(b) | binary.LittleEndian.Uint64(b[n-8:])
	if x == 0 {
		*id = nil
	}
	return true
}
