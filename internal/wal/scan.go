package wal

import (
	"context"
	"fmt"
)

// ScanBytes is what one Scan reads at most: whole blocks, so that no stamp is
// cut. A group that is larger is a scan of its own.
const ScanBytes = 2 << 20

// Scanned is what a Scan read.
type Scanned struct {
	Entries []Entry // in order; all wanted ones of every stamp
	// Next is the stamp and segment of the first entry behind the scan. No entry
	// there has a lower stamp. Where there is none it is zero.
	Next Safe
}

// Reach is the extent of a scan, and how much it reads at most.
type Reach struct {
	End     uint64 // the first sequence number that is not in it
	Entries int
	Bytes   int64 // of the frames
}

// Reach returns how far one Scan from sequence number from comes, and not
// beyond below: it costs no I/O. Both are ends of groups, or the scan would cut
// a stamp.
func (w *WAL) Reach(from, below uint64) Reach {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := Reach{End: from}
	i := w.index.find(from)
	for ; i < len(w.index.blocks) && r.End < below; i++ {
		b := w.index.blocks[i]
		if b.live > 0 && r.Bytes > 0 && r.Bytes+b.weights.bytes > ScanBytes {
			return r
		}
		r.Bytes += b.weights.bytes
		r.Entries += b.live
		r.End = min(b.last+1, below)
	}
	if i == len(w.index.blocks) {
		r.End = max(r.End, below) // nothing is left behind it
	}
	return r
}

// Scan reads the entries in [from, end) that are still in the queue and that
// want asks for, whatever the reader has done with them. It may be called
// beside the reader, by one goroutine at a time. A damaged entry is left out,
// reported and set aside. An error leaves nothing to undo.
func (w *WAL) Scan(ctx context.Context, from, end uint64, want func(tenant, signal string) bool) (Scanned, error) {
	seqs, next := w.between(from, end)
	entries, err := w.load(ctx, seqs, nil, want)
	if err != nil {
		return Scanned{}, fmt.Errorf("scan queue: %w", err)
	}
	if n := len(entries); n > 0 && next != (Safe{}) {
		next.Time = max(next.Time, entries[n-1].Stamp+1)
	}
	return Scanned{Entries: entries, Next: next}, nil
}

// between returns the live entries of a range, and the point of the first entry
// behind it. The point is that of its block, so it may be too early, never too
// late.
func (w *WAL) between(from, end uint64) (seqs []uint64, next Safe) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for b, seq := w.index.next(from); b != nil && seq < end; b, seq = w.index.next(seq + 1) {
		for s, ok := seq, true; ok && s < end; s, ok = b.next(s + 1) {
			seqs = append(seqs, s)
			seq = s
		}
	}
	if b, _ := w.index.next(end); b != nil {
		next = Safe{b.firstStamp, b.segment}
	}
	return seqs, next
}
