package encode

import (
	"github.com/s3window/s3window/internal/encode/otlp"
	"github.com/s3window/s3window/internal/encode/parquet"
)

// rowAttributes are the attribute columns of rows: the map, its types, and the
// promoted columns.
type rowAttributes struct {
	entries  *parquet.Map
	types    *parquet.Label
	promoted []promotedRow
	letters  []byte
	text     []byte
}

func (a *rowAttributes) add(t *parquet.Table, name string) {
	a.entries = t.Map(name, a.classify)
	a.types = t.Label(name+"_types", false)
}

// classify returns the number, from 1, of the column that a key is promoted
// to, or 0.
func (a *rowAttributes) classify(key []byte) int32 {
	for i := range a.promoted {
		if a.promoted[i].key == string(key) {
			return int32(i + 1)
		}
	}
	return 0
}

// Attribute implements otlp.AttributeSink: it puts an attribute of the row under
// construction into its promoted column or the map.
func (a *rowAttributes) Attribute(kv []byte) int {
	key, value, at := otlp.KeyValue(kv)
	if at < 0 {
		return at
	}
	v := otlp.Value{Kind: otlp.String}
	var short bool
	if v.Raw, short = otlp.ShortString(value); !short {
		if v, at = otlp.ParseValue(value); at < 0 {
			return at
		}
	}
	k := a.entries.Find(key)
	if k.Class != 0 && a.promoted[k.Class-1].take(v) {
		return 0
	}
	a.entries.Key(k, key)
	a.letters = append(a.letters, byte(v.Kind))
	switch v.Kind {
	case otlp.String:
		a.entries.String(v.Raw)
	case otlp.Int:
		a.entries.Int(v.Int())
	default:
		if a.text, at = v.AppendText(a.text[:0]); at < 0 {
			return at
		}
		a.entries.String(a.text)
	}
	return 0
}

func (a *rowAttributes) endRow() {
	a.entries.EndRow()
	a.types.Add(a.letters)
	a.letters = a.letters[:0]
}

func (a *rowAttributes) reset()    { a.letters = a.letters[:0] }
func (a *rowAttributes) held() int { return cap(a.letters) + cap(a.text) }

// elementAttributes are the attribute fields of the elements of a list, such
// as events.
type elementAttributes struct {
	entries *parquet.ListMap
	types   *parquet.ListLabel
	letters []byte
	text    []byte
}

func newElementAttributes(l *parquet.List) elementAttributes {
	return elementAttributes{entries: l.Map("attributes"), types: l.Label("attributes_types")}
}

// Attribute implements otlp.AttributeSink for the element under construction.
func (a *elementAttributes) Attribute(kv []byte) int {
	key, value, at := otlp.KeyValue(kv)
	if at < 0 {
		return at
	}
	v := otlp.Value{Kind: otlp.String}
	var short bool
	if v.Raw, short = otlp.ShortString(value); !short {
		if v, at = otlp.ParseValue(value); at < 0 {
			return at
		}
	}
	a.entries.Key(a.entries.Find(key), key)
	a.letters = append(a.letters, byte(v.Kind))
	a.text, at = putText(&a.entries.Map, v, a.text)
	return at
}

func (a *elementAttributes) end() {
	a.types.Add(a.letters)
	a.letters = a.letters[:0]
}

func (a *elementAttributes) reset()    { a.letters = a.letters[:0] }
func (a *elementAttributes) held() int { return cap(a.letters) + cap(a.text) }

// putText ends an entry of m with the text of v. It returns the scratch that it
// was given, and a fault if v is malformed.
func putText(m *parquet.Map, v otlp.Value, text []byte) ([]byte, int) {
	switch v.Kind {
	case otlp.String:
		m.String(v.Raw)
		return text, 0
	case otlp.Int:
		m.Int(v.Int())
		return text, 0
	}
	text, at := v.AppendText(text[:0])
	if at >= 0 {
		m.String(text)
	}
	return text, at
}
