package verify

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	pq "github.com/parquet-go/parquet-go"

	"github.com/s3window/s3window/internal/encode"
	"github.com/s3window/s3window/internal/encode/jsonl"
)

// inMemory is the largest object that is not put into a temporary file.
const inMemory = 16 << 20

// unhashed says whether a column does not tell records apart.
func unhashed(column string) bool { return column == "received_at" || column == "ts" }

// malformedError says that an object is not one of its kind.
type malformedError struct{ cause error }

func (e *malformedError) Error() string { return e.cause.Error() }

// hashObject calls visit with the hash of each row of an object.
func (f *finder) hashObject(ctx context.Context, key, dir string, visit func(rowHash) error) error {
	content, size, done, err := f.download(ctx, key, dir)
	if err != nil {
		return err
	}
	defer done()
	_, ext, _ := strings.Cut(key[strings.LastIndexByte(key, '/')+1:], ".")
	if ext == "parquet" {
		return readParquetRows(content, size, visit)
	}
	lines, ok, err := jsonl.Open(ext, io.NewSectionReader(content, 0, size))
	if !ok {
		return &malformedError{fmt.Errorf("suffix %q is none that is known", ext)}
	}
	if err != nil {
		return &malformedError{err}
	}
	defer lines.Close()
	return readLineRows(lines, visit)
}

// download brings an object into memory, or into a file in dir if it is large.
func (f *finder) download(ctx context.Context, key, dir string) (content io.ReaderAt, size int64, done func(), err error) {
	err = f.try(ctx, func() error {
		r, info, err := f.bucket.Open(ctx, key)
		if err != nil {
			return err
		}
		defer r.Close()
		if info.Size <= inMemory {
			b := bytes.NewBuffer(make([]byte, 0, info.Size+bytes.MinRead))
			size, err = b.ReadFrom(r)
			content, done = bytes.NewReader(b.Bytes()), func() {}
			return err
		}
		file, err := os.CreateTemp(dir, "object-*")
		if err != nil {
			return err
		}
		content, done = file, func() {
			file.Close()
			_ = os.Remove(file.Name())
		}
		if size, err = io.Copy(file, r); err != nil {
			done()
		}
		return err
	})
	return content, size, done, err
}

// readParquetRows hashes the rows of a Parquet file: for each value that is not
// null, or stands in a list, its column's path, its levels and its bytes, in the
// order of the columns. Promoted columns that have copies are left out.
func readParquetRows(content io.ReaderAt, size int64, visit func(rowHash) error) (err error) {
	defer func() {
		if p := recover(); p != nil { // how the library answers some malformed files
			err = &malformedError{fmt.Errorf("%v", p)}
		}
	}()
	file, err := pq.OpenFile(content, size, pq.SkipBloomFilters(true), pq.SkipPageIndex(true))
	if err != nil {
		return &malformedError{err}
	}
	copies, err := copiesIn(file)
	if err != nil {
		return err
	}
	columns := file.Schema().Columns()
	names := make([][]byte, len(columns))
	for i, path := range columns {
		if !unhashed(path[0]) && !copies[path[0]] {
			name := strings.Join(path, "\x00")
			names[i] = append(binary.AppendUvarint(nil, uint64(len(name))), name...)
		}
	}
	h := rowHasher{names: names}
	for _, group := range file.RowGroups() {
		if err := h.group(group, visit); err != nil {
			return err
		}
	}
	return nil
}

// copiesIn are the promoted columns of a file that have copies of attributes.
func copiesIn(file *pq.File) (map[string]bool, error) {
	text, ok := file.Lookup(encode.ColumnsKey)
	if !ok {
		return nil, nil
	}
	var columns []encode.Column
	if err := json.Unmarshal([]byte(text), &columns); err != nil {
		return nil, &malformedError{err}
	}
	out := map[string]bool{}
	for _, c := range columns {
		out[c.As] = !c.Move
	}
	return out, nil
}

// rowHasher hashes rows of a file; a column without a name is left out.
type rowHasher struct {
	names [][]byte
	buf   []byte
}

func (h *rowHasher) group(group pq.RowGroup, visit func(rowHash) error) error {
	rows := group.Rows()
	defer rows.Close()
	read := make([]pq.Row, 64)
	for {
		n, err := rows.ReadRows(read)
		for _, r := range read[:n] {
			if err := visit(h.row(r)); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return &malformedError{err}
		}
	}
}

func (h *rowHasher) row(r pq.Row) rowHash {
	b := h.buf[:0]
	last := -1
	for _, v := range r {
		column := v.Column()
		if h.names[column] == nil || v.IsNull() && v.DefinitionLevel() == 0 {
			continue
		}
		if column != last {
			b, last = append(b, h.names[column]...), column
		}
		b = append(b, byte(v.RepetitionLevel()), byte(v.DefinitionLevel()), byte(v.Kind()))
		if v.IsNull() {
			continue
		}
		if v.Kind() == pq.ByteArray || v.Kind() == pq.FixedLenByteArray {
			b = append(binary.AppendUvarint(b, uint64(len(v.ByteArray()))), v.ByteArray()...)
		} else {
			b = binary.LittleEndian.AppendUint64(b, v.Uint64())
		}
	}
	h.buf = b
	return hashOf(b)
}

func hashOf(b []byte) rowHash {
	sum := sha256.Sum256(b)
	return rowHash(sum[:])
}

// readLineRows hashes the lines of JSON: the fields in the order of their names,
// each with the text of its value as it stands.
func readLineRows(in io.Reader, visit func(rowHash) error) error {
	r := bufio.NewReaderSize(in, 256<<10)
	var b []byte
	for {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) && len(line) == 0 {
			return nil
		}
		if err != nil {
			return &malformedError{err}
		}
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(line, &fields); err != nil {
			return &malformedError{err}
		}
		b = b[:0]
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			if value := fields[name]; !unhashed(name) && string(value) != "null" {
				b = append(binary.AppendUvarint(b, uint64(len(name))), name...)
				b = append(binary.AppendUvarint(b, uint64(len(value))), value...)
			}
		}
		if err := visit(hashOf(b)); err != nil {
			return err
		}
	}
}
