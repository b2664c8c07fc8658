package window

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"go.uber.org/zap"

	"github.com/s3window/s3window/internal/flush"
	"github.com/s3window/s3window/internal/partition"
	"github.com/s3window/s3window/internal/window/sealed"
)

// takeSeals gives the seals of earlier processes to their partitions.
func (r *Runtime) takeSeals() error {
	for _, s := range r.opt.Queue.Seals() {
		d, err := sealed.DecodeSeal(s.Value)
		if err != nil {
			return fmt.Errorf("read seal %d of the queue: %w", s.ID, err)
		}
		d.Spec = r.shared(d.Spec)
		p := r.part(key{d.Tenant, d.Signal})
		p.pins = append(p.pins, &pin{s.ID, d})
	}
	for _, p := range r.parts {
		p.dropTwins()
		r.rebuilding = append(r.rebuilding, p)
	}
	return nil
}

// dropTwins drops seals that reach into a later one, and those of windows that
// the operator wants dropped. The write of a twin gave an error and took effect
// all the same; nothing was uploaded for it, and the process went on with the
// later one.
func (p *part) dropTwins() {
	slices.SortFunc(p.pins, func(a, b *pin) int { return cmp.Compare(b.id, a.id) })
	kept := p.pins[:0:0]
	for _, q := range p.pins {
		twin := slices.ContainsFunc(kept, func(k *pin) bool { return k.Overlaps(&q.Seal) })
		if twin || q.Start < p.want.DropBefore {
			p.drop = append(p.drop, q.id)
			continue
		}
		kept = append(kept, q)
	}
	p.pins = kept
	p.sortPins()
}

func (p *part) sortPins() {
	slices.SortFunc(p.pins, func(a, b *pin) int { return cmp.Compare(a.Start, b.Start) })
}

// recover has the partition's heads read, unless that is under way: what its
// writers have committed, in the lake of the configuration and in every other
// one that an earlier process may have filed its records in. Until all of them
// have answered nothing of the partition is put into a window.
func (r *Runtime) recover(p *part) {
	if p.state != unread || p.want.Parked || r.draining && !r.opt.Volatile || r.ctx.Err() != nil || p.heads.waits() {
		return
	}
	dests, err := r.destinations(p)
	if err != nil {
		r.fail(p, sealed.OpenLake, err)
		r.opt.Observer.Retried(sealed.OpenLake, p.tenant, p.signal)
		r.retry(&p.heads, func() { r.recover(p) })
		return
	}
	r.enter(p, reading)
	writers, oldest, drop := r.writersOf(p, r.oldestWriter(p)), r.oldestStamp(p), p.drop
	r.work(func(ctx context.Context) func() {
		err := r.readHeads(ctx, dests, writers, oldest)
		if err == nil && len(drop) > 0 {
			err = r.flusher.Persist(ctx, sealed.DeleteSeal, func() error { return r.deleteSeals(ctx, drop) })
		}
		return func() { r.recovered(p, dests, err) }
	})
}

// oldestWriter is the oldest earlier process that the partition owes records
// of, an index of Runtime.writers. It and all later ones may have committed some
// of them, each where it filed its windows.
func (r *Runtime) oldestWriter(p *part) int {
	first := len(r.writers)
	if o, ok := r.backlog[p.key]; ok && r.owes(p, o) {
		first = o.first
	}
	for i, w := range r.writers {
		if slices.ContainsFunc(p.pins, func(q *pin) bool { return q.Writer == w.id }) {
			return min(first, i)
		}
	}
	return first
}

// owes says that some of the backlog that earlier processes left of the
// partition may still be owed.
func (r *Runtime) owes(p *part, o owed) bool {
	if !r.read(o) {
		return true
	}
	first, ok := p.oldest()
	return ok && first.Seq <= o.last
}

// oldestStamp is a stamp that no entry of the partition lies before. Entries
// that are not read yet may lie before its first seal: of two seals the later
// one can have become durable alone.
func (r *Runtime) oldestStamp(p *part) int64 {
	oldest := r.safe().Time
	if o, ok := r.backlog[p.key]; ok && r.owes(p, o) {
		oldest = min(oldest, o.stamp)
	}
	if first, ok := p.oldest(); ok {
		oldest = min(oldest, first.Time)
	}
	if len(p.pins) > 0 {
		oldest = min(oldest, p.pins[0].Start)
	}
	return oldest
}

// destinations are the commit logs that may know records of the partition.
func (r *Runtime) destinations(p *part) (map[origin]*destination, error) {
	origins := map[origin]struct{}{{r.opt.Sink, r.opt.Target(p.tenant, p.signal).Lake}: {}}
	for _, w := range r.writers[r.oldestWriter(p):] {
		if at := w.origins.of(p.tenant); at.ref.Bucket != "" {
			origins[at] = struct{}{}
		}
	}
	for _, q := range p.pins {
		origins[origin{q.Sink, q.Lake}] = struct{}{}
	}
	dests := make(map[origin]*destination, len(origins))
	for o := range origins {
		l, err := r.opt.Open(p.tenant, o.ref)
		if err != nil {
			return nil, fmt.Errorf("open lake %s: %w", o.ref, err)
		}
		id := partition.ID{Sink: o.sink, Tenant: p.tenant, Signal: p.signal}
		dests[o] = newDestination(o, l, r.opt.Log(l, id))
	}
	return dests, nil
}

// readHeads fills in what every log knows of writers. oldest is the stamp of
// the oldest entry that is owed.
func (r *Runtime) readHeads(ctx context.Context, dests map[origin]*destination, writers []string, oldest int64) error {
	select {
	case r.heads <- struct{}{}:
		defer func() { <-r.heads }()
	case <-ctx.Done():
		return ctx.Err()
	}
	for _, d := range dests {
		ends, err := d.Log.Read(ctx)
		if err != nil {
			return fmt.Errorf("read head in lake %s: %w", d.ref, err)
		}
		for _, writer := range writers {
			end, ok := ends.End(writer)
			if !ok {
				if end, err = d.Log.Resolve(ctx, writer, oldest); err != nil {
					return fmt.Errorf("look for writer %q in lake %s: %w", writer, d.ref, err)
				}
			}
			d.ends[writer] = end
		}
	}
	return nil
}

// deleteSeals deletes the seals of windows that are committed, or whose bounds
// are decided again.
//
// Crash before this, or in its middle: the next process finds them, and decides
// by the heads that they hold no more. Crash after it: they are gone.
func (r *Runtime) deleteSeals(ctx context.Context, ids []uint64) error {
	for _, id := range ids {
		if err := r.opt.Queue.DeleteSeal(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// recovered takes the heads, settles which seals of earlier processes still
// hold, and admits what waited.
func (r *Runtime) recovered(p *part, dests map[origin]*destination, err error) {
	if err != nil {
		r.enter(p, unread)
		if r.ctx.Err() == nil {
			r.fail(p, sealed.ReadHead, err)
			r.opt.Observer.Retried(sealed.ReadHead, p.tenant, p.signal)
			r.retry(&p.heads, func() { r.recover(p) })
		}
		return
	}
	p.dests, p.drop = dests, nil
	if obsolete := p.obsoletePins(); len(obsolete) > 0 {
		// Their seals must be gone before other windows are sealed over them.
		p.drop = obsolete
		r.enter(p, unread)
		r.recover(p)
		return
	}
	r.enter(p, live)
	r.mend(p, sealed.ReadHead, sealed.OpenLake, sealed.Encode, sealed.Upload, sealed.Commit)
	r.admitWaiting(p)
	r.passDue = math.MinInt64
	r.clock = r.now()
	r.advance()
	r.catchUp()
	r.dispatch()
}

// admitWaiting admits what waited. Nothing of the partition is before it.
func (r *Runtime) admitWaiting(p *part) {
	waiting := p.waiting
	p.waiting = nil
	for i := range waiting {
		r.admit(p, &waiting[i])
	}
	r.grown(p)
}

// obsoletePins removes the seals of which something is committed from the
// partition, and returns their ids. A window that is committed whole needs no
// seal. One that is committed in part was cut otherwise by the process of a
// copied queue: what is left of it becomes another window.
func (p *part) obsoletePins() []uint64 {
	var ids []uint64
	p.pins = slices.DeleteFunc(p.pins, func(q *pin) bool {
		if q.Start >= p.committed(q.Writer) {
			return false
		}
		ids = append(ids, q.id)
		return true
	})
	return ids
}

// passAll drops the seals of which the reader found nothing, and finds out when
// to do so next: at the first end that it comes to. Partitions that are behind
// have it done when their entries are read.
func (r *Runtime) passAll() {
	r.passDue = math.MaxInt64
	r.rebuilding = slices.DeleteFunc(r.rebuilding, func(p *part) bool {
		if p.state != live || p.behind() {
			return len(p.pins) == 0 && p.state == live
		}
		r.pass(p, r.clock.Safe)
		if len(p.pins) > 0 {
			r.passDue = min(r.passDue, p.pins[0].End)
		}
		return len(p.pins) == 0
	})
}

// pass drops the partition's seals that end before the point up to which its
// entries were read, and of which nothing was left.
func (r *Runtime) pass(p *part, read flush.Point) {
	for len(p.pins) > 0 && p.pins[0].End <= read.Time {
		r.dropSeal(p.pins[0])
		p.pins = p.pins[1:]
	}
}

// dropSeal deletes a seal of which no entry is left: they were trimmed before
// the process that sealed them ended, or set aside.
//
// Crash before this: the next start finds the seal empty again. Crash after it:
// nothing is left of the window in the queue.
func (r *Runtime) dropSeal(q *pin) {
	r.work(func(ctx context.Context) func() {
		err := r.flusher.Persist(ctx, sealed.DeleteSeal, func() error { return r.opt.Queue.DeleteSeal(ctx, q.id) })
		return func() {
			if err == nil {
				r.logger.Info("Seal without entries dropped", zap.String("tenant", q.Tenant),
					zap.String("signal", string(q.Signal)), zap.Int64("start", q.Start), zap.Int64("end", q.End))
			}
		}
	})
}
