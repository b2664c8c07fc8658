package encode

import (
	"crypto/sha256"

	"github.com/parquet-go/parquet-go/format"
	"github.com/s3window/s3window/internal/encode/parquet"
	"github.com/s3window/s3window/internal/partition"
)

// createdBy is the footer's created_by, in the form that readers parse.
const createdBy = "s3window version 0.1.0"

// schemaVersion grows when columns are added; it never changes otherwise.
const schemaVersion = "1"

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
}

// Assemble joins what Stage returned, in the order given, into one object of
// partition id. Staged values without rows are fine; without any row at all
// the object is valid and has no row group.
func (e *Encoder) Assemble(id partition.ID, writer string, staged []Staged) (Object, error) {
	o := Object{Encoder: Version, Ext: "parquet", ContentType: "application/vnd.apache.parquet"}
	var groups []*parquet.RowGroup
	for _, s := range staged {
		if s.Rows == 0 {
			continue
		}
		if o.Records == 0 {
			o.MinTime, o.MaxTime = s.MinTime, s.MaxTime
		}
		o.MinTime, o.MaxTime = min(o.MinTime, s.MinTime), max(o.MaxTime, s.MaxTime)
		o.Records += int64(s.Rows)
		groups = append(groups, s.groups...)
	}
	o.Segments = e.schema.Assemble(parquet.Meta{CreatedBy: createdBy, KeyValues: []format.KeyValue{
		{Key: "s3window.tenant", Value: id.Tenant},
		{Key: "s3window.signal", Value: string(id.Signal)},
		{Key: "s3window.schema", Value: schemaVersion},
		{Key: "s3window.writer", Value: writer},
	}}, groups)
	sum := sha256.New()
	for _, b := range o.Segments {
		sum.Write(b)
		o.Size += int64(len(b))
	}
	sum.Sum(o.SHA256[:0])
	return o, nil
}
