// Package storage is the lease backend on the collector's storage extensions:
// registers that survive a restart, for a single replica.
//
// A storage client belongs to one process and knows no compare-and-set, so the
// store makes one out of a lock. Two processes on one storage are not fenced
// against each other; file_storage refuses the second one.
//
// A client says of a batch only that nothing failed, so what was written is read
// back.
//
// Layout, in the client's flat keys:
//
//	r/<name>      revision, '\n', value
//	i/<00..ff>    JSON array of the names whose hash ends in this byte, for List:
//	              clients need not be able to enumerate their keys
package storage

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"sync"

	"go.opentelemetry.io/collector/extension/xextension/storage"

	"github.com/s3window/s3window/extension/leaseextension/lease"
)

// Store is a lease.Store on a storage client.
type Store struct {
	client storage.Client

	// mu makes each read and the write that depends on it one step.
	mu sync.Mutex
}

// New returns a store on client, which must not be used by anyone else. The
// caller closes client after the last use of the store.
func New(client storage.Client) *Store { return &Store{client: client} }

// Get implements lease.Store.
func (s *Store) Get(ctx context.Context, key string) (lease.Record, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.getLocked(ctx, key)
}

// Put implements lease.Store. It is durable when the client's Batch is.
//
// Crash before this: the old version. Crash after it: the new one; the index
// page of a new key is part of the same batch.
func (s *Store) Put(ctx context.Context, key string, value []byte, ifRevision string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	rec, err := s.getLocked(ctx, key)
	if err != nil && !errors.Is(err, lease.ErrNotFound) {
		return "", err
	}
	if rec.Revision != ifRevision {
		return "", lease.ErrConflict
	}
	revision := rand.Text()
	content := slices.Concat([]byte(revision), []byte("\n"), value)
	ops := []*storage.Operation{storage.SetOperation(recordKey(key), content)}
	if ifRevision == "" {
		index, err := s.indexLocked(ctx, key, insert)
		if err != nil {
			return "", err
		}
		ops = append(ops, index)
	}
	if err := s.client.Batch(ctx, ops...); err != nil {
		return "", fmt.Errorf("write record: %w", err)
	}
	if err := s.isLocked(ctx, key, content); err != nil {
		return "", fmt.Errorf("read record back: %w", err)
	}
	return revision, nil
}

// isLocked tells whether content is what is stored of the register; nil: nothing
// is.
func (s *Store) isLocked(ctx context.Context, key string, content []byte) error {
	stored, err := s.client.Get(ctx, recordKey(key))
	if err == nil && (content == nil && stored != nil || !bytes.Equal(stored, content)) {
		err = errors.New("the storage holds something else than what it was given")
	}
	return err
}

// Delete implements lease.Store.
func (s *Store) Delete(ctx context.Context, key, ifRevision string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	rec, err := s.getLocked(ctx, key)
	if err != nil {
		return err
	}
	if rec.Revision != ifRevision {
		return lease.ErrConflict
	}
	index, err := s.indexLocked(ctx, key, remove)
	if err != nil {
		return err
	}
	if err := s.client.Batch(ctx, storage.DeleteOperation(recordKey(key)), index); err != nil {
		return fmt.Errorf("delete record: %w", err)
	}
	if err := s.isLocked(ctx, key, nil); err != nil {
		return fmt.Errorf("look after deletion: %w", err)
	}
	return nil
}

// List implements lease.Store. It is a snapshot.
func (s *Store) List(ctx context.Context, prefix string) ([]lease.Record, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []lease.Record
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for page := range 256 {
		names, err := s.pageLocked(ctx, byte(page))
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if !strings.HasPrefix(name, prefix) {
				continue
			}
			rec, err := s.getLocked(ctx, name)
			if errors.Is(err, lease.ErrNotFound) {
				continue
			}
			if err != nil {
				return nil, err
			}
			found = append(found, rec)
		}
	}
	slices.SortFunc(found, func(a, b lease.Record) int { return strings.Compare(a.Key, b.Key) })
	return found, nil
}

func (s *Store) getLocked(ctx context.Context, key string) (lease.Record, error) {
	if err := ctx.Err(); err != nil {
		return lease.Record{}, err
	}
	stored, err := s.client.Get(ctx, recordKey(key))
	if err != nil {
		return lease.Record{}, fmt.Errorf("read record: %w", err)
	}
	if stored == nil {
		return lease.Record{}, lease.ErrNotFound
	}
	revision, value, ok := bytes.Cut(stored, []byte("\n"))
	if !ok || len(revision) == 0 {
		return lease.Record{}, fmt.Errorf("read record of %q: no revision before its value", key)
	}
	return lease.Record{Key: key, Value: bytes.Clone(value), Revision: string(revision)}, nil
}

func (s *Store) pageLocked(ctx context.Context, page byte) ([]string, error) {
	stored, err := s.client.Get(ctx, pageKey(page))
	if err != nil {
		return nil, fmt.Errorf("read index page %02x: %w", page, err)
	}
	if stored == nil {
		return nil, nil
	}
	var names []string
	if err := json.Unmarshal(stored, &names); err != nil {
		return nil, fmt.Errorf("read index page %02x: %w", page, err)
	}
	return names, nil
}

// indexLocked returns the operation that applies change to the key's index page.
func (s *Store) indexLocked(ctx context.Context, key string, change func([]string, string) []string) (*storage.Operation, error) {
	page := pageOf(key)
	names, err := s.pageLocked(ctx, page)
	if err != nil {
		return nil, err
	}
	encoded, err := json.Marshal(change(names, key))
	if err != nil {
		return nil, fmt.Errorf("encode index page %02x: %w", page, err)
	}
	return storage.SetOperation(pageKey(page), encoded), nil
}

func insert(names []string, key string) []string {
	if i, found := slices.BinarySearch(names, key); !found {
		return slices.Insert(names, i, key)
	}
	return names
}

func remove(names []string, key string) []string {
	if i, found := slices.BinarySearch(names, key); found {
		return slices.Delete(names, i, i+1)
	}
	return names
}

func pageOf(key string) byte {
	h := fnv.New32a()
	_, _ = h.Write([]byte(key)) // never fails
	return byte(h.Sum32())
}

func recordKey(key string) string { return "r/" + key }

func pageKey(page byte) string { return fmt.Sprintf("i/%02x", page) }
