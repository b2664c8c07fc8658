package window

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/s3window/s3window/extension/leaseextension/lease"
)

// kv is a lease store that can be copied.
type kv struct {
	mu      sync.Mutex
	writes  int
	records map[string]lease.Record
	fault   func() (before, after error) // of every Put; nil for none
}

// set has f decide about every Put from now on.
func (s *kv) set(f func() (before, after error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = f
}

func (s *kv) copy() *kv {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &kv{writes: s.writes, records: maps.Clone(s.records)}
}

func (s *kv) Get(_ context.Context, key string) (lease.Record, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.records[key]
	if !ok {
		return lease.Record{}, lease.ErrNotFound
	}
	return r, nil
}

func (s *kv) Put(_ context.Context, key string, value []byte, ifRevision string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var after error
	if s.fault != nil {
		var before error
		if before, after = s.fault(); before != nil {
			return "", before
		}
	}
	if s.records[key].Revision != ifRevision {
		return "", lease.ErrConflict
	}
	s.writes++
	r := lease.Record{Key: key, Value: slices.Clone(value), Revision: fmt.Sprint(s.writes)}
	s.records[key] = r
	return r.Revision, after
}

func (s *kv) Delete(_ context.Context, key, ifRevision string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.records[key].Revision != ifRevision {
		return lease.ErrConflict
	}
	delete(s.records, key)
	return nil
}

func (s *kv) List(_ context.Context, prefix string) ([]lease.Record, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []lease.Record
	for _, k := range slices.Sorted(maps.Keys(s.records)) {
		if strings.HasPrefix(k, prefix) {
			out = append(out, s.records[k])
		}
	}
	return out, nil
}
