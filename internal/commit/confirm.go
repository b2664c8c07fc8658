package commit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/s3window/s3window/extension/leaseextension/lease"
)

// giveUpTimeout bounds the courtesy of giving a lease back after an error.
const giveUpTimeout = 5 * time.Second

// confirm writes the state into the head; last gives the lease back in the
// same write.
//
// Crash before this: the window is in the bucket and the head one behind; the
// next look commits it as it stands.
// Crash after it: the window is committed and the WAL still holds it; replay
// drops it.
func (t *turn) confirm(ctx context.Context, last bool) error {
	var err error
	if last {
		err = t.release(ctx)
	} else {
		err = t.save(ctx, "confirm")
	}
	if err == nil {
		t.log.opts.Step("after_confirm")
	}
	return err
}

// save writes the state and keeps the lease.
func (t *turn) save(ctx context.Context, operation string) error {
	return t.write(ctx, operation, t.lease.Save)
}

// release writes the state and gives the lease back.
func (t *turn) release(ctx context.Context) error {
	err := t.write(ctx, "confirm", t.lease.Release)
	t.released = err == nil
	return err
}

func (t *turn) write(ctx context.Context, operation string, f func(context.Context, []byte) error) error {
	t.state = t.state.prune(time.Now(), t.log.opts.Retention)
	raw, err := t.state.encode()
	if err != nil {
		return fmt.Errorf("encode head: %w", err)
	}
	ctx, cancel := t.bound(ctx)
	defer cancel()
	err = t.log.do(operation, func() error { return f(ctx, raw) })
	if err != nil {
		return fmt.Errorf("write head %q at k %d: %w", t.log.name, t.state.K, err)
	}
	t.unwritten = false
	t.confirmed = t.committed
	t.log.saw(t.state)
	return nil
}

// giveUp gives the lease back after an error, so that nobody has to wait for
// its TTL. It takes along what was found committed. Whether it succeeds
// matters to nobody: the bucket has it all.
func (t *turn) giveUp(ctx context.Context) {
	if t.released || t.lease.Context().Err() != nil && errors.Is(context.Cause(t.lease.Context()), lease.ErrLost) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), giveUpTimeout)
	defer cancel()
	var raw []byte // nil leaves the state as it is
	if t.state.K > 0 {
		raw, _ = t.state.prune(time.Now(), t.log.opts.Retention).encode()
	}
	_ = t.log.do("give-up", func() error { return t.lease.Release(ctx, raw) })
}

// bound gives an operation under the lease, with its retries, the time that
// the lease and the timeout leave, whichever is shorter. That saves the work
// of a holder that was taken over; safety does not need it. The margin takes at
// most a quarter of what is left, so that a short lease is good for something.
func (t *turn) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline := time.Now().Add(t.log.opts.Timeout)
	end := t.lease.Deadline()
	if d := end.Add(-min(t.log.opts.Margin, time.Until(end)/4)); d.Before(deadline) {
		deadline = d
	}
	return context.WithDeadline(ctx, deadline)
}
