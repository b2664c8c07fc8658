package wal

import (
	"context"
	"fmt"

	"go.opentelemetry.io/collector/extension/xextension/storage"
)

// load reads entries, in Batches whose size the index tells, and returns those
// that want asks for, or all where it is nil. Damaged ones are left out, reported
// and set aside.
func (w *WAL) load(ctx context.Context, seqs []uint64, of *block, want func(tenant, signal string) bool) ([]Entry, error) {
	entries := make([]Entry, 0, len(seqs))
	var found []Damage
	for len(seqs) > 0 {
		n := w.batchLen(seqs, of)
		ops := make([]*storage.Operation, n)
		for i, seq := range seqs[:n] {
			ops[i] = storage.GetOperation(numbered(entryPrefix, seq))
		}
		if err := w.client.Batch(ctx, ops...); err != nil {
			return nil, err
		}
		for i, op := range ops {
			e, damage := w.inspect(seqs[i], op.Value, want)
			switch {
			case damage == nil && e.Seq == 0: // not wanted
			case damage == nil:
				entries = append(entries, e)
			case w.present(damage):
				found = append(found, *damage)
			}
		}
		seqs = seqs[n:]
	}
	w.damaged(found)
	return entries, nil
}

// batchLen says how many of seqs are read in one Batch: about readBytes.
func (w *WAL) batchLen(seqs []uint64, of *block) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, size := 0, int64(0)
	for n < len(seqs) && n < 8*getKeys && size < readBytes {
		if of == nil || !of.has(seqs[n]) {
			of = w.index.block(seqs[n])
		}
		if of != nil {
			size += of.weights.bytes / int64(max(1, of.live))
		}
		n++
	}
	return n
}

// present says whether a damaged entry is still in the queue, and completes
// what the index knows of it.
func (w *WAL) present(d *Damage) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	b := w.index.block(d.Seq)
	if b == nil {
		return false
	}
	if d.Writer == "" {
		d.Writer, d.Segment = b.writer.id, b.segment
	}
	if d.Stamp == 0 && b.firstStamp == b.lastStamp {
		d.Stamp = b.firstStamp
	}
	return true
}

// Reread loads entries again, in the order of seqs. Those that are not in the
// queue any more are left out; damaged ones too, reported and set aside.
func (w *WAL) Reread(ctx context.Context, seqs []uint64) ([]Entry, error) {
	w.mu.Lock()
	present := make([]uint64, 0, len(seqs))
	for _, seq := range seqs {
		if w.index.block(seq) != nil {
			present = append(present, seq)
		}
	}
	w.mu.Unlock()
	entries, err := w.load(ctx, present, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("read %d entries again: %w", len(seqs), err)
	}
	return entries, nil
}
