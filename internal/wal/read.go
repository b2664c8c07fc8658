package wal

import (
	"context"
	"fmt"
)

// Group is what is read at once: the entries of one stamp.
type Group struct {
	Writer  string
	Stamp   int64
	Segment uint64
	Last    uint64 // highest sequence number: nothing at or below it is unread after Read
	Entries int
	Bytes   int64 // of the frames: an upper bound of what Read returns
}

// reader is the position of the one reader. What is ahead was read from the
// storage; what was appended and is still in memory may have gaps before it,
// which are read from the storage when the reader comes to them.
type reader struct {
	cursor   uint64 // nothing below it is unread, but what is ahead
	ahead    []*group
	appended []*group
	held     int64 // bytes of appended
	last     int64 // stamp of the last group read
}

// offer keeps a group that was just appended, if there is room for it.
func (r *reader) offer(g *group) {
	if r.held+g.size > handOffBytes {
		return
	}
	r.appended = append(r.appended, g)
	r.held += g.size
}

// Next waits until a group is unread and announces it; Read gives it. Until
// then Next announces the same one. A group that is not in memory and larger
// than the read-ahead is not loaded by it.
//
// An error of the storage leaves the reader where it is.
func (w *WAL) Next(ctx context.Context) (Group, error) {
	for {
		w.mu.Lock()
		if w.closed {
			w.mu.Unlock()
			return Group{}, fmt.Errorf("read queue: %w", ErrClosed)
		}
		g, b := w.frontLocked()
		readable := w.readable
		w.mu.Unlock()
		switch {
		case g != nil:
			return g.announce(), nil
		case b != nil && b.oversize():
			return w.announce(b), nil
		case b != nil:
			if err := w.readAhead(ctx); err != nil {
				return Group{}, fmt.Errorf("read queue: %w", err)
			}
			continue
		}
		select {
		case <-readable:
		case <-w.closing:
		case <-ctx.Done():
			return Group{}, fmt.Errorf("read queue: %w", ctx.Err())
		}
	}
}

func (g *group) announce() Group {
	return Group{Writer: g.writer.id, Stamp: g.stamp, Segment: g.segment, Last: g.last, Entries: len(g.entries), Bytes: g.size}
}

func (w *WAL) announce(b *block) Group {
	w.mu.Lock()
	defer w.mu.Unlock()
	return Group{Writer: b.writer.id, Stamp: b.firstStamp, Segment: b.segment, Last: b.last, Entries: b.live, Bytes: b.weights.bytes}
}

// frontLocked gives the next unread group if it is in memory, else the block
// that it is in, else nothing.
func (w *WAL) frontLocked() (*group, *block) {
	r := &w.reader
	if len(r.ahead) > 0 {
		return r.ahead[0], nil
	}
	b, seq := w.index.next(r.cursor)
	if b == nil {
		seq = w.nextSeq
	}
	for len(r.appended) > 0 && r.appended[0].last < seq { // trimmed before it was read
		r.dropAppended()
	}
	if b != nil && len(r.appended) > 0 && r.appended[0].first <= seq {
		return r.appended[0], nil
	}
	return nil, b
}

func (r *reader) dropAppended() {
	r.held -= r.appended[0].size
	r.appended[0] = nil
	r.appended = r.appended[1:]
}

// Read gives the entries of the group that Next announced, and moves on. An
// entry that is damaged is left out, reported and set aside, so that a group
// may be empty. An error of the storage leaves the reader where it is.
func (w *WAL) Read(ctx context.Context) ([]Entry, error) {
	if _, err := w.Next(ctx); err != nil {
		return nil, err
	}
	w.mu.Lock()
	g, b := w.frontLocked()
	if g != nil {
		entries := w.takeFrontLocked(g)
		w.mu.Unlock()
		return entries, nil
	}
	if b == nil || !b.oversize() { // all of it was trimmed in between
		w.mu.Unlock()
		return nil, nil
	}
	seqs := b.seqs(w.reader.cursor)
	w.mu.Unlock()
	entries, err := w.load(ctx, seqs, b, nil)
	if err != nil {
		return nil, fmt.Errorf("read queue: %w", err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reader.cursor = b.last + 1
	w.reader.last = b.lastStamp
	return entries, nil
}

// takeFrontLocked moves past a group in memory.
func (w *WAL) takeFrontLocked(g *group) []Entry {
	r := &w.reader
	if len(r.ahead) > 0 {
		r.ahead[0] = nil
		r.ahead = r.ahead[1:]
	} else {
		r.dropAppended()
		r.cursor = g.last + 1
	}
	r.last = g.stamp
	b := w.index.block(g.first)
	if b != nil && b.live == b.entries {
		return g.entries
	}
	left := g.entries[:0:0]
	for _, e := range g.entries {
		if w.index.block(e.Seq) != nil {
			left = append(left, e)
		}
	}
	return left
}

// seqs gives the live entries at or above from.
func (b *block) seqs(from uint64) []uint64 {
	all := make([]uint64, 0, b.live)
	for s, ok := b.next(from); ok; s, ok = b.next(s + 1) {
		all = append(all, s)
	}
	return all
}

// readAhead loads what is next: up to readBytes, whole blocks, nothing that is
// in memory anyway.
func (w *WAL) readAhead(ctx context.Context) error {
	w.mu.Lock()
	seqs, end := w.planLocked()
	w.mu.Unlock()
	entries, err := w.load(ctx, seqs, nil, nil)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	r := &w.reader
	r.cursor = end
	for len(entries) > 0 {
		n := 1
		for n < len(entries) && entries[n].Stamp == entries[0].Stamp {
			n++
		}
		r.ahead = append(r.ahead, w.groupLocked(entries[:n:n]))
		entries = entries[n:]
	}
	return nil
}

func (w *WAL) groupLocked(entries []Entry) *group {
	e := &entries[0]
	g := &group{
		run:     run{writer: w.writers.named(e.Writer), stamp: e.Stamp, segment: e.Segment},
		entries: entries, first: e.Seq, last: entries[len(entries)-1].Seq,
	}
	for i := range entries {
		e := &entries[i]
		g.size += int64(frameNames + len(e.Signal) + len(e.Tenant) + len(e.Payload))
	}
	return g
}

// planLocked says which entries to load and where the cursor stands then.
func (w *WAL) planLocked() (seqs []uint64, end uint64) {
	r := &w.reader
	limit := w.nextSeq
	if len(r.appended) > 0 {
		limit = r.appended[0].first
	}
	end = r.cursor
	size := int64(0)
	for i := w.index.find(r.cursor); i < len(w.index.blocks) && end < limit; i++ {
		b := w.index.blocks[i]
		if b.live > 0 && (b.oversize() && len(seqs) > 0 || size > 0 && size+b.weights.bytes > readBytes) {
			return seqs, end
		}
		for s, ok := b.next(end); ok && s < limit; s, ok = b.next(s + 1) {
			seqs = append(seqs, s)
		}
		size += b.weights.bytes
		end = min(b.last+1, limit)
	}
	return seqs, end
}
