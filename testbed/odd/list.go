package odd

import (
	"fmt"
	"maps"
	"slices"

	"github.com/s3window/s3window/internal/partition"
)

// list returns cases in the order of their names.
func list(s partition.Signal, cases map[string][]byte, valid bool) (out []Case) {
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		out = append(out, Case{Name: name, Signal: s, Payload: cases[name], Valid: valid})
	}
	return out
}

// valid are requests that pdata writes.
func valid(s partition.Signal) (out []Case) {
	var payloads [][]byte
	switch s {
	case partition.Logs:
		payloads = logs()
	case partition.Traces:
		payloads = traces()
	default:
		payloads = metrics()
	}
	for i, p := range payloads {
		out = append(out, Case{Name: fmt.Sprintf("pdata %d", i), Signal: s, Payload: p, Valid: true})
	}
	return out
}
