package wal

import (
	"context"
	"errors"
	"fmt"
	"math"

	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.uber.org/zap"
)

// recovery collects what an open finds.
type recovery struct {
	w       *WAL
	mark    mark
	marked  bool // the mark is there and whole
	group   run  // the group that is being read
	prev    uint64
	maxSeq  uint64
	stamp   int64
	segment uint64
	found   []Damage
	orphans []string // spacers without an entry
	backlog backlogs
}

// recover rebuilds the state from the storage. It writes nothing.
func (w *WAL) recover(ctx context.Context) error {
	r := &recovery{w: w}
	w.writers.low, w.writers.next = math.MaxUint64, 1
	markErr, err := r.readMark(ctx)
	if err != nil {
		return err
	}
	walker, ok := w.client.(storage.Walker)
	switch {
	case ok:
		err = r.walk(ctx, walker)
	case markErr != nil:
		return fmt.Errorf("read mark: %w; this storage cannot be searched without it", markErr)
	default:
		err = r.scan(ctx)
	}
	if err != nil {
		return err
	}
	r.flush()
	if !r.marked && r.maxSeq > 0 {
		r.found = append(r.found, Damage{Kind: "mark", Reason: "missing or damaged: rebuilt from the entries"})
	}
	r.adopt()
	w.damaged(r.found)
	return nil
}

// readMark gives the damage of the mark, and an error that fails the open.
func (r *recovery) readMark(ctx context.Context) (damage, err error) {
	raw, err := r.w.client.Get(ctx, markKey)
	if err != nil {
		return nil, fmt.Errorf("read mark: %w", err)
	}
	if raw == nil {
		return nil, nil
	}
	m, err := decodeMark(raw)
	if errors.Is(err, ErrFormat) {
		return nil, fmt.Errorf("read mark: %w: use the version that wrote it", err)
	}
	if err != nil {
		return err, nil
	}
	r.mark, r.marked = m, true
	return nil, nil
}

// adopt puts the counters behind everything that was found.
func (r *recovery) adopt() {
	w := r.w
	w.backlog = r.backlog.found
	m := &r.mark
	w.nextSeq = max(m.seqs.next, r.maxSeq+1, 1)
	w.clock = r.clock()
	w.segment = segment{id: max(m.segment, r.segment) + 1}
	w.seals.next = max(w.seals.next, m.seals.next)
	w.seals.settle()
	w.asides.next = max(w.asides.next, m.asides.next)
	if len(w.asides.sizes) == 0 {
		w.asides.low = w.asides.next
	}
	w.writers.next = max(w.writers.next, m.writers.next)
	w.writers.begin()
	w.writers.changed = true
	w.room.force(w.opts.Sizer.of(w.index.weights))
	if len(r.orphans) > 0 {
		w.deleteOrphans(r.orphans)
	}
	w.opts.Logger.Info("Queue opened", zap.Int64("entries", w.index.entries), zap.Int64("bytes", w.index.weights.bytes),
		zap.Int("seals", len(w.seals.records)), zap.String("writer", w.writers.own.id))
}

// clock goes on behind every stamp that was found. Where nothing is owed any
// more, one that is far ahead of the wall clock is given up: a writer's stamps
// are compared with its own only, and this open has a writer of its own.
func (r *recovery) clock() clock {
	w := r.w
	c := newClock(max(r.mark.stamp, r.stamp))
	by := c.ahead()
	switch {
	case by <= FarAhead:
		return c
	case w.index.entries > 0 || len(w.seals.records) > 0:
		w.clock = c
		w.complainLocked()
		return c
	}
	w.opts.Logger.Warn("Stamps of the queue were far ahead of the wall clock: since nothing is owed they begin with the wall clock again",
		zap.Duration("ahead", by))
	return newClock(0)
}

// deleteOrphans removes spacers that a storage without transactions left.
//
// Crash before this: the next open finds them. Crash after it: they are gone.
func (w *WAL) deleteOrphans(keys []string) {
	c := nothing("wal:orphans")
	c.done = make(chan error, 1)
	c.build = func(s *step) { s.deletes = append(s.deletes, keys...) }
	_ = w.send(c)
}

// entry takes in the frame stored under seq. Entries come in order.
func (r *recovery) entry(seq uint64, raw []byte) error {
	r.maxSeq = max(r.maxSeq, seq)
	h, err := parseHeader(raw, seq)
	if errors.Is(err, errFrameVersion) && !r.marked {
		return fmt.Errorf("entry %d: %w: %w", seq, ErrFormat, err)
	}
	if err != nil {
		r.found = append(r.found, Damage{Kind: "entry", Seq: seq, Bytes: len(raw), Reason: err.Error()})
		return nil
	}
	wr := r.w.writers.named(r.w.names.of(h.writer))
	r.backlog.add(&h, r.w.names, wr.id, int64(len(raw)), seq)
	if g := &r.group; len(g.entries) > 0 && (g.stamp != h.stamp || g.writer != wr || g.segment != h.segment) {
		r.flush()
	}
	r.group.writer, r.group.stamp, r.group.segment = wr, h.stamp, h.segment
	r.group.entries = append(r.group.entries, meta{
		seq: seq, bytes: int64(len(raw)), items: int64(h.items), requestStart: h.requestStart,
	})
	r.stamp = max(r.stamp, h.stamp)
	r.segment = max(r.segment, h.segment)
	return nil
}

func (r *recovery) flush() {
	if len(r.group.entries) > 0 {
		r.w.index.add(&r.group)
		r.group.entries = r.group.entries[:0]
	}
}

// seal, writer and aside take in the other records.
func (r *recovery) seal(id uint64, raw []byte) error {
	s := &r.w.seals
	s.next = max(s.next, id+1)
	rec, err := decodeSeal(raw, id)
	if err != nil {
		return r.spoiled("seal", id, raw, err)
	}
	s.records[id] = rec
	return nil
}

func (r *recovery) writer(number uint64, raw []byte) error {
	id, info, err := decodeWriter(raw, number)
	if err != nil {
		r.w.writers.reserve(number)
		return r.spoiled("writer", number, raw, err)
	}
	r.w.writers.adopt(number, id, info)
	return nil
}

func (r *recovery) aside(number uint64, size int) {
	a := &r.w.asides
	for len(a.sizes) > 0 && number > a.next { // a hole
		a.sizes = append(a.sizes, 0)
		a.next++
	}
	if len(a.sizes) == 0 {
		a.low = number
	}
	a.sizes = append(a.sizes, int64(size))
	a.bytes += int64(size)
	a.next = number + 1
}

// spoiled reports a record that is damaged; another version's fails the open.
func (r *recovery) spoiled(kind string, number uint64, raw []byte, err error) error {
	if errors.Is(err, ErrFormat) {
		return fmt.Errorf("read %s %d: %w", kind, number, err)
	}
	r.found = append(r.found, Damage{Kind: kind, Seq: number, Bytes: len(raw), Reason: err.Error()})
	return nil
}

// walk visits every key of a storage that can list them.
func (r *recovery) walk(ctx context.Context, walker storage.Walker) error {
	err := walker.Walk(ctx, func(key string, value []byte) ([]*storage.Operation, error) {
		n, spacer, ok := parseNumbered(key)
		if !ok {
			return nil, nil
		}
		return nil, r.visit(key, n, spacer, value)
	})
	if errors.Is(err, errUnordered) && r.marked {
		return r.scan(ctx)
	}
	if err != nil {
		return fmt.Errorf("walk through storage: %w", err)
	}
	return nil
}

// errUnordered: the storage walks in another order than that of the keys.
var errUnordered = errors.New("the storage does not walk in key order")

func (r *recovery) visit(key string, n uint64, spacer bool, value []byte) error {
	switch key[:1] {
	case entryPrefix:
		if spacer {
			if n != r.prev {
				r.orphans = append(r.orphans, key)
			}
			return nil
		}
		if n <= r.prev {
			return errUnordered
		}
		r.prev = n
		return r.entry(n, value)
	case sealPrefix:
		return r.seal(n, value)
	case writerPrefix:
		return r.writer(n, value)
	case asidePrefix:
		r.aside(n, len(value))
	}
	return nil
}

// scan reads the ranges that the mark names, for a storage without a Walker.
func (r *recovery) scan(ctx context.Context) error {
	r.reset()
	m := &r.mark
	for _, part := range []struct {
		prefix string
		span   span
	}{{writerPrefix, m.writers}, {sealPrefix, m.seals}, {asidePrefix, m.asides}, {entryPrefix, m.seqs}} {
		if err := r.scanRange(ctx, part.prefix, part.span); err != nil {
			return err
		}
	}
	return nil
}

// reset forgets what an unordered walk has found so far.
func (r *recovery) reset() {
	fresh := newWAL(r.w.opts)
	w := r.w
	w.index, w.seals, w.asides, w.writers = fresh.index, fresh.seals, fresh.asides, fresh.writers
	w.writers.low, w.writers.next = math.MaxUint64, 1
	*r = recovery{w: w, mark: r.mark, marked: r.marked}
}

const scanKeys = 64

func (r *recovery) scanRange(ctx context.Context, prefix string, s span) error {
	keys := uint64(1)
	for low := s.low; low < s.next; {
		keys = min(keys, s.next-low)
		ops := make([]*storage.Operation, keys)
		for i := range ops {
			ops[i] = storage.GetOperation(numbered(prefix, low+uint64(i)))
		}
		if err := r.w.client.Batch(ctx, ops...); err != nil {
			return fmt.Errorf("read storage: %w", err)
		}
		size := 0
		for i, op := range ops {
			size += len(op.Value)
			if op.Value == nil {
				continue
			}
			if err := r.visit(op.Key, low+uint64(i), false, op.Value); err != nil {
				return err
			}
		}
		low += keys
		if size < readBytes/2 {
			keys = min(2*keys, scanKeys)
		} else {
			keys = max(1, keys/2)
		}
	}
	return nil
}
