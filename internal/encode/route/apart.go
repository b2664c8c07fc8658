package route

import (
	"fmt"

	"github.com/s3window/s3window/internal/encode/otlp"
	"github.com/s3window/s3window/internal/partition"
)

// Parts is a request taken apart into its records, spans or data points.
type Parts struct {
	payload []byte
	split   *split
}

// Apart takes a request of a signal apart. It returns an error if what is
// around the records is malformed, so that they cannot be told apart; the
// records themselves are not looked into. The parts share memory with payload.
func Apart(signal partition.Signal, payload []byte) (Parts, error) {
	if len(payload) >= maxPayload {
		return Parts{}, fmt.Errorf("%w: it has %d bytes", otlp.ErrMalformed, len(payload))
	}
	if err := checkAround(signal, payload); err != nil {
		return Parts{}, err
	}
	s := newSplit(&Router{signal: signal})
	if at := s.request(payload); at < 0 {
		return Parts{}, otlp.Fault(at)
	}
	return Parts{payload, s}, nil
}

// Len returns how many records there are.
func (p *Parts) Len() int { return len(p.split.leaves) }

// Request returns a request of some records, by their numbers from 0 on,
// ascending: each with its resource, scope and metric. What has none of them
// is left out.
func (p *Parts) Request(records []int) []byte {
	leaves := make([]leaf, len(records))
	for i, n := range records {
		leaves[i] = p.split.leaves[n]
	}
	return p.split.build(p.payload, leaves)
}

// checkAround checks the messages around the records.
func checkAround(signal partition.Signal, payload []byte) error {
	groups := otlp.NewGroups(payload)
	for groups.Next() {
		scopes := groups.Group.Scopes()
		for scopes.Next() {
			for scopes.Scope.Next() {
				if signal != partition.Metrics {
					continue
				}
				if _, at := otlp.ParseMetric(scopes.Scope.Item); at < 0 {
					return otlp.Fault(at)
				}
			}
			if err := scopes.Scope.Err(); err != nil {
				return err
			}
		}
		if err := scopes.Err(); err != nil {
			return err
		}
	}
	return groups.Err()
}
