package window

import (
	"context"
	"time"

	"github.com/s3window/s3window/internal/window/sealed"
)

// idleAfter is how long a partition that owes nothing is remembered. One that
// comes back has its head read again.
const idleAfter = 10 * time.Minute

// Run moves records until Shutdown, or until ctx ends; then it returns with all
// its goroutines ended. What is not committed stays in the queue. Run is called
// once.
func (r *Runtime) Run(ctx context.Context) error {
	defer close(r.done)
	defer r.cancel()
	readCtx, stopReading := context.WithCancel(r.ctx)
	defer stopReading()
	r.clock = r.now()
	for _, p := range r.parts {
		r.recover(p)
	}
	r.workers++
	go r.readAll(readCtx)

	tick := time.NewTicker(r.tickEvery())
	defer tick.Stop()
	defer r.alarms.timer.Stop()
	stop, expired := r.stop, (<-chan time.Time)(nil)
	for {
		select {
		case f := <-r.events:
			f()
		case <-r.alarms.timer.C:
			r.alarms.ring()
		case <-tick.C:
			r.tick()
		case <-r.full:
		case <-stop:
			stop = nil
			if !r.opt.Volatile {
				stopReading()
			}
			r.drain()
			expired = time.After(r.opt.Grace)
		case <-expired:
			return r.finish()
		case <-ctx.Done():
			return r.finish()
		case <-r.ctx.Done():
			return r.finish()
		}
		r.relieve()
		if r.draining && r.drained() {
			return r.finish()
		}
	}
}

// tick does what time alone asks for.
func (r *Runtime) tick() {
	r.clock = r.now()
	r.makeWay()
	r.advance()
	r.keepShares()
	r.catchUp()
	r.forget()
	r.snapshot()
	if r.draining && r.opt.Volatile {
		r.drain()
	}
}

// finish ends the workers and takes their last results.
func (r *Runtime) finish() error {
	r.cancel()
	for r.workers > 0 {
		f := <-r.events
		f()
	}
	r.snapshot()
	return nil
}

// advance seals what is due, finishes the windows of earlier processes that the
// reader has passed, and drops the seals that it found empty.
func (r *Runtime) advance() {
	if r.clock.Safe.Time >= r.passDue {
		r.passAll()
	}
	for _, d := range r.policy.Advance(r.clock) {
		r.seal(r.parts[d.Key], d.Reason)
	}
	r.trimDiscards()
}

// trimDiscards removes entries that were committed before they were read, or
// that the operator wants dropped.
//
// Crash before this: they are dropped again. Crash after it: they are gone, and
// a committed window has the records of those that were not to be lost.
func (r *Runtime) trimDiscards() {
	if r.trimming || len(r.discards) == 0 {
		return
	}
	seqs := r.discards
	r.discards, r.trimming = nil, true
	r.work(func(ctx context.Context) func() {
		_ = r.flusher.Persist(ctx, sealed.Trim, func() error { return r.opt.Queue.Trim(ctx, seqs) })
		return func() { r.trimming = false }
	})
}

// forget drops partitions that owe nothing and were not used for a while.
func (r *Runtime) forget() {
	for k, p := range r.parts {
		if !p.idle() || time.Since(p.lastUse) <= idleAfter {
			continue
		}
		if o, ok := r.backlog[k]; ok && r.owes(p, o) {
			continue
		}
		delete(r.backlog, k)
		delete(r.parts, k)
		delete(r.unhealthy, p)
	}
}

// drain seals what is worth a commit at shutdown.
func (r *Runtime) drain() {
	r.draining = true
	for _, d := range r.policy.AtShutdown(r.safe().Time, r.opt.Volatile) {
		r.seal(r.parts[d.Key], d.Reason)
	}
}

// drained says that nothing is left to commit: nothing sealed, and in a queue
// that does not survive nothing at all.
func (r *Runtime) drained() bool {
	r.owed(func(*part) {})
	if len(r.owing) > 0 || r.trimming {
		return false
	}
	return !r.opt.Volatile || r.allTaken()
}

// allTaken says that no entry is anywhere but in committed windows.
func (r *Runtime) allTaken() bool {
	for _, p := range r.parts {
		if !p.idle() && !p.want.Parked {
			return false
		}
	}
	return !r.unread()
}
