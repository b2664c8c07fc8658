package parquet

import "github.com/parquet-go/parquet-go/format"

// maxRunValues bounds the values that a page of a map in a RunSet has: many
// rows may share one very wide map.
const maxRunValues = 1 << 20

// RunSet is a set of columns whose values repeat together over many rows, as
// those of a resource do. An entry is put into every column of the set, then
// Commit numbers it; Repeat says that the next rows have an entry.
//
// Its dictionaries are never given up for PLAIN: they hold no more than the
// input does, however often the rows repeat it.
type RunSet struct {
	t       *Table
	columns []runColumn
	widths  []int // by entry: the most values that a column has of it per row
	spans   []runSpan
	rows    int // in the page under construction
	values  int // in the page under construction, of the widest column
}

// runSpan is a number of rows that have one entry.
type runSpan struct {
	entry uint32
	rows  int
}

// runColumn is a column of a RunSet.
type runColumn interface {
	column
	flush(s *RunSet)
	width(entry int) int // values that the entry has per row
}

// RunSet adds a set of columns to the table.
func (t *Table) RunSet() *RunSet {
	s := &RunSet{t: t}
	t.sets = append(t.sets, s)
	return s
}

// Commit ends an entry and returns its number.
func (s *RunSet) Commit() uint32 {
	n := len(s.widths)
	w := 1
	for _, c := range s.columns {
		w = max(w, c.width(n))
	}
	s.widths = append(s.widths, w)
	return uint32(n)
}

// Repeat says that the next n rows have the given entry.
func (s *RunSet) Repeat(entry uint32, n int) {
	w := s.widths[entry]
	for n > 0 {
		k := min(n, s.t.cfg.PageRows-s.rows, (maxRunValues-s.values)/w)
		if k <= 0 {
			if s.rows > 0 {
				s.flush()
				continue
			}
			k = 1
		}
		if l := len(s.spans); l > 0 && s.spans[l-1].entry == entry {
			s.spans[l-1].rows += k
		} else {
			s.spans = append(s.spans, runSpan{entry, k})
		}
		s.rows += k
		s.values += k * w
		n -= k
	}
}

func (s *RunSet) flush() {
	if s.rows == 0 {
		return
	}
	for _, c := range s.columns {
		c.flush(s)
	}
	s.spans, s.rows, s.values = s.spans[:0], 0, 0
}

func (s *RunSet) finish(t *Table) {
	s.flush()
	for _, c := range s.columns {
		c.finish(t)
	}
}

func (s *RunSet) reset() {
	for _, c := range s.columns {
		c.reset()
	}
	s.widths, s.spans, s.rows, s.values = s.widths[:0], s.spans[:0], 0, 0
}

func (s *RunSet) held() int {
	n := 8*cap(s.widths) + 16*cap(s.spans)
	for _, c := range s.columns {
		n += c.held()
	}
	return n
}

// null is the number of an absent value.
const null = ^uint32(0)

// scalars appends a page of numbers, one per row, to body: definition levels
// if the column is optional, then the indexes. It returns how many are null.
func (s *RunSet) scalars(c *chunk, body []byte, numbers []uint32, distinct int) ([]byte, int) {
	h := &s.t.hybrid
	nulls := 0
	if c.optional {
		at := len(body)
		h.start(append(body, 0, 0, 0, 0), 1)
		for _, r := range s.spans {
			if numbers[r.entry] == null {
				nulls += r.rows
				h.run(0, r.rows)
			} else {
				h.run(1, r.rows)
			}
		}
		body = sized(h.end(), at)
	}
	if distinct == 0 {
		return body, nulls
	}
	w := width(distinct)
	h.start(append(body, byte(w)), w)
	// Equal neighbours are joined: entries may differ in other columns only.
	var v uint32
	n := 0
	for _, r := range s.spans {
		x := numbers[r.entry]
		if x == null {
			continue
		}
		if x != v && n > 0 {
			h.run(v, n)
			n = 0
		}
		v = x
		n += r.rows
	}
	if n > 0 {
		h.run(v, n)
	}
	return h.end(), nulls
}

// used returns which of the numbers stand in the page under construction.
func (s *RunSet) used(numbers []uint32, distinct int) []uint64 {
	seen := make([]uint64, (distinct+63)/64)
	for _, r := range s.spans {
		if x := numbers[r.entry]; x != null {
			seen[x>>6] |= 1 << (x & 63)
		}
	}
	return seen
}

// runEncoding is the encoding of a page of a dictionary column: a column of
// nulls has no dictionary and must not claim one.
func runEncoding(distinct int) format.Encoding {
	if distinct == 0 {
		return format.Plain
	}
	return format.RLEDictionary
}

// sized writes the length of the levels behind body[at:] into their first four
// bytes.
func sized(body []byte, at int) []byte {
	n := len(body) - at - 4
	body[at], body[at+1], body[at+2], body[at+3] = byte(n), byte(n>>8), byte(n>>16), byte(n>>24)
	return body
}
