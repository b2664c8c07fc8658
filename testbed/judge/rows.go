package judge

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
)

// idAttribute is where the load generator puts a record's id.
const idAttribute = "s3window.test.id"

// eachID calls f with the id of every row of an object, "" for a row without
// one, and returns the number of rows.
func eachID(key string, data []byte, f func(id string)) (int64, error) {
	name := key[strings.LastIndexByte(key, '/')+1:]
	_, ext, _ := strings.Cut(name, ".")
	switch ext {
	case "parquet":
		return parquetIDs(data, f)
	case "jsonl":
		return jsonIDs(bytes.NewReader(data), f)
	case "jsonl.gz":
		r, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return 0, err
		}
		return jsonIDs(r, f)
	case "jsonl.zst":
		r, err := zstd.NewReader(bytes.NewReader(data))
		if err != nil {
			return 0, err
		}
		defer r.Close()
		return jsonIDs(r, f)
	}
	return 0, fmt.Errorf("unknown kind of object %q", ext)
}

func jsonIDs(r io.Reader, f func(id string)) (int64, error) {
	var rows int64
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var row struct{ Attributes map[string]any }
			if err := json.Unmarshal(line, &row); err != nil {
				return rows, fmt.Errorf("line %d: %w", rows+1, err)
			}
			id, _ := row.Attributes[idAttribute].(string)
			f(id)
			rows++
		}
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return rows, err
		}
	}
}

func parquetIDs(data []byte, f func(id string)) (int64, error) {
	file, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return 0, err
	}
	keys, values, err := attributeColumns(file.Schema())
	if err != nil {
		return 0, err
	}
	var rows int64
	for _, group := range file.RowGroups() {
		chunks := group.ColumnChunks()
		n, err := mapIDs(&column{pages: chunks[keys].Pages()}, &column{pages: chunks[values].Pages()}, f)
		if err != nil {
			return rows, err
		}
		if n != group.NumRows() {
			return rows, fmt.Errorf("a row group says %d rows and has %d", group.NumRows(), n)
		}
		rows += n
	}
	if rows != file.NumRows() {
		return rows, fmt.Errorf("the footer says %d rows", file.NumRows())
	}
	return rows, nil
}

// attributeColumns finds the two columns of the map "attributes".
func attributeColumns(schema *parquet.Schema) (keys, values int, err error) {
	keys, values = -1, -1
	for i, path := range schema.Columns() {
		if path[0] != "attributes" || len(path) != 3 {
			continue
		}
		switch path[2] {
		case "key":
			keys = i
		case "value":
			values = i
		}
	}
	if keys < 0 || values < 0 {
		return 0, 0, errors.New("there is no map column attributes")
	}
	return keys, values, nil
}

// mapIDs walks the keys and values of a map column side by side.
func mapIDs(keys, values *column, f func(id string)) (int64, error) {
	defer keys.pages.Close()
	defer values.pages.Close()
	var rows int64
	id := ""
	for {
		k, errK := keys.next()
		v, errV := values.next()
		if errors.Is(errK, io.EOF) && errors.Is(errV, io.EOF) {
			if rows > 0 {
				f(id)
			}
			return rows, nil
		}
		if err := errors.Join(errK, errV); err != nil {
			return rows, err
		}
		if k.RepetitionLevel() == 0 {
			if rows > 0 {
				f(id)
			}
			rows++
			id = ""
		}
		if !k.IsNull() && string(k.ByteArray()) == idAttribute {
			id = string(v.ByteArray())
		}
	}
}

// column gives the values of a column chunk one by one.
type column struct {
	pages parquet.Pages
	page  parquet.ValueReader
	buf   [256]parquet.Value
	have  []parquet.Value
}

func (c *column) next() (parquet.Value, error) {
	for len(c.have) == 0 {
		if c.page == nil {
			p, err := c.pages.ReadPage()
			if err != nil {
				return parquet.Value{}, err
			}
			c.page = p.Values()
		}
		n, err := c.page.ReadValues(c.buf[:])
		c.have = c.buf[:n]
		if err != nil {
			if !errors.Is(err, io.EOF) {
				return parquet.Value{}, err
			}
			c.page = nil
		}
	}
	v := c.have[0]
	c.have = c.have[1:]
	return v, nil
}
