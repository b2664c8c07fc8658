// Package memory is the lease backend that keeps its registers in the process:
// for tests, and for a single replica without storage. Everything is lost when
// the process ends.
package memory

import (
	"bytes"
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/s3window/s3window/extension/leaseextension/lease"
)

// Store is a lease.Store in memory.
type Store struct {
	// mu guards everything declared below.
	mu       sync.Mutex
	records  map[string]lease.Record
	revision uint64 // of the newest write; never repeats
}

// New returns an empty store.
func New() *Store {
	return &Store{records: map[string]lease.Record{}}
}

// Get implements lease.Store.
func (s *Store) Get(ctx context.Context, key string) (lease.Record, error) {
	if err := ctx.Err(); err != nil {
		return lease.Record{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	rec, ok := s.records[key]
	if !ok {
		return lease.Record{}, lease.ErrNotFound
	}
	return copied(rec), nil
}

// Put implements lease.Store.
func (s *Store) Put(ctx context.Context, key string, value []byte, ifRevision string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.records[key].Revision != ifRevision {
		return "", lease.ErrConflict
	}
	s.revision++
	rec := lease.Record{Key: key, Value: bytes.Clone(value), Revision: strconv.FormatUint(s.revision, 10)}
	s.records[key] = rec
	return rec.Revision, nil
}

// Delete implements lease.Store.
func (s *Store) Delete(ctx context.Context, key, ifRevision string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	rec, ok := s.records[key]
	switch {
	case !ok:
		return lease.ErrNotFound
	case rec.Revision != ifRevision:
		return lease.ErrConflict
	}
	delete(s.records, key)
	return nil
}

// List implements lease.Store.
func (s *Store) List(ctx context.Context, prefix string) ([]lease.Record, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []lease.Record
	for key, rec := range s.records {
		if strings.HasPrefix(key, prefix) {
			found = append(found, copied(rec))
		}
	}
	slices.SortFunc(found, func(a, b lease.Record) int { return strings.Compare(a.Key, b.Key) })
	return found, nil
}

func copied(rec lease.Record) lease.Record {
	rec.Value = bytes.Clone(rec.Value)
	return rec
}
