package encode

import (
	"slices"
	"strconv"

	"github.com/s3window/s3window/internal/partition"
)

// SchemaVersion is the version of the signals' schemas, as manifests and object
// footers carry it.
func SchemaVersion() int {
	n, _ := strconv.Atoi(schemaVersion)
	return n
}

// ColumnNames returns the columns of a signal's schema before the promoted
// ones, in order, or nil where the signal has none.
func ColumnNames(s partition.Signal) []string { return slices.Clone(columnsOf(s)) }

// columnsOf returns the columns of a signal's schema before the promoted ones,
// in order, or nil where the signal has none.
func columnsOf(s partition.Signal) []string {
	switch s {
	case partition.Logs:
		return logColumns[:]
	case partition.Traces:
		return traceColumns[:]
	case partition.Metrics:
		return metricColumnNames[:]
	}
	return nil
}
