package window

import (
	"context"
	"sync"
)

// budget is the hard bound on held bytes. What is acquired is held until it is
// released; a caller waits while its share does not fit.
type budget struct {
	limit int64
	full  func() // told when somebody has to wait; must not block

	mu      sync.Mutex // guards everything below
	held    int64
	peak    int64
	waiters []*waiter // in the order to serve
}

type waiter struct {
	n     int64
	first bool
	ready chan struct{}
}

func newBudget(limit int64, full func()) *budget { return &budget{limit: limit, full: full} }

// acquire waits until n bytes fit, and holds them. More than the limit is
// granted alone, when nothing else is held: after the limit was lowered the WAL
// may have entries that are larger. With first the caller is served before
// those without. An error of ctx leaves nothing held.
func (b *budget) acquire(ctx context.Context, n int64, first bool) error {
	b.mu.Lock()
	if b.fits(n) && (first || len(b.waiters) == 0) {
		b.hold(n)
		b.mu.Unlock()
		return nil
	}
	w := &waiter{n: n, first: first, ready: make(chan struct{})}
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
	for i := range b.waiters {
		if b.waiters[i] == w {
			b.waiters = append(b.waiters[:i], b.waiters[i+1:]...)
			b.serve()
			return ctx.Err()
		}
	}
	b.held -= n // it was granted meanwhile
	b.serve()
	return ctx.Err()
}

// charge holds n bytes, or gives back -n, without waiting: for what is already
// there, such as the small difference between raw and encoded records.
func (b *budget) charge(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.hold(n)
	if n < 0 {
		b.serve()
	}
}

func (b *budget) release(n int64) { b.charge(-n) }

// short says how many bytes are missing for who is to be served next, and
// whether that is one of those that are served first; 0 if nobody waits.
func (b *budget) short() (n int64, first bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.waiters) == 0 {
		return 0, false
	}
	w := b.waiters[0]
	return max(1, b.held+w.n-b.limit), w.first
}

func (b *budget) usage() (held, peak int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.held, b.peak
}

func (b *budget) fits(n int64) bool { return b.held+n <= b.limit || b.held <= 0 }

func (b *budget) hold(n int64) {
	b.held += n
	b.peak = max(b.peak, b.held)
}

func (b *budget) enqueue(w *waiter) {
	i := len(b.waiters)
	if w.first {
		for i = 0; i < len(b.waiters) && b.waiters[i].first; i++ {
		}
	}
	b.waiters = append(b.waiters, nil)
	copy(b.waiters[i+1:], b.waiters[i:])
	b.waiters[i] = w
}

func (b *budget) serve() {
	for len(b.waiters) > 0 && b.fits(b.waiters[0].n) {
		w := b.waiters[0]
		b.waiters = b.waiters[1:]
		b.hold(w.n)
		close(w.ready)
	}
}
