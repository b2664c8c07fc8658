package parquet

import (
	"github.com/parquet-go/parquet-go/format"
	"github.com/s3window/s3window/internal/encode/dict"
)

// ListMap is a required field MAP<string,string>. Entries are put as into a
// Map; the element's End closes the map.
type ListMap struct {
	Map
	// By entry, element without entries, or row without elements:
	repetitions []uint32 // 0: starts a row, 1: an element, 2: an entry
	definitions []uint32 // 0: no element, 1: no entry, 2: an entry
}

// Map adds a field of maps.
func (l *List) Map(name string) *ListMap {
	path := l.child(name)
	l.t.schema.textMap(name)
	m := &ListMap{Map: Map{classify: func([]byte) int32 { return 0 }, ints: dict.NewInts()}}
	m.keys = l.t.newValues(l.t.newChunk(nestedMapChunk(path, "key")))
	m.vals = l.t.newValues(l.t.newChunk(nestedMapChunk(path, "value")))
	l.leaves, l.ownLevels = append(l.leaves, m), append(l.ownLevels, m)
	return m
}

func nestedMapChunk(path []string, leaf string) chunk {
	return chunk{
		path: append(path[:len(path):len(path)], "key_value", leaf), typ: format.ByteArray, optional: true, repeated: true,
	}
}

func (m *ListMap) endElement(first bool) {
	level := uint32(1)
	if first {
		level = 0
	}
	m.repetitions = append(m.repetitions, level)
	m.prev = 0
	n := m.entries
	m.entries = 0
	if n == 0 {
		m.definitions = append(m.definitions, 1)
		return
	}
	m.definitions = append(m.definitions, 2)
	for range n - 1 {
		m.repetitions = append(m.repetitions, 2)
		m.definitions = append(m.definitions, 2)
	}
}

func (m *ListMap) endEmpty() {
	m.repetitions = append(m.repetitions, 0)
	m.definitions = append(m.definitions, 0)
}

func (m *ListMap) held() int { return m.Map.held() + 4*cap(m.repetitions) + 4*cap(m.definitions) }

func (m *ListMap) reset() {
	m.Map.reset()
	m.repetitions, m.definitions = m.repetitions[:0], m.definitions[:0]
}

func (m *ListMap) flushList(l *List, p content) {
	p.values = len(m.definitions)
	p.nulls = p.values - m.keys.len()
	for _, c := range []*values{&m.keys, &m.vals} {
		body := appendLevels(l.t.body[:0], m.repetitions)
		c.write(l.t, appendLevels(body, m.definitions), p)
	}
	m.repetitions, m.definitions = m.repetitions[:0], m.definitions[:0]
}
