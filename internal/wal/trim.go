package wal

import (
	"context"
	"fmt"
	"slices"

	"go.opentelemetry.io/collector/extension/xextension/storage"
)

const (
	trimKeys     = 256
	keysPerEntry = 1 + len(spacers)
	entrySlot    = len(spacers)
)

// trimKey is one key to delete: an entry's, or that of one of its spacers.
type trimKey struct {
	seq  uint64
	slot int
}

func (k trimKey) key() string {
	if k.slot == entrySlot {
		return numbered(entryPrefix, k.seq)
	}
	return spacerKey(k.seq, k.slot)
}

// ticket is one Trim: its keys in order, an entry's spacers before the entry
// itself, so that a crash in between leaves no spacer without its entry.
type ticket struct {
	keys []trimKey
	done chan error
}

// trims is the queue of trims. What rides is always a prefix of it.
type trims struct {
	tickets []*ticket
	size    int  // keys in the next Batch
	alone   bool // after a failure, until one of full size succeeds
}

// Trim removes the entries for good and returns when that is durable. Those
// that are not in the queue are skipped, so that it can be repeated. It goes in
// pieces of at most 256 keys, lowest first: an error, the end of ctx or a crash
// leaves a part of them removed. When ctx ends, the removal goes on.
func (w *WAL) Trim(ctx context.Context, seqs []uint64) error {
	t := &ticket{done: make(chan error, 1)}
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return fmt.Errorf("trim: %w", ErrClosed)
	}
	t.keys = w.trimKeysLocked(seqs)
	if len(t.keys) == 0 {
		w.mu.Unlock()
		return nil
	}
	w.trims.tickets = append(w.trims.tickets, t)
	w.poke()
	w.mu.Unlock()
	select {
	case err := <-t.done:
		if err != nil {
			return fmt.Errorf("trim %d entries: %w", len(seqs), err)
		}
		return nil
	case <-ctx.Done():
		return fmt.Errorf("trim %d entries: %w", len(seqs), ctx.Err())
	}
}

func (w *WAL) trimKeysLocked(seqs []uint64) []trimKey {
	sorted := slices.Clone(seqs)
	slices.Sort(sorted)
	sorted = slices.Compact(sorted)
	keys := make([]trimKey, 0, len(sorted))
	var b *block
	for _, seq := range sorted {
		if b == nil || !b.has(seq) {
			if b = w.index.block(seq); b == nil {
				continue
			}
		}
		if b.spaced && !w.inMem {
			for slot := range entrySlot {
				keys = append(keys, trimKey{seq, slot})
			}
		}
		keys = append(keys, trimKey{seq, entrySlot})
	}
	return keys
}

// takeTrimsLocked lets the next piece ride along.
func (w *WAL) takeTrimsLocked(s *step) {
	for _, t := range w.trims.tickets {
		for _, k := range t.keys {
			if s.trims == w.trims.size {
				return
			}
			s.deletes = append(s.deletes, k.key())
			s.trims++
		}
	}
}

// trimAlone writes a piece by itself while trims have trouble: without appends
// and without the mark, so that it needs as little room as can be.
//
// Crash before this: the entries are replayed. Crash after it: those of this
// piece are gone, the rest of the trim is replayed.
func (w *WAL) trimAlone() {
	s := &step{}
	w.mu.Lock()
	if !w.trims.alone {
		w.mu.Unlock()
		return
	}
	w.takeTrimsLocked(s)
	w.mu.Unlock()
	if s.trims == 0 {
		return
	}
	for _, key := range s.deletes {
		s.ops = append(s.ops, storage.DeleteOperation(key))
	}
	w.label(s, "")
	if err := w.client.Batch(w.ctx, s.ops...); err != nil {
		w.failed(s, err)
		return
	}
	w.label(s, " done")
	w.settle(s)
}

// settled takes n keys off the queue and gives the Trims that are complete.
func (t *trims) settled(n int) (gone []trimKey, complete []*ticket) {
	if n == 0 {
		return nil, nil
	}
	if t.alone {
		t.size = min(trimKeys, 2*t.size)
		t.alone = t.size < trimKeys
	}
	for n > 0 && len(t.tickets) > 0 {
		first := t.tickets[0]
		k := min(n, len(first.keys))
		gone = append(gone, first.keys[:k]...)
		first.keys = first.keys[k:]
		n -= k
		if len(first.keys) == 0 {
			complete = append(complete, first)
			t.tickets = t.tickets[1:]
		}
	}
	return gone, complete
}

// failed halves the next piece. A single key that cannot be deleted ends its Trim.
func (t *trims) failed(n int, err error) {
	if n == 0 {
		return
	}
	if t.alone && n == 1 && len(t.tickets) > 0 {
		t.tickets[0].done <- err
		t.tickets = t.tickets[1:]
		t.size = trimKeys
		t.alone = len(t.tickets) > 0
		return
	}
	t.alone = true
	t.size = max(1, n/2)
}
