package encode

import (
	"github.com/s3window/s3window/internal/encode/idle"
	"github.com/s3window/s3window/internal/encode/parquet"
	"github.com/s3window/s3window/internal/partition"
)

// format makes objects of one format from requests of one signal. It is safe for
// concurrent use.
type format interface {
	// Stage encodes the records of entries, all or none. An error that wraps
	// otlp.ErrMalformed is about the entries. Nothing of the payloads is retained.
	// After a panic the format may be used as before.
	Stage(entries []Entry) (Staged, error)
	// Check costs less than Stage, and tells whether each record of entries can be
	// encoded. Stage may refuse them together all the same.
	Check(entries []Entry) error
	// Join returns the content of an object of what was staged, in order; that may
	// be nothing. The content shares the memory of what was staged.
	Join(of owner, content content) ([][]byte, error)
	// Ext returns the suffix of objects, without a point.
	Ext() string
	// ContentType returns the media type of objects.
	ContentType() string
	// Version returns what manifests say an object was encoded with.
	Version() string
}

// owner says whose an object is.
type owner struct {
	partition.ID
	writer string
}

// content is what was staged: row groups in Parquet, else lines.
type content struct {
	groups []*parquet.RowGroup
	lines  [][]byte // compressed
}

func (c *content) append(more content) {
	c.groups, c.lines = append(c.groups, more.groups...), append(c.lines, more.lines...)
}

// formatKind is a format that a Spec can name.
type formatKind struct {
	check func(Spec) error // whether it takes the codec and its level
	make  func(Spec, *idle.Keeper) (format, error)
}

func formatKinds() map[string]formatKind {
	return map[string]formatKind{
		"parquet": {func(s Spec) error { _, err := s.codec(); return err }, newParquetFormat},
		"jsonl":   {func(s Spec) error { return s.lines().Check() }, newLineFormat},
	}
}
