package parquet

// RunMap is a column MAP<string,string> of a RunSet. An entry is any number of
// Put.
type RunMap struct {
	t          *Table
	keys, vals values
	k, v       []uint32 // numbers of all entries
	ends       []int    // by entry, in k and v
}

// Map adds a map column to the set.
func (s *RunSet) Map(name string) *RunMap {
	s.t.schema.fields++
	s.t.schema.textMap(name)
	m := &RunMap{t: s.t}
	m.keys = s.t.newValues(s.t.newMapChunk(name, "key"))
	m.vals = s.t.newValues(s.t.newMapChunk(name, "value"))
	s.columns = append(s.columns, m)
	return m
}

// Put adds a key and its value to the entry's map, with invalid UTF-8
// replaced.
func (m *RunMap) Put(k, v []byte) {
	m.k = append(m.k, m.keys.index(k))
	m.v = append(m.v, m.vals.index(v))
}

// width also closes the entry: it is asked once per entry, by Commit.
func (m *RunMap) width(entry int) int {
	m.ends = append(m.ends, len(m.k))
	from, to := m.bounds(entry)
	return to - from
}

func (m *RunMap) bounds(entry int) (from, to int) {
	if entry > 0 {
		from = m.ends[entry-1]
	}
	return from, m.ends[entry]
}

func (m *RunMap) held() int {
	return m.keys.held() + m.vals.held() + 4*cap(m.k) + 4*cap(m.v) + 8*cap(m.ends)
}

func (m *RunMap) reset() {
	m.keys.reset()
	m.vals.reset()
	m.k, m.v, m.ends = m.k[:0], m.v[:0], m.ends[:0]
}

func (m *RunMap) finish(t *Table) {
	m.keys.finish(t)
	m.vals.finish(t)
}

func (m *RunMap) flush(s *RunSet) {
	h := &m.t.hybrid
	// Repetition levels are 0 1 1 … for each row, definition levels 1, but for
	// rows with an empty map, which have one level of 0 in both.
	h.start(append(m.t.body[:0], 0, 0, 0, 0), 1)
	levels := 0
	nulls := 0
	for _, r := range s.spans {
		from, to := m.bounds(int(r.entry))
		h.repetition(to-from, r.rows)
		levels += max(to-from, 1) * r.rows
		if to == from {
			nulls += r.rows
		}
	}
	body := sized(h.end(), 0)
	at := len(body)
	h.start(append(body, 0, 0, 0, 0), 1)
	for _, r := range s.spans {
		if from, to := m.bounds(int(r.entry)); to > from {
			h.run(1, (to-from)*r.rows)
		} else {
			h.run(0, r.rows)
		}
	}
	body = sized(h.end(), at)
	at = len(body)
	p := content{rows: s.rows, values: levels, nulls: nulls}
	body = m.write(s, &m.keys, m.k, body, p)
	m.t.body = m.write(s, &m.vals, m.v, body[:at], p)
}

func (m *RunMap) write(s *RunSet, c *values, numbers []uint32, body []byte, p content) []byte {
	n := c.d.Len()
	p.encoding = runEncoding(n)
	if n > 0 {
		w := width(n)
		h := &m.t.hybrid
		h.start(append(body, byte(w)), w)
		for _, r := range s.spans {
			from, to := m.bounds(int(r.entry))
			h.pattern(numbers[from:to], r.rows)
		}
		body = h.end()
	}
	m.t.writePage(c.chunk, body, p)
	return body
}
