package wal

import (
	"context"
	"fmt"
	"maps"
	"slices"
)

// Seal is a small record beside the entries. What it says is the caller's.
type Seal struct {
	ID    uint64
	Value []byte
}

type sealRecord struct {
	value []byte
	// lowWriter: the writer with this number and all after it are remembered
	// while the seal exists, since it may speak of their entries.
	lowWriter uint64
}

type seals struct {
	span
	records map[uint64]sealRecord
}

// PutSeal stores a seal and returns when it is durable. Ids grow and are never
// used twice. When it gives an error the seal may exist after a restart.
//
// Crash before this: there is no such seal. Crash after it: Seals of the next
// open names it.
func (w *WAL) PutSeal(ctx context.Context, value []byte) (id uint64, err error) {
	put := &struct {
		id  uint64
		rec sealRecord
	}{}
	c := &control{label: "wal:seal"}
	value = slices.Clone(value)
	c.build = func(s *step) {
		if put.id == 0 { // else it is the second try: the same seal, not a twin
			put.id = w.seals.next
			w.seals.next++
		}
		put.rec = sealRecord{value: value, lowWriter: w.writers.low}
		s.set(numbered(sealPrefix, put.id), encodeSeal(put.id, put.rec.lowWriter, value))
	}
	c.applied = func() weights {
		w.seals.records[put.id] = put.rec
		return weights{}
	}
	if err := w.do(c, ctx.Done()); err != nil {
		return 0, fmt.Errorf("put seal: %w", err)
	}
	return put.id, nil
}

// DeleteSeal removes a seal for good; one that is not there is no error.
//
// Crash before this: the seal is found again. Crash after it: it is gone.
func (w *WAL) DeleteSeal(ctx context.Context, id uint64) error {
	c := &control{label: "wal:unseal"}
	c.build = func(s *step) { s.deletes = append(s.deletes, numbered(sealPrefix, id)) }
	c.applied = func() weights {
		delete(w.seals.records, id)
		w.seals.settle()
		w.writers.changed = true
		return weights{}
	}
	if err := w.do(c, ctx.Done()); err != nil {
		return fmt.Errorf("delete seal %d: %w", id, err)
	}
	return nil
}

// settle moves low past the seals that are gone.
func (s *seals) settle() {
	for s.low < s.next {
		if _, ok := s.records[s.low]; ok {
			return
		}
		s.low++
	}
}

// Seals gives the seals that exist, by id.
func (w *WAL) Seals() []Seal {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := make([]Seal, 0, len(w.seals.records))
	for _, id := range slices.Sorted(maps.Keys(w.seals.records)) {
		all = append(all, Seal{ID: id, Value: slices.Clone(w.seals.records[id].value)})
	}
	return all
}
