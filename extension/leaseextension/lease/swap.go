package lease

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ErrUnreadable says that a lease's record is not one that this version reads.
// Nothing replaces it; an operator removes it, or runs the version that wrote it.
var ErrUnreadable = errors.New("record is unreadable")

// superseded says that a write was not applied, or was applied and replaced
// since: the register is at another version than the write was based on.
type superseded struct{ found version }

func (s *superseded) Error() string { return "record was changed by another participant" }

// look reads the record and notes what it saw.
func (p *Participant) look(ctx context.Context, n *name) (seen, error) {
	asked := time.Now()
	request, cancel := context.WithTimeout(ctx, p.request())
	rec, err := p.store.Get(request, n.key)
	cancel()
	p.observer.request("get", time.Since(asked), err)
	if errors.Is(err, ErrNotFound) {
		return n.saw(record{}, ""), ErrNotFound
	}
	if err != nil {
		return seen{}, fmt.Errorf("read register: %w", err)
	}
	r, err := decodeRecord(rec.Value)
	if err != nil {
		return seen{}, fmt.Errorf("decode record: %w: %w", ErrUnreadable, err)
	}
	return n.saw(r, rec.Revision), nil
}

// swap writes r over the version with revision base, "" for none, and returns
// the new revision. It settles unknown outcomes by reading the record: the write
// id tells whether it was applied. While it was not, the same bytes go out again
// on the same base; whichever copy arrives first, the others are refused.
//
// *superseded: r is not the record, and never will be again. Any other error:
// ctx ended, or the store failed for too long, and the outcome is still unknown.
func (p *Participant) swap(ctx context.Context, n *name, r record, base string) (revision string, err error) {
	value := r.encode()
	polling := p.newPolling()
	for {
		revision, err = p.put(ctx, n, value, base)
		if err == nil {
			return revision, nil
		}
		found, lookErr := p.look(ctx, n)
		missing := errors.Is(lookErr, ErrNotFound)
		switch {
		case lookErr == nil && found.record.write == r.write:
			return found.version.revision, nil
		case lookErr == nil && found.version.revision != base, missing && base != "":
			return "", &superseded{found: found.version}
		case errors.Is(lookErr, ErrUnreadable):
			return "", &superseded{}
		}
		if err := polling.pause(ctx, seen{}, err); err != nil {
			return "", err
		}
	}
}

func (p *Participant) put(ctx context.Context, n *name, value []byte, base string) (string, error) {
	asked := time.Now()
	request, cancel := context.WithTimeout(ctx, p.request())
	defer cancel()
	revision, err := p.store.Put(request, n.key, value, base)
	p.observer.request("put", time.Since(asked), err)
	if err != nil {
		return "", fmt.Errorf("write register: %w", err)
	}
	return revision, nil
}

// polling is the rhythm of one loop over the store: pauses that double, with
// jitter, from shortestPoll, and start over when the record changes; and
// patience with a failing store.
type polling struct {
	next, longest time.Duration
	patience      time.Duration
	jitter        func(n time.Duration) time.Duration
	failingSince  time.Time
	last          version
}

func (p *Participant) newPolling() *polling {
	longest := p.longestPoll()
	return &polling{next: min(shortestPoll, longest), longest: longest, patience: p.patience(), jitter: p.jitter}
}

// pause waits before the next try. err is what the last try met; it comes back
// when the store has failed for too long, or together with the end of ctx.
func (w *polling) pause(ctx context.Context, found seen, err error) error {
	switch {
	case err == nil:
		w.failingSince = time.Time{}
	case w.failingSince.IsZero():
		w.failingSince = time.Now()
	case time.Since(w.failingSince) >= w.patience:
		return err
	}
	if found.version != w.last {
		w.last, w.next = found.version, min(shortestPoll, w.longest)
	}
	d := w.next/2 + w.jitter(w.next)
	if lease := found.record.lease; lease != nil && lease.ttl > found.age {
		d = min(d, lease.ttl-found.age)
	}
	w.next = min(2*w.next, w.longest)
	if ended := sleep(ctx, d); ended != nil {
		if err != nil {
			return fmt.Errorf("%w; the store's last answer: %w", ended, err)
		}
		return ended
	}
	return nil
}

// sleep waits for d, or returns the cause of ctx's end.
func sleep(ctx context.Context, d time.Duration) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
