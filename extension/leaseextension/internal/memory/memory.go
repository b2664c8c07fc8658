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

	"github.com/s3window/s3window/extension/leaseextension/internal/register"
)

// Store is a register.Store in memory.
type Store struct {
	// mu guards everything declared below.
	mu       sync.Mutex
	records  map[string]register.Record
	revision uint64 // of the newest write; never repeats
}

// New returns an empty store.
func New() *Store {
	return &Store{records: map[string]register.Record{}}
}

// Get implements register.Store.
func (s *Store) Get(ctx context.Context, key string) (register.Record, error) {
	if err := ctx.Err(); err != nil {
		return register.Record{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	rec, ok := s.records[key]
	if !ok {
		return register.Record{}, register.ErrNotFound
	}
	return copied(rec), nil
}

// Put implements register.Store.
func (s *Store) Put(ctx context.Context, key string, value []byte, ifRevision string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.records[key].Revision != ifRevision {
		return "", register.ErrConflict
	}
	s.revision++
	rec := register.Record{Key: key, Value: bytes.Clone(value), Revision: strconv.FormatUint(s.revision, 10)}
	s.records[key] = rec
	return rec.Revision, nil
}

// Delete implements register.Store.
func (s *Store) Delete(ctx context.Context, key, ifRevision string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	rec, ok := s.records[key]
	switch {
	case !ok:
		return register.ErrNotFound
	case rec.Revision != ifRevision:
		return register.ErrConflict
	}
	delete(s.records, key)
	return nil
}

// List implements register.Store.
func (s *Store) List(ctx context.Context, prefix string) ([]register.Record, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []register.Record
	for key, rec := range s.records {
		if strings.HasPrefix(key, prefix) {
			found = append(found, copied(rec))
		}
	}
	slices.SortFunc(found, func(a, b register.Record) int { return strings.Compare(a.Key, b.Key) })
	return found, nil
}

func copied(rec register.Record) register.Record {
	rec.Value = bytes.Clone(rec.Value)
	return rec
}
