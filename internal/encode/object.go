package encode

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/parquet-go/parquet-go/format"
	"github.com/s3window/s3window/internal/encode/parquet"
	"github.com/s3window/s3window/internal/encode/schema"
	"github.com/s3window/s3window/internal/partition"
)

// createdBy is the footer's created_by, in the form that readers parse.
const createdBy = "s3window version 0.1.0"

// ColumnsKey is the footer's key of the Columns that an object was encoded
// with, as JSON: without them nobody could tell where a promoted value belongs.
const ColumnsKey = "s3window.columns"

// Object is a data object, complete in memory.
type Object struct {
	Segments         [][]byte // its content; they share the Staged's memory
	Size             int64
	SHA256           [32]byte
	Records          int64
	MinTime, MaxTime int64 // of the records' ts, microseconds; 0 without records
	Encoder          string
	Ext              string
	ContentType      string

	// Of a Plan.
	Place partition.Place
	Part  int // 1, 2, … where the place has several objects; else 0
}

// Assemble joins what Stage returned, in the order given, into one object of
// partition id. Staged values without rows are fine; without any row at all
// the object is valid and has no row group.
func (e *Encoder) Assemble(id partition.ID, writer string, staged []Staged) (Object, error) {
	var o Object
	var groups []*parquet.RowGroup
	var lines [][]byte
	for _, s := range staged {
		if s.Rows == 0 {
			continue
		}
		if o.Records == 0 {
			o.MinTime, o.MaxTime = s.MinTime, s.MaxTime
		}
		o.MinTime, o.MaxTime = min(o.MinTime, s.MinTime), max(o.MaxTime, s.MaxTime)
		o.Records += int64(s.Rows)
		groups, lines = append(groups, s.groups...), append(lines, s.lines...)
	}
	if err := e.join(&o, id, writer, groups, lines); err != nil {
		return Object{}, err
	}
	sum := sha256.New()
	for _, b := range o.Segments {
		sum.Write(b)
		o.Size += int64(len(b))
	}
	sum.Sum(o.SHA256[:0])
	return o, nil
}

// join sets the content of o and what follows from the format.
func (e *Encoder) join(o *Object, id partition.ID, writer string, groups []*parquet.RowGroup, lines [][]byte) (err error) {
	if e.lines != nil {
		o.Encoder, o.Ext, o.ContentType, o.Segments = linesVersion, e.lines.Ext(), e.lines.ContentType(), lines
		if o.Records == 0 {
			o.Segments, err = e.lines.Empty()
		}
		return err
	}
	o.Encoder, o.Ext, o.ContentType = Version, "parquet", "application/vnd.apache.parquet"
	meta := parquet.Meta{CreatedBy: createdBy, KeyValues: []format.KeyValue{
		{Key: "s3window.tenant", Value: id.Tenant},
		{Key: "s3window.signal", Value: string(id.Signal)},
		{Key: "s3window.schema", Value: strconv.Itoa(schema.Version)},
		{Key: "s3window.writer", Value: writer},
	}}
	if len(e.spec.Columns) > 0 {
		columns, err := json.Marshal(e.spec.Columns)
		if err != nil {
			return fmt.Errorf("write down columns: %w", err)
		}
		meta.KeyValues = append(meta.KeyValues, format.KeyValue{Key: ColumnsKey, Value: string(columns)})
	}
	o.Segments = e.schema.Assemble(meta, groups)
	return nil
}
