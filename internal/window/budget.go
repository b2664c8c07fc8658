package window

import (
	"context"
	"slices"
	"sync"
)

// share is what is held of the budget: data, which can be dropped and read from
// the WAL again, and references, which stay until their window is committed.
// The windows themselves stay as long; they are only counted where room for
// references is given out.
type share struct {
	data, refs, windows int64
}

func (s share) sum() int64 { return s.data + s.refs }

// budget is the hard bound on held bytes. What is acquired is held until it is
// released; a caller waits while its share does not fit.
//
// References and windows take a quarter of it at most before nothing new is let
// in. So there is always room to read windows back, one after the other, and
// with them references go.
type budget struct {
	limit int64
	full  func() // told when somebody has to wait; must not block

	mu      sync.Mutex // guards everything below
	held    share
	peak    int64
	waiters []*waiter // in the order to serve
}

type waiter struct {
	share
	first bool
	ready chan struct{}
}

func newBudget(limit int64, full func()) *budget { return &budget{limit: limit, full: full} }

// acquire waits until s fits, and holds it. Data beyond the limit is granted
// alone, when no other is held: after the limit was lowered the WAL may have
// entries that are larger. With first the caller is served before those
// without. An error of ctx leaves nothing held.
func (b *budget) acquire(ctx context.Context, s share, first bool) error {
	b.mu.Lock()
	w := &waiter{share: s, first: first, ready: make(chan struct{})}
	if b.fits(w) && (first || len(b.waiters) == 0) {
		b.hold(s)
		b.mu.Unlock()
		return nil
	}
	b.enqueue(w)
	b.mu.Unlock()
	b.full()
	select {
	case <-w.ready:
		return nil
	case <-ctx.Done():
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if i := slices.Index(b.waiters, w); i >= 0 {
		b.waiters = slices.Delete(b.waiters, i, i+1)
	} else {
		b.hold(share{data: -s.data, refs: -s.refs}) // it was granted meanwhile
	}
	b.serve()
	return ctx.Err()
}

// charge holds s, or gives back what of it is negative, without waiting: for
// what is already there, such as the small difference between raw and encoded
// records. A part of the limit is kept for that (usable).
func (b *budget) charge(s share) {
	if s == (share{}) {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.hold(s)
	if s.data < 0 || s.refs < 0 || s.windows < 0 {
		b.serve()
	}
}

func (b *budget) release(data int64) { b.charge(share{data: -data}) }

func (b *budget) releaseRefs(n int) { b.charge(share{refs: -int64(n) * refBytes}) }

// windows counts n windows more, or fewer.
func (b *budget) windows(n int) { b.charge(share{windows: int64(n) * windowBytes}) }

// shortage is what is missing for who is to be served next.
type shortage struct {
	need  int64 // bytes; 0 if nobody waits
	first bool  // it is one of those that are served first
	refs  bool  // it is room for references that is missing
}

func (b *budget) short() shortage {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.waiters) == 0 {
		return shortage{}
	}
	w := b.waiters[0]
	s := shortage{need: max(1, b.held.sum()+w.sum()-b.usable()), first: w.first}
	if over := b.held.refs + b.held.windows + w.refs - b.limit/4; !w.first && over > 0 {
		s.refs, s.need = true, max(s.need, over)
	}
	return s
}

func (b *budget) usage() (held, peak int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.held.sum(), b.peak
}

// room is what is left for data beside the references.
func (b *budget) room() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.usable() - b.held.refs
}

// usable is what acquire gives out. The rest is for charge: an encoded unit is
// kept only if it is at most a sixteenth larger than it was raw (unit.bulky).
func (b *budget) usable() int64 { return b.limit - b.limit/16 }

func (b *budget) fits(w *waiter) bool {
	if !w.first && b.held.refs > 0 && b.held.refs+b.held.windows+w.refs > b.limit/4 {
		return false
	}
	return b.held.sum()+w.sum() <= b.usable() || b.held.data <= 0
}

// admit lets in who is first in line, whatever is held: without it nothing that
// is held would ever come free.
func (b *budget) admit() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.waiters) == 0 {
		return
	}
	w := b.waiters[0]
	b.waiters = slices.Delete(b.waiters, 0, 1)
	b.hold(w.share)
	close(w.ready)
}

func (b *budget) hold(s share) {
	b.held.data += s.data
	b.held.refs += s.refs
	b.held.windows += s.windows
	b.peak = max(b.peak, b.held.sum())
}

func (b *budget) enqueue(w *waiter) {
	i := len(b.waiters)
	if w.first {
		for i = 0; i < len(b.waiters) && b.waiters[i].first; i++ {
		}
	}
	b.waiters = slices.Insert(b.waiters, i, w)
}

func (b *budget) serve() {
	for len(b.waiters) > 0 && b.fits(b.waiters[0]) {
		w := b.waiters[0]
		b.waiters = slices.Delete(b.waiters, 0, 1)
		b.hold(w.share)
		close(w.ready)
	}
}
