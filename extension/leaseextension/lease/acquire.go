package lease

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Acquire implements Leases.
func (p *Participant) Acquire(ctx context.Context, name string, opts ...AcquireOption) (Lease, error) {
	o := acquireOptions{holder: p.holder, predecessor: func(string) bool { return false }}
	for _, option := range opts {
		option(&o)
	}
	n, err := p.name(name)
	if err != nil {
		return nil, fmt.Errorf("acquire lease %q: %w", name, err)
	}
	ctx, cancel := p.bound(ctx)
	defer cancel()
	asked := time.Now()
	if err := n.enter(ctx); err != nil {
		return nil, fmt.Errorf("acquire lease %q: wait for its turn in this process: %w", name, err)
	}
	h, takeover, err := p.acquire(ctx, n, o)
	if err != nil {
		n.leave()
		return nil, fmt.Errorf("acquire lease %q: %w", name, err)
	}
	p.observer.acquired(time.Since(asked), takeover)
	return h, nil
}

// acquire polls until it has claimed the lease.
func (p *Participant) acquire(ctx context.Context, n *name, o acquireOptions) (h *held, takeover bool, err error) {
	if err := sleep(ctx, n.resting()); err != nil {
		return nil, false, err
	}
	polling := p.newPolling()
	for {
		found, err := p.look(ctx, n)
		if errors.Is(err, ErrUnreadable) {
			return nil, false, err
		}
		missing := errors.Is(err, ErrNotFound)
		if missing || (err == nil && claimable(found, o)) {
			h, err = p.claim(ctx, n, found, o)
			switch {
			case err == nil:
				return h, found.record.lease != nil && !found.abandoned, nil
			case !errors.As(err, new(*superseded)):
				return nil, false, err // it had all the store's patience already
			}
			err = nil // another participant was faster: back to waiting
		}
		if err := polling.pause(ctx, found, err); err != nil {
			return nil, false, err
		}
	}
}

// claimable tells whether the record may be claimed now: it is free, or this
// participant's own abandoned attempt, or a dead predecessor's, or it has been
// seen unchanged for its whole TTL.
func claimable(found seen, o acquireOptions) bool {
	lease := found.record.lease
	return lease == nil || found.abandoned ||
		found.first && o.predecessor(lease.holder) ||
		found.age >= lease.ttl
}

// claim writes this participant's lease into the record and keeps the state as
// it was read.
//
// Crash before this: nothing happened. Crash after it: the lease is held
// until the next process of the same holder takes it over, or another one after
// the TTL.
func (p *Participant) claim(ctx context.Context, n *name, found seen, o acquireOptions) (*held, error) {
	r := record{
		epoch: n.nextEpoch(),
		write: newWriteID(),
		lease: &grant{holder: o.holder, ttl: p.ttl},
		state: found.record.state,
	}
	sentAt := time.Now()
	n.sending(r.write)
	revision, err := p.swap(ctx, n, r, found.version.revision)
	if err != nil {
		if errors.As(err, new(*superseded)) {
			n.refused(r.write)
		}
		return nil, err
	}
	n.confirmed(r, revision)
	n.acquired()
	return p.newHeld(n, r, revision, sentAt), nil
}
