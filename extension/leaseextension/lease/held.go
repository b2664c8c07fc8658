package lease

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// held is a lease from its acquisition to its end.
type held struct {
	p       *Participant
	name    *name
	epoch   uint64
	grant   grant
	context context.Context
	cancel  context.CancelCauseFunc
	leave   func()    // ends the turn in this process, once
	since   time.Time // when it was acquired

	// writing is a lock that can be waited for with a context. It guards
	// everything down to the mutex.
	writing chan struct{}
	base    string              // revision the next write is based on
	sent    map[string]struct{} // write ids whose outcome is unknown, based on base

	// mu guards everything declared below.
	mu       sync.Mutex
	state    []byte
	deadline time.Time
	leaving  bool // Release was called: nothing but Release writes any more
	over     bool // lost or released: nothing writes any more
	renewal  *time.Timer
	expiry   *time.Timer
}

func (p *Participant) newHeld(n *name, r record, revision string, sentAt time.Time) *held {
	h := &held{
		p:        p,
		name:     n,
		epoch:    r.epoch,
		grant:    *r.lease,
		leave:    sync.OnceFunc(n.leave),
		since:    sentAt,
		writing:  make(chan struct{}, 1),
		base:     revision,
		sent:     map[string]struct{}{},
		state:    r.state,
		deadline: sentAt.Add(p.good()),
	}
	h.context, h.cancel = context.WithCancelCause(p.life)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.renewal = time.AfterFunc(time.Until(sentAt.Add(p.ttl/3)), h.renew)
	h.expiry = time.AfterFunc(time.Until(h.deadline), h.expire)
	return h
}

// Epoch implements Lease.
func (h *held) Epoch() uint64 { return h.epoch }

// State implements Lease.
func (h *held) State() []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.state
}

// Context implements Lease.
func (h *held) Context() context.Context { return h.context }

// Deadline implements Lease.
func (h *held) Deadline() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.deadline
}

// Save implements Lease.
//
// Crash before this: the record has the old state, under this lease. Crash after
// it: the new one.
func (h *held) Save(ctx context.Context, state []byte) error {
	if err := h.write(ctx, state, save); err != nil {
		return fmt.Errorf("save lease %q: %w", h.name.key, err)
	}
	return nil
}

// Release implements Lease.
//
// Crash before this: the lease is held until it is taken over. Crash after it:
// the lease is free and the state is the last holder's.
func (h *held) Release(ctx context.Context, state []byte) error {
	h.mu.Lock()
	h.leaving = true
	h.mu.Unlock()
	if err := h.write(ctx, state, release); err != nil {
		return fmt.Errorf("release lease %q: %w", h.name.key, err)
	}
	return nil
}

type purpose int

const (
	save purpose = iota
	release
)

// write puts the next version of the record in place of this lease's last one.
func (h *held) write(ctx context.Context, state []byte, why purpose) error {
	if state != nil {
		canonical, err := canonicalState(state)
		if err != nil {
			return err
		}
		state = canonical
		if state == nil {
			state = []byte("{}")
		}
	}
	ctx, cancel := h.p.bound(ctx)
	defer cancel()
	if ctx.Err() != nil { // select would toss a coin
		return fmt.Errorf("nothing was sent: %w", context.Cause(ctx))
	}
	select {
	case h.writing <- struct{}{}:
		defer func() { <-h.writing }()
	case <-ctx.Done():
		return fmt.Errorf("wait for an earlier write: %w", context.Cause(ctx))
	}
	return h.writeLocked(ctx, state, why)
}

// writeLocked needs the writing lock.
func (h *held) writeLocked(ctx context.Context, state []byte, why purpose) error {
	next, ok := h.next(state, why)
	if !ok {
		return ErrLost
	}
	sentAt := time.Now()
	h.sent[next.write] = struct{}{}
	for {
		revision, err := h.p.swap(ctx, h.name, next, h.base)
		if err == nil {
			h.base = revision
			clear(h.sent)
			h.confirm(next, revision, sentAt)
			return nil
		}
		lost := new(superseded)
		if !errors.As(err, &lost) {
			return fmt.Errorf("outcome unknown: %w", err)
		}
		if _, own := h.sent[lost.found.write]; !own {
			h.finish(ErrLost)
			return ErrLost
		}
		h.base = lost.found.revision // an earlier write of this lease arrived late
	}
}

// next is the record to write. It reports false when this lease may not write.
func (h *held) next(state []byte, why purpose) (record, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.over || (h.leaving && why != release) {
		return record{}, false
	}
	r := record{epoch: h.epoch, write: newWriteID(), lease: &h.grant, state: state}
	if state == nil {
		r.state = h.state
	}
	if len(r.state) <= len("{}") {
		r.state = nil
	}
	if why == release {
		r.lease = nil
	}
	return r, true
}

// confirm notes a write that is known to be applied.
func (h *held) confirm(r record, revision string, sentAt time.Time) {
	h.name.confirmed(r, revision)
	h.mu.Lock()
	h.state = r.state
	h.deadline = sentAt.Add(h.p.good())
	if r.lease != nil && h.context.Err() == nil {
		h.expiry.Reset(time.Until(h.deadline))
		if !h.leaving {
			h.renewal.Reset(time.Until(sentAt.Add(h.p.ttl / 3)))
		}
	}
	h.mu.Unlock()
	if r.lease == nil {
		h.name.released(time.Since(h.since), h.p.longestPoll(), h.p.jitter)
		h.finish(nil)
	}
}

// finish ends the lease: nothing writes any more. cause is nil after a release.
func (h *held) finish(cause error) {
	h.mu.Lock()
	over := h.over
	h.over = true
	h.renewal.Stop()
	h.expiry.Stop()
	h.mu.Unlock()
	if over {
		return
	}
	if cause != nil && h.context.Err() == nil {
		h.p.observer.lost(cause)
	}
	if cause == nil {
		cause = context.Canceled
	}
	h.cancel(cause)
	h.leave()
}

// renew runs when the last write is a third of the TTL old. If both are late,
// because an answer was late or the process was stopped, expire goes first.
func (h *held) renew() {
	if !h.p.startWork() {
		return
	}
	defer h.p.work.Done()
	h.mu.Lock()
	idle := h.over || h.leaving || time.Until(h.deadline) <= 0
	h.mu.Unlock()
	if idle || h.write(h.context, nil, save) == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.over && !h.leaving && h.context.Err() == nil {
		h.renewal.Reset(h.p.longestPoll())
	}
}

// expire runs when the last confirmed write is no longer good. Writes still go
// out: compare-and-set decides whether the lease was taken over meanwhile.
func (h *held) expire() {
	h.mu.Lock()
	early := time.Until(h.deadline) > 0
	done := h.over || early || h.context.Err() != nil
	h.mu.Unlock()
	if done {
		return
	}
	h.p.observer.lost(ErrExpired)
	h.cancel(ErrExpired)
	h.leave()
}
