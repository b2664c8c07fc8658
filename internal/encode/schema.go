package encode

import "strconv"

// SchemaVersion is the version of the signals' schemas, as manifests and object
// footers carry it.
func SchemaVersion() int {
	n, _ := strconv.Atoi(schemaVersion)
	return n
}
