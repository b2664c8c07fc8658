package encode

import (
	"encoding/binary"

	"github.com/s3window/s3window/internal/encode/dict"
	"github.com/s3window/s3window/internal/encode/otlp"
	"github.com/s3window/s3window/internal/encode/parquet"
)

const serviceNameKey = "service.name"

// runAttributes are the attribute columns of a resource, scope or metric.
type runAttributes struct {
	entries  *parquet.RunMap
	types    *parquet.RunLabel
	promoted []promotedRun
	text     []byte
	letters  []byte
}

func newRunAttributes(set *parquet.RunSet, name string) runAttributes {
	return runAttributes{entries: set.Map(name), types: set.Label(name+"_types", false)}
}

// Attribute implements otlp.AttributeSink for the entry under construction.
func (a *runAttributes) Attribute(kv []byte) int {
	key, value, at := otlp.KeyValue(kv)
	if at < 0 {
		return at
	}
	v, at := otlp.ParseValue(value)
	if at < 0 {
		return at
	}
	for i := range a.promoted {
		if a.promoted[i].key == string(key) {
			return a.promote(&a.promoted[i], key, v)
		}
	}
	return a.put(key, v)
}

// put puts an attribute into the map.
func (a *runAttributes) put(key []byte, v otlp.Value) (at int) {
	if a.text, at = v.AppendText(a.text[:0]); at < 0 {
		return at
	}
	a.letters = append(a.letters, byte(v.Kind))
	a.entries.Put(key, a.text)
	return 0
}

// promote is rowAttributes.promote for an entry.
func (a *runAttributes) promote(p *promotedRun, key []byte, v otlp.Value) int {
	own, ok := v.As(p.kind)
	if !ok {
		return a.put(key, v)
	}
	if p.moved.back(1, v, own) {
		if at := a.put(key, p.moved.value); at < 0 {
			return at
		}
	}
	if p.set(own) && p.move && v.Kind == p.kind {
		p.moved = moved{v, 1}
		return 0
	}
	return a.put(key, v)
}

// end ends the entry.
func (a *runAttributes) end() {
	a.types.Add(a.letters)
	a.letters = a.letters[:0]
	for i := range a.promoted {
		a.promoted[i].end()
	}
}

func (a *runAttributes) reset() {
	a.letters = a.letters[:0]
	for i := range a.promoted {
		a.promoted[i].taken, a.promoted[i].moved = false, moved{}
	}
}

// entries numbers what rows share, each distinct one once.
type entries struct {
	set   *parquet.RunSet
	known *dict.Strings // its numbers are those of the set
	key   []byte
}

func newEntries(t *parquet.Table) entries { return entries{set: t.RunSet(), known: dict.NewStrings()} }

// find returns the number of a message with its schema URL, and whether it is a
// new one, which has to be put.
func (e *entries) find(message, schemaURL []byte) (n uint32, added bool) {
	e.key = binary.AppendUvarint(e.key[:0], uint64(len(message)))
	e.key = append(append(e.key, message...), schemaURL...)
	return e.known.Put(e.key)
}

// resources are the columns of the records' resources.
type resources struct {
	entries
	resourceColumns
	service *parquet.RunLabel
}

// entry returns the number of a group's resource.
func (r *resources) entry(g *located, service []byte) (uint32, error) {
	n, added := r.find(g.Resource, g.SchemaURL)
	if !added {
		return n, nil
	}
	var m otlp.Resource
	if at := m.Parse(g.Resource, &r.attributes); at < 0 {
		return 0, otlp.Fault(at)
	}
	r.service.Add(service)
	r.put(&m, g.SchemaURL)
	return r.set.Commit(), nil
}

func (r *resources) reset() {
	r.known.Reset()
	r.attributes.reset()
}

// scopes are the columns of the records' scopes.
type scopes struct {
	entries
	scopeColumns
}

func (s *scopes) entry(scope, schemaURL []byte) (uint32, error) {
	n, added := s.find(scope, schemaURL)
	if !added {
		return n, nil
	}
	var m otlp.Scope
	if at := m.Parse(scope, &s.attributes); at < 0 {
		return 0, otlp.Fault(at)
	}
	s.put(&m, schemaURL)
	return s.set.Commit(), nil
}

func (s *scopes) reset() {
	s.known.Reset()
	s.attributes.reset()
}
