package window

import (
	"context"
	"errors"
	"slices"
	"time"
)

// patience is how long a step may take, or go wrong, before others stop waiting
// for it.
const patience = 10 * time.Second

// flight is a flush that a goroutine of the pool has.
type flight struct {
	cancel context.CancelFunc
	since  time.Time
	part   *part
	slow   bool // it takes longer than patience
	aside  bool // it stands in the share of those that do not go through
}

// line puts the partition into the line for the pool if a window of it waits.
func (r *Runtime) line(p *part) {
	r.enqueue(p)
	r.dispatch()
}

func (r *Runtime) enqueue(p *part) {
	if !p.queued && !p.restarting && p.next() != nil {
		p.queued = true
		r.inLine = append(r.inLine, p)
	}
}

// next is the partition's first window that waits for its flush. While flushes
// do not go through, one window at a time tries for all.
func (p *part) next() *sealedWindow {
	if p.flushes.tries > 0 && (p.flushes.notYet.After(time.Now()) || slices.ContainsFunc(p.queue, (*sealedWindow).inFlight)) {
		return nil
	}
	for _, w := range p.queue {
		if w.progress == waiting && *w.staging == 0 {
			return w
		}
	}
	return nil
}

func (w *sealedWindow) inFlight() bool { return w.progress == uploading }

// dispatch gives free places of the pool to the partitions in line, one window
// each in turn. Partitions that fail have places of their own, half as many, so
// that a bucket that is gone or hangs does not hold up the others.
func (r *Runtime) dispatch() {
	if r.ctx.Err() != nil {
		return
	}
	for r.active < r.opt.Consumers && len(r.inLine) > 0 {
		p := r.inLine[0]
		r.inLine = r.inLine[1:]
		if p.failing() || p.slow > 0 {
			r.deferred = append(r.deferred, p)
			continue
		}
		r.flushNext(p, false)
	}
	for r.aside < r.places() && len(r.deferred) > 0 {
		p := r.deferred[0]
		r.deferred = r.deferred[1:]
		r.flushNext(p, true)
	}
}

// places is how many flushes that do not go through may run beside the pool.
func (r *Runtime) places() int { return max(1, r.opt.Consumers/2) }

// flushNext flushes one window of a partition that was in line.
func (r *Runtime) flushNext(p *part, aside bool) {
	p.queued = false
	if w := p.next(); w != nil && !p.restarting {
		r.flush(p, w, aside)
		r.enqueue(p)
	}
}

// flush gives the window to a goroutine of the pool.
func (r *Runtime) flush(p *part, w *sealedWindow, aside bool) {
	ctx, cancel := context.WithCancel(r.ctx)
	f := &flight{cancel: cancel, since: time.Now(), part: p, aside: aside}
	*r.place(aside)++
	r.flights = append(r.flights, f)
	w.progress, w.flight = uploading, f
	w.held, _ = w.heldNow()
	probe := p.failing()
	r.work(func(context.Context) func() {
		op, err := r.upload(ctx, w, probe)
		return func() {
			cancel()
			*r.place(f.aside)--
			if f.slow {
				p.slow--
			}
			r.flights = slices.DeleteFunc(r.flights, func(g *flight) bool { return g == f })
			w.flight = nil
			r.flushed(p, w, op, err)
			r.line(p)
		}
	})
}

// place is the count of the share of the pool that a flush stands in.
func (r *Runtime) place(aside bool) *int {
	if aside {
		return &r.aside
	}
	return &r.active
}

// makePlace moves flushes that take long out of the others' way, as many as the
// pool has places.
func (r *Runtime) makePlace() {
	for _, f := range r.flights {
		if !f.slow && time.Since(f.since) >= patience {
			f.slow = true
			f.part.slow++
		}
		if f.slow && !f.aside && r.aside < r.places()+r.opt.Consumers {
			r.active--
			r.aside++
			f.aside = true
		}
	}
	r.dispatch()
}

// flushed takes the outcome of a flush up to the upload.
func (r *Runtime) flushed(p *part, w *sealedWindow, op string, err error) {
	if err == nil {
		w.progress, p.flushes.tries = uploaded, 0
		w.uploadedAt = time.Now()
		if w.result.records > 0 {
			p.learn(w.result.bytes, w.raw)
		}
		r.storageFault("seal", nil)
		r.mend(p, "encode", "upload")
	} else {
		w.progress = waiting
		r.coolBulky(w.units)
	}
	var taken *takenError
	switch {
	case p.restarting:
		r.restart(p)
	case err == nil:
		r.settle(p)
	case errors.Is(err, errTooLarge):
		// The expectation was off: the bounds are decided anew with what the
		// encoder has seen of the window.
		p.ratio = max(p.ratio, w.ratio)
		r.abandon(p, w, err)
	case errors.As(err, &taken):
		if p.taken == nil {
			p.taken = map[bounds]struct{}{}
		}
		p.taken[bounds{w.Writer, w.Start, w.End}] = struct{}{}
		r.abandon(p, w, err)
	case r.ctx.Err() == nil:
		if op == "seal" {
			r.storageFault(op, err)
		} else {
			r.fail(p, op, err)
		}
		r.opt.Observer.Retried(op, p.tenant, p.signal)
		r.retry(&p.flushes, func() { r.line(p) })
	}
}

// abandon has the partition's windows decided anew, and the seal of w dropped.
func (r *Runtime) abandon(p *part, w *sealedWindow, err error) {
	w.abandon = true
	p.sweepers = append(p.sweepers, w.Writer)
	r.fail(p, "encode", err)
	r.restart(p)
}

// backoff spaces the attempts of one thing.
type backoff struct {
	tries  int
	notYet time.Time
}

// retry has f called when the next attempt is due.
func (r *Runtime) retry(b *backoff, f func()) {
	d := r.opt.Retry.delay(b.tries)
	b.tries++
	b.notYet = time.Now().Add(d)
	r.alarms.after(d, f)
}
