package encode

import (
	"github.com/s3window/s3window/internal/encode/schema"
	"github.com/s3window/s3window/internal/partition"
)

// SchemaVersion is the version of the signals' schemas, as manifests and object
// footers carry it.
func SchemaVersion() int { return schema.Version }

// ColumnNames returns the columns of a signal's schema before the promoted
// ones, in order, or nil where the signal has none.
func ColumnNames(signal partition.Signal) []string {
	s, _ := schema.Of(signal)
	return s.Names()
}
