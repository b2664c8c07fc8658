package wal

import (
	"sync"
	"time"
)

// Safe is how far the queue has been read, on its own clock.
type Safe struct {
	// Time: no record that is still to be read has a stamp below it.
	Time int64
	// Segment is the one that the next record is in, or will be in.
	Segment uint64
}

// Safe says which stamps are complete. While something is unread it is the
// stamp of the next unread group (before Next has announced a group that is
// not in memory, at least the last one's read + 1). While an append is in the
// storage's hands it is the stamp of that.
//
// When everything is read it is the clock, past every stamp given out, and
// this call makes it a promise: no later append gets a stamp below it. A
// segment that is old then ends here, so that an idle queue rotates too.
func (w *WAL) Safe() Safe {
	w.mu.Lock()
	defer w.mu.Unlock()
	g, b := w.frontLocked()
	switch {
	case g != nil:
		return Safe{g.stamp, g.segment}
	case b != nil && w.reader.cursor <= b.first:
		return Safe{b.firstStamp, b.segment}
	case b != nil:
		return Safe{max(b.firstStamp, w.reader.last+1), b.segment}
	case w.inflight != nil:
		return Safe{w.inflight.stamp, w.inflight.segment}
	}
	now := w.clock.push()
	w.complainLocked()
	w.segment.rotate(now, w.opts.SegmentSize, w.opts.SegmentAge)
	return Safe{now, w.segment.id}
}

// Now is the queue's clock: the stamp that an append would get. It promises
// nothing about later appends.
func (w *WAL) Now() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.clock.now()
}

// Ahead is by how much the queue's clock is ahead of the wall clock. It is more
// than a moment where the wall clock was wrong once, or is now.
func (w *WAL) Ahead() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.clock.ahead()
}

// Stats is a snapshot for metrics.
type Stats struct {
	Entries, Bytes, Items, Requests int64 // in the queue
	Used, Limit                     int64 // by the sizer, with what is on its way in
	UnreadEntries, UnreadBytes      int64
	HeldBytes                       int64 // in memory for the reader
	Segments                        int   // with entries
	Segment                         uint64
	LastStamp                       int64
	OldestStamp                     int64 // of the block that holds the oldest entry; 0 when empty
	Seals                           int
	Blocks                          int
	Groups, Appended                int64 // since open
	FailedGroups                    int64
	Damaged                         int64 // found since open
	SetAside                        int64 // since open
	AsideKept                       int
	AsideBytes                      int64
}

type counts struct{ groups, appended, failed, damaged, aside int64 }

// Stats costs one pass over the blocks of the index.
func (w *WAL) Stats() Stats {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := Stats{
		Entries: w.index.entries, Bytes: w.index.weights.bytes,
		Items: w.index.weights.items, Requests: w.index.weights.requests,
		Used: w.room.inUse(), Limit: w.opts.Limit,
		HeldBytes: w.reader.held,
		Segments:  len(w.index.segments), Segment: w.segment.id,
		LastStamp: w.clock.last, Seals: len(w.seals.records), Blocks: len(w.index.blocks),
		Groups: w.counts.groups, Appended: w.counts.appended, FailedGroups: w.counts.failed,
		Damaged: w.counts.damaged, SetAside: w.counts.aside,
		AsideKept: len(w.asides.sizes), AsideBytes: w.asides.bytes,
	}
	if b, _ := w.index.next(0); b != nil {
		s.OldestStamp = b.firstStamp
	}
	s.UnreadEntries, s.UnreadBytes = w.index.from(w.reader.cursor)
	for _, g := range w.reader.ahead {
		s.UnreadEntries += int64(len(g.entries))
		s.UnreadBytes += g.size
		s.HeldBytes += g.size
	}
	return s
}

// interner gives one string for equal bytes, so that tenant, signal and writer
// cost nothing per entry.
type interner struct {
	// mu guards everything declared below.
	mu    sync.Mutex
	names map[string]string
}

const maxNames = 16384

func newInterner() *interner { return &interner{names: map[string]string{}} }

func (n *interner) of(b []byte) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if s, ok := n.names[string(b)]; ok {
		return s
	}
	if len(n.names) >= maxNames {
		clear(n.names)
	}
	s := string(b)
	n.names[s] = s
	return s
}
