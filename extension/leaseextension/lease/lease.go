package lease

import (
	"context"
	"errors"
	"time"
)

// MaxState is the largest state a lease carries, in bytes: what every store
// takes, of which Kubernetes takes the least.
const MaxState = 240 << 10

// ErrLost says that the lease is not held any more: it was taken over, released,
// or its record was removed. The state that came with the call may have been
// written before the loss or not at all; never later.
var ErrLost = errors.New("lease is lost")

// ErrExpired is the cause of a lease's Context when the time for which its last
// write is good has run out. The lease may still turn out to be held.
var ErrExpired = errors.New("lease could not be renewed in time")

// ErrClosed says that the participant was closed.
var ErrClosed = errors.New("leases are closed")

// Leases is what other components ask the extension for. It is safe for
// concurrent use.
type Leases interface {
	// Acquire waits until the lease on name is this caller's, then returns it.
	// Callers of one process get their turn in the order they came. It is not
	// reentrant.
	//
	// It returns an error when ctx ends, when the record is not one this
	// version reads, and when the store has returned only errors for two thirds
	// of the TTL. If the outcome of an attempt is unknown by then, the next
	// Acquire of this participant recognises it.
	Acquire(ctx context.Context, name string, opts ...AcquireOption) (Lease, error)

	// Read returns the state under name without a lease: a JSON object, nil if
	// the record carries none. ErrNotFound if there is no record. It may be
	// out of date when it returns.
	Read(ctx context.Context, name string) (state []byte, err error)
}

// Lease is one acquisition. It is safe for concurrent use; writes take turns.
type Lease interface {
	// Epoch grows with every acquisition of the name and never repeats.
	Epoch() uint64

	// State is the state as of acquisition or the last Save: a JSON object, nil
	// if there is none (an empty object is none). The caller must not modify it.
	State() []byte

	// Save writes state, a JSON object without the reserved keys version,
	// epoch, write and lease, in place of the old one, and renews the lease.
	// nil leaves the state as it is. It returns nil only after the write is
	// confirmed.
	//
	// ErrLost once taken over. Any other error, except one about state itself, means
	// that the outcome is unknown: ctx ended, or the store returned only errors
	// for two thirds of the TTL. The next Save or Release settles it.
	Save(ctx context.Context, state []byte) error

	// Release writes the state a last time, as Save does, and ends the lease in
	// the same write.
	// ErrLost if the lease was taken over before. After any other error the
	// outcome is unknown, nothing renews the lease any more, and Release may be
	// called again.
	Release(ctx context.Context, state []byte) error

	// Context is done when the lease can no longer be known to be held:
	// released, taken over, not renewed in time, or the participant closed.
	// context.Cause tells which.
	Context() context.Context

	// Deadline is the time at which Context ends unless a write is confirmed
	// before. It carries a monotonic reading.
	Deadline() time.Time
}

// AcquireOption refines one Acquire.
type AcquireOption func(*acquireOptions)

type acquireOptions struct {
	holder      string
	predecessor func(holder string) bool
}

// WithHolder names the holder in the record, in place of Options.Holder.
func WithHolder(holder string) AcquireOption {
	return func(o *acquireOptions) { o.holder = holder }
}

// WithPredecessors tells which holders are earlier lives of this caller, known
// to be dead. A lease that one of them holds is taken over at once, provided it
// is the version met in this participant's first read of the name: a
// predecessor that writes after that is not dead.
func WithPredecessors(predecessor func(holder string) bool) AcquireOption {
	return func(o *acquireOptions) { o.predecessor = predecessor }
}
