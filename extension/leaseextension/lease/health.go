package lease

import (
	"context"
	"errors"
	"sync"
	"time"
)

const (
	// failuresToTell and timeToTell are how many requests in a row, or for how
	// long, must fail before a store counts as failing. Hiccups do not. A store
	// that refuses is told within a second, and one that hangs when the first
	// request ends, after a third of the TTL.
	failuresToTell = 3
	timeToTell     = 5 * time.Second
)

// Health tells from the requests of a participant whether its store works. Its
// Request is one for an Observer. It is safe for concurrent use.
type Health struct {
	changed func(err error)

	// mu guards everything declared below, and keeps the calls of changed in
	// order.
	mu       sync.Mutex
	failures int       // requests in a row
	since    time.Time // when the first of them was sent
	told     bool      // that the store fails
}

// NewHealth returns the health of a store that has not been asked anything.
// changed is called when the store begins to fail, with the error of its last
// request, and with nil when it answers again. It must not block.
func NewHealth(changed func(err error)) *Health { return &Health{changed: changed} }

// Failed reports whether a request of an Observer failed. That a register is
// missing or has another revision is an answer, and a request that its caller
// ended says nothing.
func Failed(err error) bool {
	return err != nil && !errors.Is(err, ErrNotFound) && !errors.Is(err, ErrConflict) && !errors.Is(err, context.Canceled)
}

// Request takes note of a request that ended.
func (h *Health) Request(_ string, took time.Duration, err error) {
	if errors.Is(err, context.Canceled) {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if !Failed(err) {
		h.failures = 0
		if h.told {
			h.told = false
			h.changed(nil)
		}
		return
	}
	if h.failures++; h.failures == 1 {
		h.since = time.Now().Add(-took)
	}
	if !h.told && (h.failures >= failuresToTell || time.Since(h.since) >= timeToTell) {
		h.told = true
		h.changed(err)
	}
}
