package encode

import (
	"fmt"

	"github.com/s3window/s3window/internal/encode/otlp"
	"github.com/s3window/s3window/internal/partition"
)

// CountItems returns how many records, spans or data points a request has,
// without decoding them.
func CountItems(signal partition.Signal, payload []byte) (int, error) {
	count := func([]byte) (int, error) { return 1, nil }
	switch signal {
	case partition.Logs, partition.Traces:
	case partition.Metrics:
		count = otlp.CountPoints
	default:
		return 0, fmt.Errorf("count items: signal %q is not known", signal)
	}
	n, err := countItems(payload, count)
	if err != nil {
		return 0, fmt.Errorf("count items: %w", err)
	}
	return n, nil
}

func countItems(payload []byte, count func(item []byte) (int, error)) (int, error) {
	total := 0
	groups := otlp.NewGroups(payload)
	for groups.Next() {
		scopes := groups.Group.Scopes()
		for scopes.Next() {
			for scopes.Scope.Next() {
				n, err := count(scopes.Scope.Item)
				if err != nil {
					return 0, err
				}
				total += n
			}
			if err := scopes.Scope.Err(); err != nil {
				return 0, err
			}
		}
		if err := scopes.Err(); err != nil {
			return 0, err
		}
	}
	return total, groups.Err()
}
