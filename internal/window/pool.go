package window

import (
	"context"
	"time"
)

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

// next is the partition's first window that waits for its flush.
func (p *part) next() *sealedWindow {
	now := time.Now()
	for _, w := range p.queue {
		if w.progress == waiting && *w.staging == 0 && !w.notYet.After(now) {
			return w
		}
	}
	return nil
}

// dispatch gives free places of the pool to the partitions in line, one window
// each in turn. Partitions whose last flush did not go through share at most
// half of the pool, so that a bucket that is gone does not hold up the others.
func (r *Runtime) dispatch() {
	for r.active < r.opt.Consumers && len(r.inLine) > 0 {
		p := r.inLine[0]
		r.inLine = r.inLine[1:]
		w := p.next()
		if p.restarting || w == nil {
			p.queued = false
			continue
		}
		if p.failing() && r.failing >= max(1, r.opt.Consumers/2) {
			r.deferred = append(r.deferred, p)
			continue
		}
		p.queued = false
		r.flush(p, w)
		r.enqueue(p)
	}
}

// flush gives the window to a goroutine of the pool.
func (r *Runtime) flush(p *part, w *sealedWindow) {
	failing := p.failing()
	r.active++
	if failing {
		r.failing++
	}
	w.progress = uploading
	w.held, _ = w.heldNow()
	ctx, cancel := context.WithCancel(r.ctx)
	w.cancel = cancel
	r.work(func(context.Context) func() {
		op, err := r.upload(ctx, w)
		return func() {
			cancel()
			r.active--
			if failing {
				r.failing--
				r.inLine = append(r.inLine, r.deferred...)
				r.deferred = nil
			}
			r.flushed(p, w, op, err)
			r.dispatch()
		}
	})
}

// flushed takes the outcome of a flush up to the upload.
func (r *Runtime) flushed(p *part, w *sealedWindow, op string, err error) {
	if err == nil {
		w.progress, w.tries = uploaded, 0
		w.uploadedAt = time.Now()
		if w.result.records > 0 {
			p.learn(w.result.bytes, w.raw)
		}
		r.mend(p, "seal", "encode", "upload")
	} else {
		w.progress = waiting
	}
	switch {
	case p.restarting:
		r.restart(p)
	case err == nil:
		r.settle(p)
	case isTooLarge(err):
		// The expectation was off: the bounds are decided anew with what the
		// encoder has seen of the window.
		w.abandon = true
		p.ratio = max(p.ratio, w.ratio)
		r.restart(p)
	case r.ctx.Err() == nil:
		r.fail(p, op, err)
		r.opt.Observer.Retried(op, p.tenant, p.signal)
		r.retry(&w.backoff, func() { r.line(p) })
	}
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
	r.work(func(ctx context.Context) func() {
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-t.C:
		case <-ctx.Done():
			return func() {}
		}
		return f
	})
}
