package wal

import (
	"context"
	"slices"
	"sync"
)

// room is the queue's limit. Whoever waits is served in order of arrival.
type room struct {
	limit int64 // 0 means none
	block bool

	// mu guards everything declared below.
	mu      sync.Mutex
	used    int64
	waiters []*waiter
	closed  bool
}

type waiter struct {
	need  int64
	ready chan error
}

// take claims n. Without room it gives ErrFull, or waits until there is some,
// ctx ends or the room is closed.
func (r *room) take(ctx context.Context, n int64) error {
	r.mu.Lock()
	switch {
	case r.closed:
		r.mu.Unlock()
		return ErrClosed
	case r.limit > 0 && n > r.limit:
		r.mu.Unlock()
		return ErrTooLarge
	case len(r.waiters) == 0 && r.fitsLocked(n):
		r.used += n
		r.mu.Unlock()
		return nil
	case !r.block:
		r.mu.Unlock()
		return ErrFull
	}
	w := &waiter{need: n, ready: make(chan error, 1)}
	r.waiters = append(r.waiters, w)
	r.mu.Unlock()
	select {
	case err := <-w.ready:
		return err
	case <-ctx.Done():
		return r.leave(ctx, w)
	}
}

// leave gives up waiting; what was granted in the same moment is given back.
func (r *room) leave(ctx context.Context, w *waiter) error {
	r.mu.Lock()
	if i := slices.Index(r.waiters, w); i >= 0 {
		r.waiters = slices.Delete(r.waiters, i, i+1)
		r.grantLocked()
		r.mu.Unlock()
		return ctx.Err()
	}
	r.mu.Unlock()
	if err := <-w.ready; err != nil {
		return err
	}
	r.give(w.need)
	return ctx.Err()
}

// force claims n whatever the limit says: the data is there already.
func (r *room) force(n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.used += n
}

func (r *room) give(n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.used -= n
	r.grantLocked()
}

func (r *room) fitsLocked(n int64) bool { return r.limit <= 0 || r.used+n <= r.limit }

func (r *room) grantLocked() {
	for len(r.waiters) > 0 && r.fitsLocked(r.waiters[0].need) {
		r.used += r.waiters[0].need
		r.waiters[0].ready <- nil
		r.waiters = r.waiters[1:]
	}
}

// wait says whether whoever finds no room waits. Turned off it refuses those who
// do with ErrFull.
func (r *room) wait(on bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.block = on
	if on {
		return
	}
	for _, w := range r.waiters {
		w.ready <- ErrFull
	}
	r.waiters = nil
}

// close wakes whoever waits with ErrClosed.
func (r *room) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	for _, w := range r.waiters {
		w.ready <- ErrClosed
	}
	r.waiters = nil
}

func (r *room) inUse() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.used
}
