package commit

import (
	"context"
	"fmt"
	"time"

	"github.com/s3window/s3window/extension/leaseextension/lease"
)

const (
	// saveEvery is after how many windows the head is saved where commits take
	// no turns. It bounds what a start has to read, and how often a process
	// that meets nobody passes one that waits for the lease.
	saveEvery = 128
	// crowdedTurns is for how many commits the lease is taken after others were
	// met twice at one window.
	crowdedTurns = 8
	// courtesy bounds the release of a lease after the caller gave up.
	courtesy = 5 * time.Second
)

// turn is one stay on the head's lease.
type turn struct {
	log   *Log
	lease lease.Lease
	k     uint64 // that the head had
}

// take waits for the turn. What the head knows beyond the state is taken from
// it: its holder before folded the same log.
//
// Crash before this: nothing. Crash after it: the lease is held by nobody
// alive; the next process of this WAL takes it over at once, others after its
// TTL.
func (l *Log) take(ctx context.Context) (*turn, error) {
	var opts []lease.AcquireOption
	if l.opts.Holder != "" {
		opts = append(opts, lease.WithHolder(l.opts.Holder))
	}
	if l.opts.Predecessors != nil {
		opts = append(opts, lease.WithPredecessors(l.opts.Predecessors))
	}
	t := &turn{log: l}
	err := l.do("acquire", func() (err error) {
		t.lease, err = l.leases.Acquire(ctx, l.name, opts...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("acquire head %q: %w", l.name, err)
	}
	if err := t.adopt(ctx); err != nil {
		t.write(ctx, nil)
		return nil, err
	}
	return t, nil
}

// adopt takes the head's state where it is ahead.
func (t *turn) adopt(ctx context.Context) error {
	raw := t.lease.State()
	if raw == nil {
		return nil
	}
	s, err := decodeState(raw)
	if err != nil {
		return err
	}
	t.k = s.K
	if s.K <= t.log.state.K {
		return nil
	}
	if t.log.unfit {
		fits, err := t.log.fits(ctx, &s)
		if err != nil || !fits {
			return err
		}
		t.log.unfit = false
	}
	t.log.state = s
	return nil
}

// release gives the lease back, and the state with it if the head lacks it.
// Whether that succeeds decides nothing: the bucket has it all.
//
// Crash before this: the head is behind, and the lease is held until its TTL.
// Crash after it: the head knows what this process knows.
func (t *turn) release(ctx context.Context) {
	l := t.log
	l.saveAt = l.state.K + l.opts.scale.save
	if l.state.K == t.k && !l.unfit {
		t.write(ctx, nil)
		return
	}
	l.prune()
	if t.write(ctx, l.state.encode()) {
		l.unfit = false
	}
}

// write gives the lease back; state nil leaves the head as it is.
func (t *turn) write(ctx context.Context, state []byte) bool {
	l := t.log
	limit := l.opts.Timeout
	if ctx.Err() != nil {
		limit = min(limit, courtesy)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	err := l.do("release", func() error { return t.lease.Release(ctx, state) })
	if err != nil {
		l.opts.Failed("release", fmt.Errorf("write head %q at window %d: %w", l.name, l.state.K, err))
	}
	return err == nil
}

// save writes the head if many windows passed since, where commits take no
// turns. Where it fails, it is tried again after as many.
func (l *Log) save(ctx context.Context) {
	if l.state.K < l.saveAt {
		return
	}
	t, err := l.take(ctx)
	if err != nil {
		l.opts.Failed("save", err)
		l.saveAt = l.state.K + l.opts.scale.save
		return
	}
	t.release(ctx)
}
