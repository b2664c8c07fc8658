package decode

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	pq "github.com/parquet-go/parquet-go"

	"github.com/s3window/s3window/internal/encode"
)

// rowsAtOnce is how many rows are read from a row group at once.
const rowsAtOnce = 64

// parquetRows is the rows of a Parquet object, one at a time.
type parquetRows struct {
	parquetRow
	file   *pq.File
	groups []pq.RowGroup // not read yet
	rows   pq.Rows       // of the group that is read; nil before and after
	buf    []pq.Row
	at, n  int
}

// openParquet opens an object and checks that it is one of the schema, of a
// version that is known.
func openParquet(o Object, s layout) (r *parquetRows, err error) {
	defer recovered(&err)
	in := &reader{r: o.Content}
	f, err := pq.OpenFile(in, o.Size, pq.SkipBloomFilters(true), pq.SkipPageIndex(true))
	if err != nil {
		return nil, in.blame(err)
	}
	if signal, _ := f.Lookup("s3window.signal"); signal != string(s.signal) {
		return nil, malformed("its footer says that it is of signal %q, not %q", signal, s.signal)
	}
	version, _ := f.Lookup("s3window.schema")
	if n, err := strconv.Atoi(version); err != nil || n > encode.SchemaVersion() {
		return nil, fmt.Errorf("the object has schema %q, this version knows up to %d", version, encode.SchemaVersion())
	}
	r = &parquetRows{file: f, groups: f.RowGroups(), buf: make([]pq.Row, rowsAtOnce)}
	r.parquetRow = parquetRow{faults: &faults{}, cells: make([][]pq.Value, len(f.Schema().Columns()))}
	return r, r.find(s)
}

// find finds the layout's columns, and refuses an object that has others: what
// they hold would be lost.
func (r *parquetRows) find(s layout) error {
	finder := leafFinder{schema: r.file.Schema()}
	var err error
	if r.fields, err = finder.fields(s.fields, nil); err != nil {
		return err
	}
	var columns []encode.Column
	if text, ok := r.file.Lookup(encode.ColumnsKey); ok {
		if err := json.Unmarshal([]byte(text), &columns); err != nil {
			return malformed("the columns in its footer: %w", err)
		}
	}
	for _, c := range columns {
		to, key := s.attributes, c.Attribute
		switch {
		case c.ScopeAttribute != "":
			to, key = scopeAttributes, c.ScopeAttribute
		case c.ResourceAttribute != "":
			to, key = resourceAttributes, c.ResourceAttribute
		}
		if err := finder.promote(&r.fields[to], key, c); err != nil {
			return err
		}
	}
	for i, path := range r.file.Schema().Columns() {
		if !slices.Contains(s.derived, path[0]) && !slices.Contains(finder.found, i) {
			return malformed("column %q is not known: what it holds would be lost", path[0])
		}
	}
	return nil
}

// recovered turns a panic into an error: the Parquet library answers some
// malformed files with one.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = malformed("%v", p)
	}
}

// reader remembers whether reading itself failed, to tell that from content
// that does not decode.
type reader struct {
	r   io.ReaderAt
	err error
}

func (s *reader) ReadAt(p []byte, off int64) (int, error) {
	n, err := s.r.ReadAt(p, off)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}

// blame says whose fault err is.
func (s *reader) blame(err error) error {
	if err == nil || s.err != nil {
		return err
	}
	return malformed("%w", err)
}

// next moves to the next row.
func (r *parquetRows) next() (more bool, err error) {
	defer recovered(&err)
	for r.at == r.n {
		if r.rows == nil {
			if len(r.groups) == 0 {
				return false, nil
			}
			r.rows, r.groups = r.groups[0].Rows(), r.groups[1:]
		}
		n, err := r.rows.ReadRows(r.buf)
		if err != nil && !errors.Is(err, io.EOF) {
			return false, malformed("%w", err)
		}
		if r.at, r.n = 0, n; n == 0 {
			r.close()
		}
	}
	clear(r.cells)
	r.buf[r.at].Range(func(leaf int, values []pq.Value) bool {
		r.cells[leaf] = values
		return true
	})
	r.at++
	return true, nil
}

func (r *parquetRows) close() {
	if r.rows != nil {
		r.rows.Close()
		r.rows = nil
	}
}

func (r *parquetRows) wrong() error { return r.faults.take() }
