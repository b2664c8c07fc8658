package encode

import (
	"encoding/binary"

	"github.com/s3window/s3window/internal/encode/dict"
	"github.com/s3window/s3window/internal/encode/otlp"
	"github.com/s3window/s3window/internal/encode/parquet"
)

const serviceNameKey = "service.name"

// runAttributes are the attribute columns of a resource or scope.
type runAttributes struct {
	field    uint64 // of the attributes in their message
	entries  *parquet.RunMap
	types    *parquet.RunLabel
	promoted []promotedRun
	text     []byte
	letters  []byte
}

// put fills the columns from a message and closes the promoted ones.
func (a *runAttributes) put(message []byte) error {
	a.letters = a.letters[:0]
	kvs := otlp.NewAttributes(message, a.field)
	for kvs.Next() {
		v, at := otlp.ParseValue(kvs.Value)
		if at < 0 {
			return otlp.Fault(at)
		}
		if a.take(kvs.Key, v) {
			continue
		}
		var err error
		if a.text, err = v.Text(a.text[:0]); err != nil {
			return err
		}
		a.letters = append(a.letters, byte(v.Kind))
		a.entries.Put(kvs.Key, a.text)
	}
	if err := kvs.Err(); err != nil {
		return err
	}
	a.types.Add(a.letters)
	for i := range a.promoted {
		a.promoted[i].end()
	}
	return nil
}

func (a *runAttributes) take(key []byte, v otlp.Value) bool {
	for i := range a.promoted {
		if a.promoted[i].take(key, v) {
			return true
		}
	}
	return false
}

func (a *runAttributes) reset() {
	for i := range a.promoted {
		a.promoted[i].taken = false
	}
}

// resources are the columns of the records' resources. An entry is a distinct
// resource with its schema URL.
type resources struct {
	set        *parquet.RunSet
	known      *dict.Strings // its numbers are those of the entries
	key        []byte
	service    *parquet.RunLabel
	attributes runAttributes
	dropped    *parquet.RunNumber
	schemaURL  *parquet.RunLabel
}

func newResources(t *parquet.Table) resources {
	return resources{
		set: t.RunSet(), known: dict.NewStrings(), attributes: runAttributes{field: otlp.ResourceAttributes},
	}
}

// columns adds all columns but service_name, which stands apart.
func (r *resources) columns() {
	r.attributes.entries = r.set.Map("resource_attributes")
	r.attributes.types = r.set.Label("resource_attributes_types", false)
	r.dropped = r.set.Count("resource_dropped_attributes_count")
	r.schemaURL = r.set.Label("resource_schema_url", false)
}

// entry returns the number of a group's resource.
func (r *resources) entry(g *located, service []byte) (uint32, error) {
	r.key = entryKey(r.key[:0], g.Resource, g.SchemaURL)
	n, added := r.known.Put(r.key)
	if !added {
		return n, nil
	}
	m, err := otlp.ParseResource(g.Resource)
	if err != nil {
		return 0, err
	}
	if err := r.attributes.put(g.Resource); err != nil {
		return 0, err
	}
	r.service.Add(service)
	r.dropped.Add(int64(m.Dropped))
	r.schemaURL.Add(g.SchemaURL)
	return r.set.Commit(), nil
}

func (r *resources) reset() {
	r.known.Reset()
	r.attributes.reset()
}

// scopes are the columns of the records' scopes. An entry is a distinct scope
// with its schema URL.
type scopes struct {
	set           *parquet.RunSet
	known         *dict.Strings
	key           []byte
	name, version *parquet.RunLabel
	attributes    runAttributes
	dropped       *parquet.RunNumber
	schemaURL     *parquet.RunLabel
}

func newScopes(t *parquet.Table) scopes {
	return scopes{
		set: t.RunSet(), known: dict.NewStrings(), attributes: runAttributes{field: otlp.ScopeAttributes},
	}
}

func (s *scopes) columns() {
	s.name = s.set.Label("scope_name", false)
	s.version = s.set.Label("scope_version", false)
	s.attributes.entries = s.set.Map("scope_attributes")
	s.attributes.types = s.set.Label("scope_attributes_types", false)
	s.dropped = s.set.Count("scope_dropped_attributes_count")
	s.schemaURL = s.set.Label("scope_schema_url", false)
}

func (s *scopes) entry(scope, schemaURL []byte) (uint32, error) {
	s.key = entryKey(s.key[:0], scope, schemaURL)
	n, added := s.known.Put(s.key)
	if !added {
		return n, nil
	}
	m, err := otlp.ParseScope(scope)
	if err != nil {
		return 0, err
	}
	if err := s.attributes.put(scope); err != nil {
		return 0, err
	}
	s.name.Add(m.Name)
	s.version.Add(m.Version)
	s.dropped.Add(int64(m.Dropped))
	s.schemaURL.Add(schemaURL)
	return s.set.Commit(), nil
}

func (s *scopes) reset() {
	s.known.Reset()
	s.attributes.reset()
}

// entryKey tells apart what must not share an entry.
func entryKey(dst, message, schemaURL []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(message)))
	return append(append(dst, message...), schemaURL...)
}
