package parquet

import (
	"strconv"

	"github.com/parquet-go/parquet-go/format"
	"github.com/s3window/s3window/internal/encode/dict"
)

// Map is a required column MAP<string,string>. An entry is a Key, then one of
// String, Int and ASCII; EndRow closes the row's map.
type Map struct {
	keys, vals values
	rep, def   levels
	entries    int // of the row under construction

	// Keys that follow each other once tend to do so again: the next key is
	// compared with the one that came after the last key before it is looked up.
	info     []keyInfo // by key number
	prev     uint32    // number + 1 of the last key
	first    uint32    // number of a row's first key
	classify func(key []byte) int32
	ints     *dict.Ints // integers whose text is in the dictionary
	scratch  []byte
}

type keyInfo struct {
	key   []byte
	next  uint32
	class int32
}

// noKey is the number of a key that is not in the dictionary.
const noKey = ^uint32(0)

// Map adds a map column. classify is called once for each new key; what it
// returns comes back from Find.
func (t *Table) Map(name string, classify func(key []byte) int32) *Map {
	t.schema.fields++
	t.schema.textMap(name)
	m := &Map{classify: classify, ints: dict.NewInts()}
	m.keys = t.newValues(t.newMapChunk(name, "key"))
	m.vals = t.newValues(t.newMapChunk(name, "value"))
	t.add(m)
	return m
}

func (t *Table) newMapChunk(name, leaf string) *chunk {
	return t.newChunk(chunk{
		path: []string{name, "key_value", leaf}, typ: format.ByteArray, optional: true, repeated: true,
	})
}

// Key is a key that was looked up.
type Key struct {
	number uint32
	Class  int32
}

// Find looks a key up, and adds it to the dictionary if it is new.
func (m *Map) Find(k []byte) Key {
	if m.keys.plain {
		return Key{number: noKey, Class: m.classify(k)}
	}
	guess := &m.first
	if m.prev > 0 {
		guess = &m.info[m.prev-1].next
	}
	if n := *guess; n < uint32(len(m.info)) {
		if info := &m.info[n]; string(info.key) == string(k) {
			m.prev = n + 1
			return Key{n, info.class}
		}
	}
	return m.findSlow(k)
}

func (m *Map) findSlow(k []byte) Key {
	n := m.keys.index(k)
	if int(n) == len(m.info) {
		v := m.keys.d.At(n) // what it shares is not changed before the next reset
		m.info = append(m.info, keyInfo{key: v, next: n, class: m.classify(v)})
	}
	if m.prev > 0 {
		m.info[m.prev-1].next = n
	} else {
		m.first = n
	}
	m.prev = n + 1
	return Key{n, m.info[n].class}
}

// Key starts an entry: k was returned for key by the last Find.
func (m *Map) Key(k Key, key []byte) {
	m.entries++
	if k.number == noKey {
		m.keys.put(key)
		return
	}
	m.keys.idx = append(m.keys.idx, k.number)
}

// String ends an entry with a value, with invalid UTF-8 replaced.
func (m *Map) String(v []byte) { m.vals.put(v) }

// Int ends an entry with the decimal form of x.
func (m *Map) Int(x int64) {
	if m.vals.plain {
		m.scratch = strconv.AppendInt(m.scratch[:0], x, 10)
		m.vals.putRaw(m.scratch)
		return
	}
	m.vals.idx = append(m.vals.idx, m.int(x))
}

// int returns the number of an integer's text in the dictionary.
func (m *Map) int(x int64) uint32 {
	i, found := m.ints.Get(x)
	if !found {
		m.scratch = strconv.AppendInt(m.scratch[:0], x, 10)
		i, _ = m.vals.d.Put(m.scratch)
		m.ints.Set(x, i)
	}
	return i
}

// EndRow closes the map of the row under construction.
func (m *Map) EndRow() {
	m.prev = 0
	n := m.entries
	m.entries = 0
	if n == 0 {
		m.rep.push(0, 1, 0)
		m.def.push(0, 1, 0)
		return
	}
	m.rep.push(0, 1, 0)
	m.rep.fill(n - 1)
	m.def.fill(n)
}

func (m *Map) pending() int { return m.keys.pending() + m.vals.pending() }

// wasteful is about the values alone: keys are few in all but hostile input.
func (m *Map) wasteful() bool { return m.vals.wasteful() }

func (m *Map) held() int {
	return m.keys.held() + m.vals.held() + cap(m.rep.b) + cap(m.def.b) + 32*cap(m.info) + m.ints.Held()
}

func (m *Map) reset() {
	m.keys.reset()
	m.vals.reset()
	m.rep.reset()
	m.def.reset()
	m.ints.Reset()
	clear(m.info)
	m.info, m.prev, m.first, m.entries = m.info[:0], 0, 0, 0
}

func (m *Map) finish(t *Table) {
	m.keys.finish(t)
	m.vals.finish(t)
}

func (m *Map) flush(t *Table, rows int) {
	p := content{rows: rows, values: m.def.len, nulls: m.def.len - m.keys.len()}
	for _, c := range []*values{&m.keys, &m.vals} {
		body := m.rep.appendTo(t.body[:0])
		body = m.def.appendTo(body)
		c.write(t, body, p)
	}
	m.rep.reset()
	m.def.reset()
}
