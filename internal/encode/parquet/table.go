package parquet

import (
	"unicode/utf8"
)

// Config is what decides, beside the values, which bytes a Table writes.
type Config struct {
	Codec     Codec
	PageRows  int // a page has no more rows
	PageBytes int // a page ends when it has this size
	DictBytes int // a dictionary that has outgrown this is given up for PLAIN
}

// Rows are checked for full pages every checkRows rows or checkBytes of input.
const (
	checkRows  = 512
	checkBytes = 256 << 10
)

// Table has the columns of one schema and builds row groups from them. A row
// is put into every column, then EndRow is called; a column made to be
// optional may be left out. Not safe for concurrent use.
type Table struct {
	cfg     Config
	comp    compressor
	schema  schema
	chunks  []*chunk
	columns []recordColumn
	sets    []*RunSet
	onPage  func(body []byte)

	rows       int
	sinceRows  int // since the last check
	sinceBytes int
	replaced   int

	body       []byte // the page under construction
	compressed []byte
	mended     []byte
	hybrid     hybrid
}

// column is what a Table asks of its columns, of both sorts.
type column interface {
	finish(t *Table) // writes the dictionary, if any
	reset()          // forgets everything of this row group
	held() int       // memory, in bytes
}

// paged is a column that takes a value per row.
type paged interface {
	column
	pending() int             // size of the page under construction
	wasteful() bool           // whether to end the page now and the dictionary with it
	flush(t *Table, rows int) // ends the page, which has so many rows
}

// recordColumn is a paged column and the row at which its page starts.
type recordColumn struct {
	paged
	from int
}

// NewTable returns a table without columns. They are added with its methods, in
// the order of the schema, before the first row.
func NewTable(cfg Config) (*Table, error) {
	comp, err := newCompressor(cfg.Codec)
	if err != nil {
		return nil, err
	}
	return &Table{cfg: cfg, comp: comp}, nil
}

// OnPage has f called with every page's content before it is compressed. It is
// for measurements.
func (t *Table) OnPage(f func(body []byte)) { t.onPage = f }

// Rows returns how many rows the row group has so far.
func (t *Table) Rows() int { return t.rows }

// Replaced returns how many strings have had invalid UTF-8 replaced since the
// last Reset.
func (t *Table) Replaced() int { return t.replaced }

// Held returns how many bytes of memory the table holds, full or empty.
func (t *Table) Held() int {
	n := cap(t.body) + cap(t.compressed) + cap(t.mended) + cap(t.hybrid.lit)
	for _, c := range t.columns {
		n += c.held()
	}
	for _, s := range t.sets {
		n += s.held()
	}
	for _, c := range t.chunks {
		n += c.held()
	}
	return n
}

// EndRow ends a row that took so many bytes of input.
func (t *Table) EndRow(input int) {
	t.rows++
	t.sinceRows++
	t.sinceBytes += input
	if t.sinceRows >= checkRows || t.sinceBytes >= checkBytes {
		t.endFullPages()
	}
}

func (t *Table) endFullPages() {
	t.sinceRows, t.sinceBytes = 0, 0
	for i := range t.columns {
		c := &t.columns[i]
		if t.rows-c.from+checkRows > t.cfg.PageRows || c.pending() >= t.cfg.PageBytes || c.wasteful() {
			t.endPage(c)
		}
	}
}

func (t *Table) endPage(c *recordColumn) {
	if n := t.rows - c.from; n > 0 {
		c.flush(t, n)
		c.from = t.rows
	}
}

// Reset throws away the row group under construction.
func (t *Table) Reset() {
	t.rows, t.sinceRows, t.sinceBytes, t.replaced = 0, 0, 0, 0
	for i := range t.columns {
		t.columns[i].reset()
		t.columns[i].from = 0
	}
	for _, s := range t.sets {
		s.reset()
	}
	for _, c := range t.chunks {
		c.reset()
	}
}

// Finish ends the row group, returns it and empties the table, but for the
// count of replaced strings. It returns nil if there are no rows: an empty row
// group must never be written. Every RunSet must have been told of every row.
func (t *Table) Finish() *RowGroup {
	if t.rows == 0 {
		return nil
	}
	for i := range t.columns {
		t.endPage(&t.columns[i])
		t.columns[i].finish(t)
	}
	for _, s := range t.sets {
		s.finish(t)
	}
	g := t.rowGroup()
	replaced := t.replaced
	t.Reset()
	t.replaced = replaced
	return g
}

// mend returns v if it is valid UTF-8, and otherwise v with each run of
// invalid bytes replaced by U+FFFD, valid until the next call.
func (t *Table) mend(v []byte) []byte {
	if utf8.Valid(v) {
		return v
	}
	t.replaced++
	t.mended = AppendMended(t.mended[:0], v)
	return t.mended
}

// AppendMended appends v with each run of bytes that are not valid UTF-8
// replaced by U+FFFD.
func AppendMended(dst, v []byte) []byte {
	bad := false
	for len(v) > 0 {
		r, n := utf8.DecodeRune(v)
		if r == utf8.RuneError && n == 1 {
			if !bad {
				dst = append(dst, "\uFFFD"...)
			}
			bad = true
		} else {
			dst = append(dst, v[:n]...)
			bad = false
		}
		v = v[n:]
	}
	return dst
}

func (t *Table) newChunk(c chunk) *chunk {
	p := &c
	t.chunks = append(t.chunks, p)
	return p
}

func (t *Table) add(c paged) { t.columns = append(t.columns, recordColumn{paged: c}) }
