package encode

import (
	"crypto/sha256"

	"github.com/s3window/s3window/internal/partition"
)

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
	o := Object{Encoder: e.base.Version(), Ext: e.base.Ext(), ContentType: e.base.ContentType()}
	var all content
	for _, s := range staged {
		if s.Rows == 0 {
			continue
		}
		if o.Records == 0 {
			o.MinTime, o.MaxTime = s.MinTime, s.MaxTime
		}
		o.MinTime, o.MaxTime = min(o.MinTime, s.MinTime), max(o.MaxTime, s.MaxTime)
		o.Records += int64(s.Rows)
		all.append(s.content)
	}
	var err error
	if o.Segments, err = e.base.Join(owner{id, writer}, all); err != nil {
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
