package memory

import (
	"context"
	"math"
	"slices"
	"sync"
)

// Budget is the hard bound on held bytes. What is acquired is held until it is
// released; a caller waits while its share does not fit. It is safe for
// concurrent use.
type Budget struct {
	limit int64
	full  func() // told when somebody has to wait; must not block

	mu      sync.Mutex // guards everything below
	held    amounts
	peak    int64
	waiters []*waiter // in the order to serve
}

// amounts are bytes by what they are held for. Windows are counted only where
// room for references is given out.
type amounts struct{ data, refs, windows int64 }

func (a amounts) sum() int64 { return a.data + a.refs }

type waiter struct {
	amounts
	who   Who
	ready chan struct{}
}

// Who asks for memory.
type Who int

const (
	// Reader brings new entries of the queue.
	Reader Who = iota
	// Scan reads entries again that were left in the queue. It leaves an eighth of
	// the room for references to the reader.
	Scan
	// Load reads back a window that is being flushed. It is served before the
	// others, and its references are not bounded.
	Load
)

// New returns a budget of limit bytes, of which nothing is held. full is told
// when somebody has to wait; it must not block.
func New(limit int64, full func()) *Budget { return &Budget{limit: limit, full: full} }

// Limit is what may be held at most, bytes.
func (b *Budget) Limit() int64 { return b.limit }

// Acquire waits until the bytes fit, and holds them. Data beyond the limit is
// granted alone, when no other is held: after the limit was lowered the queue
// may have entries that are larger. An error of ctx leaves nothing held.
func (b *Budget) Acquire(ctx context.Context, data, refs int64, who Who) (Share, error) {
	w := &waiter{amounts: amounts{data: data, refs: refs}, who: who, ready: make(chan struct{})}
	share := Share{budget: b, data: data, refs: refs}
	b.mu.Lock()
	if b.fits(w) && (who == Load || b.passes(len(b.waiters))) {
		b.hold(w.amounts)
		b.mu.Unlock()
		return share, nil
	}
	b.enqueue(w)
	b.mu.Unlock()
	b.full()
	select {
	case <-w.ready:
		return share, nil
	case <-ctx.Done():
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if i := slices.Index(b.waiters, w); i >= 0 {
		b.waiters = slices.Delete(b.waiters, i, i+1)
	} else {
		b.hold(amounts{data: -data, refs: -refs}) // it was granted meanwhile
	}
	b.serve()
	return Share{}, ctx.Err()
}

// Windows counts n windows more, or fewer, of WindowBytes each.
func (b *Budget) Windows(n int) { b.charge(amounts{windows: int64(n) * WindowBytes}) }

// charge holds a, or gives back what of it is negative, without waiting: for
// what is already there, such as the small difference between raw and encoded
// records. A part of the limit is kept for that (Usable).
func (b *Budget) charge(a amounts) {
	if a == (amounts{}) {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.hold(a)
	if a.data < 0 || a.refs < 0 || a.windows < 0 {
		b.serve()
	}
}

// Shortage is what is missing for who is to be served next.
type Shortage struct {
	Need  int64 // bytes; 0 if nobody waits
	First bool  // it is one of those that are served first
	Refs  bool  // it is room for references that is missing
}

// Short returns what is missing.
func (b *Budget) Short() Shortage {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.waiters) == 0 {
		return Shortage{}
	}
	w := b.waiters[0]
	s := Shortage{Need: max(1, b.held.sum()+w.sum()-b.Usable()), First: w.who == Load}
	if over := b.held.refs + b.held.windows + w.refs - b.bound(w.who); over > 0 {
		s.Refs, s.Need = true, max(s.Need, over)
	}
	return s
}

// Usage returns what is held for data and references, what windows are counted
// as beside it, and the most that ever was held, bytes.
func (b *Budget) Usage() (held, windows, peak int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.held.sum(), b.held.windows, b.peak
}

// Room is what is left for data beside the references, bytes.
func (b *Budget) Room() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Usable() - b.held.refs
}

// Usable is what Acquire gives out. The rest is for what only grows a little
// when it is there already: rows that are encoded are kept only if they are at
// most a sixteenth larger than they were raw.
func (b *Budget) Usable() int64 { return b.limit - b.limit/16 }

// Admit lets in who is first in line, whatever is held: for a caller who knows
// that nothing of what is held would ever come free without it.
func (b *Budget) Admit() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.waiters) > 0 {
		b.grant(0)
	}
}

// bound is how much references and windows may take together for who asks.
func (b *Budget) bound(who Who) int64 {
	switch who {
	case Load:
		return math.MaxInt64
	case Scan:
		return b.limit/4 - b.limit/32
	default:
		return b.limit / 4
	}
}

// Spare is how much more references and windows may take, bytes; it may be
// negative.
func (b *Budget) Spare() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.bound(Reader) - b.held.refs - b.held.windows
}

func (b *Budget) fits(w *waiter) bool { return b.refsFit(w) && b.dataFits(w) }

func (b *Budget) refsFit(w *waiter) bool {
	return b.held.refs <= 0 || b.held.refs+b.held.windows+w.refs <= b.bound(w.who)
}

func (b *Budget) dataFits(w *waiter) bool {
	return b.held.sum()+w.sum() <= b.Usable() || b.held.data <= 0
}

// passes says that nobody among the first n waiters has to be served before
// others: a scan that waits for what is left to the reader keeps nobody.
func (b *Budget) passes(n int) bool {
	return !slices.ContainsFunc(b.waiters[:n], func(w *waiter) bool {
		return w.who != Scan || b.refsFit(w) || !b.dataFits(w)
	})
}

func (b *Budget) hold(a amounts) {
	b.held.data += a.data
	b.held.refs += a.refs
	b.held.windows += a.windows
	b.peak = max(b.peak, b.held.sum())
}

func (b *Budget) enqueue(w *waiter) {
	i := len(b.waiters)
	if w.who == Load {
		for i = 0; i < len(b.waiters) && b.waiters[i].who == Load; i++ {
		}
	}
	b.waiters = slices.Insert(b.waiters, i, w)
}

func (b *Budget) serve() {
	for i := 0; i < len(b.waiters) && b.passes(i); {
		if b.fits(b.waiters[i]) {
			b.grant(i)
			continue
		}
		i++
	}
}

func (b *Budget) grant(i int) {
	w := b.waiters[i]
	b.waiters = slices.Delete(b.waiters, i, i+1)
	b.hold(w.amounts)
	close(w.ready)
}
