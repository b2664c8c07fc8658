package window

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/s3window/s3window/internal/flush"
)

// idleAfter is how long a partition that owes nothing is remembered. One that
// comes back has its head read again.
const idleAfter = 10 * time.Minute

// Run moves records until Shutdown, or until ctx ends; then it returns with all
// its goroutines ended. What is not committed stays in the WAL. Run is called
// once.
func (r *Runtime) Run(ctx context.Context) error {
	defer close(r.done)
	defer r.cancel()
	readCtx, stopReading := context.WithCancel(r.ctx)
	defer stopReading()
	for _, p := range r.parts {
		r.recover(p)
	}
	r.workers++
	go r.read(readCtx)

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
			r.makePlace()
			r.advance(r.safe())
			r.forget()
			r.snapshot()
		case <-r.full:
		case <-stop:
			stop = nil
			stopReading()
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

func (r *Runtime) tickEvery() time.Duration {
	return min(max(cmp.Or(r.opt.Tick, r.opt.Policy.MaxAge/10), 20*time.Millisecond), time.Second)
}

// advance seals what is due when the WAL has come to now, finishes the windows
// of earlier processes that it has passed, and drops the seals it found empty.
func (r *Runtime) advance(now flush.Point) {
	if now.Time >= r.pinsDue {
		r.passAllPins(now)
	}
	for _, d := range r.policy.Advance(now) {
		r.seal(r.parts[d.Key], d.Reason)
	}
	r.trimDiscards()
}

// passAllPins does passPins for every partition with seals of an earlier
// process, and finds out when to do so next: at the first end that the WAL
// comes to. Partitions whose heads are read now ask for it then.
func (r *Runtime) passAllPins(now flush.Point) {
	r.pinsDue = math.MaxInt64
	r.pinned = slices.DeleteFunc(r.pinned, func(p *part) bool {
		r.passPins(p, now)
		if !p.known {
			return false
		}
		if w := p.open; w != nil && w.pinned != nil {
			r.pinsDue = min(r.pinsDue, w.pinned.End)
			return false
		}
		if len(p.pins) > 0 {
			r.pinsDue = min(r.pinsDue, p.pins[0].End)
		}
		return len(p.pins) == 0
	})
}

// passPins finishes the partition's rebuilt window if the WAL has passed its
// end, and drops the seals of which nothing was left.
func (r *Runtime) passPins(p *part, now flush.Point) {
	if !p.known || len(p.waiting) > 0 {
		return
	}
	if w := p.open; w != nil && w.pinned != nil && w.pinned.End <= now.Time {
		r.seal(p, w.pinned.Reason)
	}
	for len(p.pins) > 0 && p.pins[0].End <= now.Time {
		r.dropSeal(p.pins[0])
		p.pins = p.pins[1:]
	}
}

// dropSeal deletes a seal of which no entry is left: they were trimmed before
// the process that sealed them ended, or set aside.
//
// Crash before this: the next start finds the seal empty again. Crash after it:
// nothing is left of the window in the WAL.
func (r *Runtime) dropSeal(q *pin) {
	r.work(func(ctx context.Context) func() {
		err := r.persist(ctx, "delete seal", func() error { return r.opt.Queue.DeleteSeal(ctx, q.id) })
		return func() {
			if err == nil {
				r.logger.Info("Seal without entries dropped", zap.String("tenant", q.Tenant),
					zap.String("signal", string(q.Signal)), zap.Int64("start", q.Start), zap.Int64("end", q.End))
			}
		}
	})
}

// trimDiscards removes entries that were committed before they were read.
//
// Crash before this: they are dropped again. Crash after it: they are gone, and
// a committed window has their records.
func (r *Runtime) trimDiscards() {
	if r.trimming || len(r.discards) == 0 {
		return
	}
	seqs := r.discards
	r.discards, r.trimming = nil, true
	r.work(func(ctx context.Context) func() {
		_ = r.persist(ctx, "trim", func() error { return r.opt.Queue.Trim(ctx, seqs) })
		return func() { r.trimming = false }
	})
}

// forget drops partitions that owe nothing and were not used for a while.
func (r *Runtime) forget() {
	for k, p := range r.parts {
		if p.idle() && time.Since(p.lastUse) > idleAfter {
			delete(r.parts, k)
			delete(r.unhealthy, p)
		}
	}
}
