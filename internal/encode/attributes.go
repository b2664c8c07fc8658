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
	row      int // counts rows
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
// construction into the map, its promoted column, or both.
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
	if k.Class != 0 {
		return a.promote(&a.promoted[k.Class-1], k, key, v)
	}
	return a.put(k, key, v)
}

// put puts an attribute into the map.
func (a *rowAttributes) put(k parquet.Key, key []byte, v otlp.Value) (at int) {
	a.entries.Key(k, key)
	a.letters = append(a.letters, byte(v.Kind))
	a.text, at = putText(a.entries, v, a.text)
	return at
}

// promote puts an attribute into its column, and into the map unless the column
// moves it.
func (a *rowAttributes) promote(p *promotedRow, k parquet.Key, key []byte, v otlp.Value) int {
	own, ok := v.As(p.kind)
	switch {
	case !ok:
		return a.put(k, key, v)
	case v.Kind == p.kind && p.move:
		if p.set(v) {
			p.moved = moved{v, a.row + 1}
			return 0
		}
		return a.put(k, key, v)
	case v.Kind == p.kind && !p.move:
		return a.putBoth(p, k, key, v)
	}
	if p.moved.back(a.row+1, v, own) {
		if at := a.put(k, key, p.moved.value); at < 0 {
			return at
		}
	}
	p.set(own)
	return a.put(k, key, v)
}

// putBoth puts an attribute into its column and the map.
func (a *rowAttributes) putBoth(p *promotedRow, k parquet.Key, key []byte, v otlp.Value) int {
	if p.label == nil && p.kind != otlp.Int {
		p.set(v)
		return a.put(k, key, v)
	}
	a.entries.Key(k, key)
	a.letters = append(a.letters, byte(v.Kind))
	if !p.setCopy(a.entries, v) {
		a.text, _ = putText(a.entries, v, a.text)
	}
	return 0
}

func (a *rowAttributes) endRow() {
	a.entries.EndRow()
	a.types.Add(a.letters)
	a.letters = a.letters[:0]
	a.row++
}

func (a *rowAttributes) reset() {
	a.letters = a.letters[:0]
	a.row++ // what was moved in a row that was not ended does not count
}

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
