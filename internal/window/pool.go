package window

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/s3window/s3window/internal/window/sealed"
)

// patience is how long a step may take, or go wrong, before others stop waiting
// for it.
const patience = 10 * time.Second

// flushing is a window on its way to the bucket.
type flushing struct {
	window   *sealed.Window
	durable  *sealed.Durable  // once its seal is
	uploaded *sealed.Uploaded // once its objects are in the bucket
	to       *destination
	flight   *flight // while a goroutine brings it further
	void     bool    // its bounds are to be decided again
}

// flight is a flush that a goroutine of the pool has.
type flight struct {
	stop  context.CancelFunc
	since time.Time
	part  *part
	held  int64 // by the window's units when it began
	slow  bool  // it takes longer than patience
	aside bool  // it stands in the share of those that do not go through
}

func (f *flushing) flying() bool { return f.flight != nil }

// waits says that the window waits for its turn in the pool, or for a retry.
func (f *flushing) waits() bool { return f.uploaded == nil && !f.flying() && !f.window.Busy() }

// cancel has a flight end soon.
func (f *flushing) cancel() {
	if f.flying() {
		f.flight.stop()
	}
}

// lines are the partitions that wait for the pool, and who is in it.
type lines struct {
	ready   []*part // whose windows wait, in turn
	failing []*part // that wait for a place of their own
	flights []*flight
	active  int // windows in the pool
	aside   int // windows that do not go through, beside it
}

// count is the count of the share of the pool that a flush stands in.
func (l *lines) count(aside bool) *int {
	if aside {
		return &l.aside
	}
	return &l.active
}

// line puts the partition into the line for the pool if a window of it waits.
func (r *Runtime) line(p *part) {
	r.enqueue(p)
	r.dispatch()
}

func (r *Runtime) enqueue(p *part) {
	if !p.queued && p.state == live && p.nextFlush() != nil {
		p.queued = true
		r.lines.ready = append(r.lines.ready, p)
	}
}

// nextFlush is the partition's first window that waits for its flush. While
// flushes do not go through, one window at a time tries for all.
func (p *part) nextFlush() *flushing {
	if p.flushes.tries > 0 && (p.flushes.waits() || slices.ContainsFunc(p.queue, (*flushing).flying)) {
		return nil
	}
	for _, f := range p.queue {
		if f.waits() {
			return f
		}
	}
	return nil
}

// dispatch gives free places of the pool to the partitions in line, one window
// each in turn. Partitions that fail have places of their own, half as many, so
// that a bucket that is gone or hangs does not hold up the others.
func (r *Runtime) dispatch() {
	if r.ctx.Err() != nil {
		return
	}
	l := &r.lines
	for l.active < r.opt.Uploads && len(l.ready) > 0 {
		p := l.ready[0]
		l.ready = l.ready[1:]
		if p.failing() || p.slow > 0 {
			l.failing = append(l.failing, p)
			continue
		}
		r.flushNext(p, false)
	}
	for l.aside < r.places() && len(l.failing) > 0 {
		p := l.failing[0]
		l.failing = l.failing[1:]
		r.flushNext(p, true)
	}
}

// places is how many flushes that do not go through may run beside the pool.
func (r *Runtime) places() int { return max(1, r.opt.Uploads/2) }

// flushNext flushes one window of a partition that was in line.
func (r *Runtime) flushNext(p *part, aside bool) {
	p.queued = false
	if f := p.nextFlush(); f != nil && p.state == live {
		r.flush(p, f, aside)
		r.enqueue(p)
	}
}

// flush gives the window to a goroutine of the pool.
func (r *Runtime) flush(p *part, f *flushing, aside bool) {
	ctx, cancel := context.WithCancel(r.ctx)
	held, _ := f.window.Held()
	f.flight = &flight{stop: cancel, since: time.Now(), part: p, held: held, aside: aside}
	*r.lines.count(aside)++
	r.lines.flights = append(r.lines.flights, f.flight)
	probe := p.failing()
	r.work(func(context.Context) func() {
		durable, uploaded, err := r.fly(ctx, f, probe)
		return func() {
			cancel()
			if f.durable == nil && durable != nil {
				r.storageFault(sealed.PutSeal, nil)
			}
			f.durable, f.uploaded = durable, uploaded
			r.land(f.flight, f)
			r.flushed(p, f, err)
			r.line(p)
			r.holdOpen(p)
			r.refill()
		}
	})
}

// fly brings a window as far as it comes, up to the upload.
func (r *Runtime) fly(ctx context.Context, f *flushing, probe bool) (*sealed.Durable, *sealed.Uploaded, error) {
	durable := f.durable
	if durable == nil {
		var err error
		if durable, err = r.flusher.Seal(f.window); err != nil {
			return nil, nil, err
		}
	}
	uploaded, err := r.flusher.Upload(ctx, durable, probe)
	return durable, uploaded, err
}

// room is how many more windows the pool takes: as many as it has in hand may
// wait for it. What would wait longer may as well grow.
func (r *Runtime) room() int { return 2*r.opt.Uploads - r.lines.active - len(r.lines.ready) }

// holdOpen has the partition's open window grow while windows before it are on
// their way.
func (r *Runtime) holdOpen(p *part) {
	waits := len(p.queue) >= maxTurn || slices.ContainsFunc(p.queue, func(f *flushing) bool { return f.uploaded == nil })
	r.policy.Wait(p.key, waits)
}

// refill seals what was due before the pool had room for it.
func (r *Runtime) refill() {
	if r.policy.Ripe() && r.room() > r.opt.Uploads/2 {
		r.clock = r.now()
		r.advance()
	}
}

// land takes a flight out of the pool.
func (r *Runtime) land(done *flight, f *flushing) {
	f.flight = nil
	*r.lines.count(done.aside)--
	if done.slow {
		done.part.slow--
	}
	r.lines.flights = slices.DeleteFunc(r.lines.flights, func(other *flight) bool { return other == done })
}

// makeWay moves flushes that take long out of the others' way, as many as the
// pool has places.
func (r *Runtime) makeWay() {
	l := &r.lines
	for _, f := range l.flights {
		if !f.slow && time.Since(f.since) >= patience {
			f.slow = true
			f.part.slow++
		}
		if f.slow && !f.aside && l.aside < r.places()+r.opt.Uploads {
			l.active--
			l.aside++
			f.aside = true
		}
	}
	r.dispatch()
}

// flushed takes the outcome of a flush up to the upload.
func (r *Runtime) flushed(p *part, f *flushing, err error) {
	if err == nil {
		p.flushes.tries, p.unproven = 0, false
		if u := f.uploaded; u.Records > 0 {
			p.learn(u.Bytes, u.Raw)
		}
		r.opt.Damage.put(p.key, f.uploaded.Missing...)
		r.mend(p, sealed.Encode, sealed.Upload)
	} else {
		p.unproven = true
		f.window.CoolBulky()
	}
	if p.state == restarting {
		r.restart(p)
		return
	}
	if err == nil {
		r.settle(p)
		return
	}
	r.flushFailed(p, f, err)
}

// flushFailed decides what becomes of a window that did not get to the bucket.
func (r *Runtime) flushFailed(p *part, f *flushing, err error) {
	if ratio, ok := sealed.IsTooLarge(err); ok {
		// The expectation was off: the bounds are decided again with what the
		// encoder has seen of the window.
		p.ratio = max(p.ratio, ratio)
		r.abandon(p, f, err)
		return
	}
	if errors.As(err, new(*sealed.Taken)) {
		if p.taken == nil {
			p.taken = map[bounds]struct{}{}
		}
		p.taken[bounds{f.window.Writer, f.window.Start, f.window.End}] = struct{}{}
		r.abandon(p, f, err)
		return
	}
	if r.ctx.Err() != nil {
		return
	}
	step := stepOf(err)
	if step == sealed.PutSeal {
		r.storageFault(step, err)
	} else {
		r.fail(p, step, err)
	}
	r.opt.Observer.Retried(step, p.tenant, p.signal)
	r.retry(&p.flushes, func() { r.line(p) })
}

func stepOf(err error) sealed.Step {
	var at *sealed.Error
	if errors.As(err, &at) {
		return at.Step
	}
	return sealed.Upload
}

// abandon has the bounds of the partition's windows decided again, without the
// seal of f.
func (r *Runtime) abandon(p *part, f *flushing, err error) {
	f.void = true
	p.sweepers = append(p.sweepers, f.window.Writer)
	r.fail(p, sealed.Encode, err)
	r.opt.Observer.Retried(sealed.Encode, p.tenant, p.signal)
	r.restart(p)
}

// stands has the partition stand among those with sealed windows.
func (r *Runtime) stands(p *part) {
	if !p.owing {
		p.owing = true
		r.owing = append(r.owing, p)
	}
}

// owed visits the partitions with sealed windows, in the order in which they
// came to have some, and forgets those that have none any more.
func (r *Runtime) owed(visit func(p *part)) {
	kept := r.owing[:0]
	for _, p := range r.owing {
		if len(p.queue) == 0 {
			p.owing = false
			continue
		}
		kept = append(kept, p)
		visit(p)
	}
	clear(r.owing[len(kept):])
	r.owing = kept
}
