package wal

import (
	"errors"
	"time"

	"go.uber.org/zap"
)

// settle makes a durable step visible: first to the reader, then to the callers.
func (w *WAL) settle(s *step) {
	w.mu.Lock()
	freed := w.settleLocked(s)
	w.mu.Unlock()
	w.room.give(w.opts.Sizer.of(freed))
	for _, r := range s.reqs {
		r.done <- nil
	}
	for _, c := range s.ctls {
		c.done <- nil
	}
	for _, t := range s.complete {
		t.done <- nil
	}
}

func (w *WAL) settleLocked(s *step) weights {
	w.writers.own.durable = w.writers.own.durable || s.registers
	w.discards = w.discards[s.discards:]
	if g := s.group; g != nil {
		w.index.add(&g.run)
		g.run.entries = nil
		w.reader.offer(g)
		w.inflight = nil
		w.counts.groups++
		w.counts.appended += int64(len(g.entries))
		close(w.readable)
		w.readable = make(chan struct{})
	}
	var freed weights
	for _, c := range s.ctls {
		freed.add(c.applied())
	}
	gone, complete := w.trims.settled(s.trims)
	for _, k := range gone {
		if k.slot == entrySlot {
			freed.add(w.removeLocked(k.seq))
		}
	}
	s.complete = complete
	if s.trims > 0 {
		w.fullUntil = time.Time{}
	}
	return freed
}

// removeLocked takes an entry out of the index.
func (w *WAL) removeLocked(seq uint64) weights {
	freed := w.index.remove(seq)
	w.writers.changed = true
	return freed
}

// failed deals with a Batch that gave an error: it may have been applied or
// not. The sequence numbers of its appends are not used again, and what it may
// have left under them is deleted with the next write that succeeds.
func (w *WAL) failed(s *step, err error) {
	w.mu.Lock()
	if isFull(err) {
		w.fullUntil = time.Now().Add(fullPause)
	}
	if w.ctx.Err() != nil {
		err = errors.Join(ErrUnknown, err)
	}
	reqs := s.reqs
	if g := s.group; g != nil {
		w.discardLocked(g.first, g.last)
		w.inflight = nil
		w.counts.failed++
	}
	if w.fullLocked() != nil {
		reqs = append(reqs, w.pending...)
		w.pending = nil
	}
	w.trims.failed(s.trims, err)
	w.mu.Unlock()
	for _, r := range reqs {
		w.release(r)
		r.done <- err
	}
	if len(s.ctls) == 1 && s.group == nil && s.trims == 0 {
		s.ctls[0].done <- err
		return
	}
	for _, c := range s.ctls {
		w.alone(c)
	}
}

// alone tries a control without whatever it shared a failed Batch with.
func (w *WAL) alone(c *control) {
	s := &step{ctls: []*control{c}}
	w.mu.Lock()
	c.build(s)
	w.sealStepLocked(s)
	w.mu.Unlock()
	if err := w.client.Batch(w.ctx, w.operations(s)...); err != nil {
		c.done <- err
		return
	}
	w.settle(s)
}

// do runs a control in the committer and awaits it, or ctx. When ctx ends
// first the control goes on.
func (w *WAL) do(c *control, cancelled <-chan struct{}) error {
	c.done = make(chan error, 1)
	if err := w.send(c); err != nil {
		return err
	}
	select {
	case err := <-c.done:
		return err
	case <-cancelled:
		return ErrUnknown
	}
}

func (w *WAL) send(c *control) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return ErrClosed
	}
	w.controls = append(w.controls, c)
	w.poke()
	return nil
}

func (w *WAL) discardLocked(first, last uint64) {
	if n := len(w.discards); n > 0 && w.discards[n-1].last+1 == first {
		w.discards[n-1].last = last
		return
	}
	w.discards = append(w.discards, seqRange{first, last})
}

// nothing is a control that changes nothing; its users change that.
func nothing(label string) *control {
	return &control{label: label, build: func(*step) {}, applied: func() weights { return weights{} }}
}

// takeDiscardsLocked lets some discards ride along. Those that are cut are put
// back in halves, so that what rode is a prefix of the list.
func (w *WAL) takeDiscardsLocked(s *step) {
	budget := uint64(trimKeys / keysPerEntry)
	for i := 0; i < len(w.discards) && budget > 0; i++ {
		r := w.discards[i]
		if n := r.last - r.first + 1; n > budget {
			rest := seqRange{r.first + budget, r.last}
			r.last = r.first + budget - 1
			w.discards[i] = r
			w.discards = append(w.discards[:i+1], append([]seqRange{rest}, w.discards[i+1:]...)...)
		}
		budget -= r.last - r.first + 1
		for seq := r.first; seq <= r.last; seq++ {
			s.deletes = appendKeys(s.deletes, seq, true)
		}
		s.discards = i + 1
	}
}

// label calls Options.Step for every kind of change in the step.
func (w *WAL) label(s *step, suffix string) {
	if s.group != nil {
		w.opts.Step("wal:append" + suffix)
	}
	for _, c := range s.ctls {
		w.opts.Step(c.label + suffix)
	}
	if s.trims > 0 {
		w.opts.Step("wal:trim" + suffix)
	}
}

func (w *WAL) logDamage(d *Damage) {
	w.opts.Logger.Error("Damaged value in the queue's storage is set aside",
		zap.String("kind", d.Kind), zap.Uint64("seq", d.Seq), zap.String("tenant", d.Tenant),
		zap.String("signal", d.Signal), zap.String("reason", d.Reason))
	w.opts.OnDamage(*d)
}

func appendKeys(keys []string, seq uint64, spaced bool) []string {
	if spaced {
		for k := range len(spacers) {
			keys = append(keys, spacerKey(seq, k))
		}
	}
	return append(keys, numbered(entryPrefix, seq))
}
