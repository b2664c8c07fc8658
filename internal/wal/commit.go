package wal

import (
	"time"

	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.uber.org/zap"
)

// group is what one Batch appended, or what is left of it: the entries of one stamp.
type group struct {
	run
	entries []Entry
	first   uint64
	last    uint64
	size    int64 // frames
}

// control is a small durable change other than an append or a trim.
type control struct {
	label   string
	prepare func() error   // reads what it needs; nil: nothing
	build   func(s *step)  // adds its operations, mu held
	applied func() weights // after they are durable, mu held: what it freed
	done    chan error
}

// step is one Batch of the committer.
type step struct {
	ops       []*storage.Operation
	head      []*storage.Operation // come first
	deletes   []string             // come last
	reqs      []*request
	group     *group
	ctls      []*control
	trims     int       // keys of the trims that ride along
	complete  []*ticket // whose last keys these were
	discards  int
	registers bool // it makes this open's writer durable
}

func (s *step) set(key string, value []byte) {
	s.ops = append(s.ops, storage.SetOperation(key, value))
}

func (s *step) groupLen() int {
	if s.group == nil {
		return 0
	}
	return int(s.group.last-s.group.first) + 1
}

func (s *step) empty() bool { return s.group == nil && len(s.ctls) == 0 && s.trims == 0 }

// seqRange is a range of sequence numbers, both ends included.
type seqRange struct{ first, last uint64 }

// commit is the committer: the only goroutine that writes to the storage.
func (w *WAL) commit() {
	defer close(w.stopped)
	for {
		w.mu.Lock()
		idle := len(w.pending) == 0 && len(w.controls) == 0 && len(w.trims.tickets) == 0
		closed := w.closed
		w.mu.Unlock()
		switch {
		case !idle:
			w.trimAlone()
			w.step()
		case closed:
			return
		default:
			<-w.wake
		}
	}
}

// step writes all that is pending in one Batch.
//
// Crash before this: nothing of it was acknowledged and nothing is there. Crash
// after it: appends are replayed, although their callers never heard; trims and
// seals are done.
func (w *WAL) step() {
	w.gather()
	s := &step{ctls: w.takeControls()}
	w.mu.Lock()
	w.takeRequestsLocked(s)
	if !w.trims.alone {
		w.takeTrimsLocked(s)
	}
	if s.empty() {
		w.mu.Unlock()
		return
	}
	for _, c := range s.ctls {
		c.build(s)
	}
	w.sealStepLocked(s)
	w.mu.Unlock()
	w.label(s, "")
	begin := time.Now()
	if err := w.client.Batch(w.ctx, w.operations(s)...); err != nil {
		w.failed(s, err)
		return
	}
	w.pace.last, w.pace.took = len(s.reqs), time.Since(begin)
	w.label(s, " done")
	w.settle(s)
}

// takeControls takes the pending controls and lets them read what they need.
func (w *WAL) takeControls() []*control {
	w.mu.Lock()
	ctls := w.controls
	w.controls = nil
	w.mu.Unlock()
	ready := ctls[:0]
	for _, c := range ctls {
		if c.prepare != nil {
			if err := c.prepare(); err != nil {
				c.done <- err
				continue
			}
		}
		ready = append(ready, c)
	}
	return ready
}

// takeRequestsLocked takes up to a group's worth of requests and gives them
// their place in the queue.
func (w *WAL) takeRequestsLocked(s *step) {
	n, size, entries := 0, int64(0), 0
	for ; n < len(w.pending); n++ {
		r := w.pending[n]
		if n > 0 && size+r.weights.bytes > groupBytes {
			break
		}
		size += r.weights.bytes
		entries += len(r.entries)
	}
	if n == 0 {
		return
	}
	s.reqs = w.pending[:n:n]
	if w.pending = w.pending[n:]; len(w.pending) == 0 {
		w.pending = nil
	}
	stamp := w.clock.stamp()
	w.complainLocked()
	w.segment.rotate(stamp, w.opts.SegmentSize, w.opts.SegmentAge)
	w.segment.add(stamp, size)
	s.group = &group{
		run:   run{writer: w.writers.own, stamp: stamp, segment: w.segment.id},
		first: w.nextSeq, last: w.nextSeq + uint64(entries) - 1, size: size,
	}
	w.nextSeq += uint64(entries)
	w.inflight = s.group
}

// complainLocked says once that the wall clock is far behind.
func (w *WAL) complainLocked() {
	if w.behind {
		return
	}
	if by := w.clock.ahead(); by > FarAhead {
		w.behind = true
		w.opts.Logger.Error("Wall clock is far behind the last stamp of the queue: stamps go on from the last one until a start finds the queue empty",
			zap.Duration("behind", by))
	}
}

// sealStepLocked completes a step but for its frames: the mark, this open's
// writer if it is not durable yet, and what rides along.
func (w *WAL) sealStepLocked(s *step) {
	own := w.writers.own
	if s.registers = !own.durable && !w.inMem; s.registers {
		s.head = append(s.head, storage.SetOperation(numbered(writerPrefix, own.number), encodeWriter(own.number, own.id, own.info)))
	}
	w.forgetWritersLocked(s)
	if !w.inMem {
		m := w.markLocked()
		s.set(markKey, m.encode())
	}
	w.takeDiscardsLocked(s)
	for _, key := range s.deletes {
		s.ops = append(s.ops, storage.DeleteOperation(key))
	}
}

// operations gives a step's operations in their order: this open's writer,
// entries, the rest with the mark, deletions. A storage that applies a Batch
// in part then never has an entry that the mark counts and that is not there.
func (w *WAL) operations(s *step) []*storage.Operation {
	if s.head == nil && s.group == nil {
		return s.ops
	}
	ops := make([]*storage.Operation, 0, len(s.head)+len(s.ops)+s.groupLen()*2)
	ops = append(ops, s.head...)
	if s.group != nil {
		ops = w.appendFrames(ops, s)
	}
	return append(ops, s.ops...)
}

// appendFrames completes the frames of a step's requests.
func (w *WAL) appendFrames(ops []*storage.Operation, s *step) []*storage.Operation {
	g, n := s.group, s.groupLen()
	p := place{writer: g.writer.id, stamp: g.stamp, segment: g.segment, first: g.first, entries: n}
	slab := make([]storage.Operation, n)
	g.run.entries = make([]meta, 0, n)
	g.entries = s.reqs[0].entries
	if len(s.reqs) > 1 {
		g.entries = make([]Entry, 0, n)
	}
	for _, r := range s.reqs {
		for i, f := range r.frames {
			k := len(g.run.entries)
			seq, e := g.first+uint64(k), &r.entries[i]
			p.complete(f, seq)
			e.Seq, e.Writer, e.Stamp, e.Segment = seq, p.writer, p.stamp, p.segment
			g.run.entries = append(g.run.entries, meta{seq: seq, bytes: int64(len(f)), items: int64(e.Items), requestStart: i == 0})
			slab[k] = storage.Operation{Type: storage.Set, Key: numbered(entryPrefix, seq), Value: f}
			ops = append(ops, &slab[k])
			if len(f) >= spacedSize && !w.inMem {
				ops = appendSpacers(ops, seq)
			}
		}
		if len(s.reqs) > 1 {
			g.entries = append(g.entries, r.entries...)
		}
	}
	return ops
}

func appendSpacers(ops []*storage.Operation, seq uint64) []*storage.Operation {
	for k := range len(spacers) {
		ops = append(ops, storage.SetOperation(spacerKey(seq, k), nil))
	}
	return ops
}

func (w *WAL) markLocked() mark {
	return mark{
		seqs:    span{min(w.index.low(w.nextSeq), w.lowPendingLocked()), w.nextSeq},
		stamp:   w.clock.last,
		segment: w.segment.id,
		seals:   w.seals.span,
		writers: span{w.writers.low, w.writers.next},
		asides:  w.asides.span,
	}
}

// lowPendingLocked is the lowest sequence number that the storage may have and
// the index does not.
func (w *WAL) lowPendingLocked() uint64 {
	low := w.nextSeq
	if w.inflight != nil {
		low = w.inflight.first
	}
	if len(w.discards) > 0 {
		low = min(low, w.discards[0].first)
	}
	return low
}
