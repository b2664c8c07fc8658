package window

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/s3window/s3window/internal/partition"
)

// recover has the partition's heads read, unless that is under way: what its
// writers have committed, in the lake of the configuration and in every other
// one that an earlier process may have filed its records in. Until all of them
// have answered nothing of the partition is put into a window.
func (r *Runtime) recover(p *part) {
	if p.known || p.reading || p.restarting || r.draining || r.ctx.Err() != nil || p.heads.notYet.After(time.Now()) {
		return
	}
	dests, err := r.destinations(p)
	if err != nil {
		r.fail(p, "open lake", err)
		r.retry(&p.heads, func() { r.recover(p) })
		return
	}
	p.reading = true
	if !p.failing() {
		p.since = time.Now()
	}
	oldest := r.oldestOf(p)
	drop := p.drop
	r.work(func(ctx context.Context) func() {
		err := r.readHeads(ctx, dests, oldest)
		if err == nil && len(drop) > 0 {
			err = r.persist(ctx, "delete seal", func() error { return r.deleteSeals(ctx, drop) })
		}
		return func() { r.recovered(p, dests, err) }
	})
}

// oldestOf is a stamp that no entry of the partition lies before. Entries that
// are not read yet may lie before its first seal: of two seals the later one
// can have become durable alone.
func (r *Runtime) oldestOf(p *part) int64 {
	stamps := []int64{r.safe().Time}
	if len(p.waiting) > 0 {
		stamps = append(stamps, p.waiting[0].stamp)
	}
	if len(p.pins) > 0 {
		stamps = append(stamps, p.pins[0].Start)
	}
	return slices.Min(stamps)
}

// destinations are the commit logs that may know records of the partition.
func (r *Runtime) destinations(p *part) (map[origin]*destination, error) {
	origins := map[origin]struct{}{{r.opt.Sink, r.opt.Target(p.tenant, p.signal).Lake}: {}}
	for _, o := range r.writers {
		if at := o.of(p.tenant); at.ref.Bucket != "" {
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
		dests[o] = &destination{origin: o, lake: l, log: r.opt.Log(l, id), ends: map[string]int64{}, sealed: map[string]int64{}}
	}
	return dests, nil
}

// readHeads fills in what every log knows of this WAL's writers.
func (r *Runtime) readHeads(ctx context.Context, dests map[origin]*destination, oldest int64) error {
	select {
	case r.heads <- struct{}{}:
		defer func() { <-r.heads }()
	case <-ctx.Done():
		return ctx.Err()
	}
	for _, d := range dests {
		ends, err := d.log.Read(ctx)
		if err != nil {
			return fmt.Errorf("read head in lake %s: %w", d.ref, err)
		}
		// The own writer too: a head forgets it if others come and go.
		for _, writer := range append(slices.Collect(maps.Keys(r.writers)), r.opt.Queue.Writer()) {
			end, ok := ends.End(writer)
			if !ok {
				if end, err = d.log.Resolve(ctx, writer, oldest); err != nil {
					return fmt.Errorf("look for writer %q in lake %s: %w", writer, d.ref, err)
				}
			}
			d.ends[writer] = end
		}
	}
	return nil
}

// deleteSeals deletes the seals of windows that are committed, or that are cut
// anew.
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
	p.reading = false
	if p.restarting {
		r.restart(p)
		return
	}
	switch {
	case err != nil && r.ctx.Err() != nil:
		return
	case err != nil:
		r.fail(p, "read head", err)
		r.retry(&p.heads, func() { r.recover(p) })
		return
	}
	p.dests, p.drop = dests, nil
	if obsolete := r.obsoletePins(p); len(obsolete) > 0 {
		// Their seals must be gone before other windows are sealed over them.
		p.drop = obsolete
		r.recover(p)
		return
	}
	p.known = true
	p.flushes, p.turn = backoff{}, backoff{}
	r.mend(p, "read head", "open lake", "encode", "upload", "commit")
	entries := p.waiting
	p.waiting, p.waitHeld = nil, 0
	for _, e := range entries {
		r.admit(p, e)
	}
	r.grown(p)
	r.pinsDue = math.MinInt64
	r.advance(r.safe())
	r.dispatch()
}

// obsoletePins removes the seals of which something is committed from the
// partition, and gives their ids. A window that is committed whole needs no
// seal. One that is committed in part was cut otherwise by the process of a
// copied WAL: what is left of it becomes another window.
func (r *Runtime) obsoletePins(p *part) []uint64 {
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

// restart has the bounds of the partition's windows decided anew, as a new
// process would: after another process committed records of this WAL, or when
// a window turned out too large for the memory. Windows that are sealed keep
// their seals; the heads decide which of them still hold.
//
// Crash before or after this: the next process does the same from the WAL.
func (r *Runtime) restart(p *part) {
	p.restarting = true
	p.known = false
	for _, w := range p.queue {
		if w.flight != nil {
			w.flight.cancel()
		}
	}
	if p.busy() {
		return // called again by whoever ends
	}
	entries := make([]entry, 0, len(p.waiting))
	for _, w := range p.queue {
		if w.sealed && !w.abandon {
			p.pins = append(p.pins, &pin{w.sealID, w.seal})
		} else if w.sealed {
			p.drop = append(p.drop, w.sealID)
		}
		r.opt.Damage.put(p.key, w.damaged...)
		entries = r.unwind(entries, w.units, w.Writer)
	}
	if w := p.open; w != nil {
		if w.pinned != nil {
			p.pins = append(p.pins, w.pinned)
		}
		entries = r.unwind(entries, w.units, w.writer)
		r.policy.Remove(p.key)
	}
	p.sortPins()
	r.budget.windows(-len(p.queue))
	if p.open != nil {
		r.budget.windows(-1)
	}
	p.queue, p.open = nil, nil
	p.waiting = append(entries, p.waiting...)
	p.restarting = false
	if !slices.Contains(r.pinned, p) {
		r.pinned = append(r.pinned, p)
	}
	if p.heads.tries == 0 {
		p.heads.tries++
		r.recover(p)
		return
	}
	r.retry(&p.heads, func() { r.recover(p) }) // nothing was committed since the last restart
}

// unwind appends the units' entries, cold.
func (r *Runtime) unwind(to []entry, units []*unit, writer string) []entry {
	for _, u := range units {
		r.budget.release(u.cool())
		for _, f := range u.refs {
			to = append(to, entry{ref: f, writer: writer})
		}
	}
	return to
}
