package lease

import (
	"context"
	"slices"
	"sync"
	"time"
)

// name is what a participant knows about one lease name: what it saw of the
// record, and whose turn it is in this process.
type name struct {
	key string

	// mu guards everything declared below.
	mu      sync.Mutex
	taken   bool                // a caller of this process has its turn
	waiters []chan struct{}     // the others, in the order they came
	read    bool                // a first read was made
	first   version             // met in the first read; zero if there was no record
	last    version             // newest version seen …
	since   time.Time           // … and since when, on this process's monotonic clock
	own     string              // newest confirmed write id of this participant
	sent    map[string]struct{} // write ids of acquisitions whose outcome stayed unknown
	epoch   uint64              // highest that was seen or used
	rivalAt time.Time           // when another participant's write was seen last
	runAt   time.Time           // since when this participant has had turn after turn
	leftAt  time.Time           // end of its last turn
	rest    time.Time           // until then other participants go first
}

// version tells one version of a record from every other one. The write id
// guards against stores that repeat revisions after a restore.
type version struct{ revision, write string }

// seen is the result of one read.
type seen struct {
	record    record
	version   version
	age       time.Duration // for how long this version has been seen
	first     bool          // it is the version of the first read
	abandoned bool          // an Acquire of this participant wrote it and gave up
}

// saw notes what a read found: the zero record and revision for nothing.
func (n *name) saw(r record, revision string) seen {
	n.mu.Lock()
	defer n.mu.Unlock()
	now := time.Now()
	v := version{revision: revision, write: r.write}
	if !n.read {
		n.read, n.first = true, v
	}
	if v != n.last || n.since.IsZero() {
		n.last, n.since = v, now
		if v.write != n.own {
			n.rivalAt = now
		}
	}
	n.epoch = max(n.epoch, r.epoch)
	_, abandoned := n.sent[v.write]
	return seen{record: r, version: v, age: now.Sub(n.since), first: v == n.first, abandoned: abandoned}
}

// sending notes an acquisition on its way.
func (n *name) sending(write string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.sent == nil {
		n.sent = map[string]struct{}{}
	}
	n.sent[write] = struct{}{}
}

// refused notes that the acquisition lost against another write.
func (n *name) refused(write string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.sent, write)
}

// confirmed notes a write of this participant. Acquisitions on the way are on an
// older revision then and can no longer be applied.
func (n *name) confirmed(r record, revision string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.own, n.sent = r.write, nil
	n.epoch = max(n.epoch, r.epoch)
	n.last, n.since = version{revision: revision, write: r.write}, time.Now()
}

// acquired notes the beginning of a turn.
func (n *name) acquired() {
	n.mu.Lock()
	defer n.mu.Unlock()
	now := time.Now()
	if now.Sub(n.leftAt) > 2*shortestPoll || n.rivalAt.After(n.leftAt) {
		n.runAt = now
	}
}

// released notes the end of a turn that lasted for held, and how long other
// participants go first then.
//
// While others are known to want the lease, that is about as long as it was held:
// the pauses of a waiter elsewhere have grown to about that length. But a waiter
// writes nothing and so may not be noticed: a process that takes turn after turn
// leaves a gap now and then.
func (n *name) released(held, longest time.Duration, jitter func(n time.Duration) time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	now := time.Now()
	n.leftAt = now
	switch {
	case !n.rivalAt.IsZero() && now.Sub(n.rivalAt) < 10*longest:
		n.rest = now.Add(min(longest, shortestPoll+held+jitter(held/2+1)))
	case now.Sub(n.runAt) >= 10*shortestPoll:
		n.rest = now.Add(min(longest, max(held/4, shortestPoll+jitter(2*shortestPoll))))
	}
}

// nextEpoch returns an epoch above every one that was seen. It is at least the
// microseconds since 1970, so that a record which was deleted, or restored from
// an old copy, does not repeat epochs that were used before.
func (n *name) nextEpoch() uint64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return max(n.epoch+1, uint64(max(0, time.Now().UnixMicro())))
}

// resting is how long this process still lets others go first.
func (n *name) resting() time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	return time.Until(n.rest)
}

// enter waits for the caller's turn in this process: first come, first served,
// so that one process polls once per name.
func (n *name) enter(ctx context.Context) error {
	n.mu.Lock()
	if !n.taken {
		n.taken = true
		n.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	n.waiters = append(n.waiters, turn)
	n.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	n.mu.Lock()
	i := slices.Index(n.waiters, turn)
	if i >= 0 {
		n.waiters = slices.Delete(n.waiters, i, i+1)
	}
	n.mu.Unlock()
	if i < 0 { // the turn came at the same moment: pass it on
		n.leave()
	}
	return context.Cause(ctx)
}

// leave ends the caller's turn.
func (n *name) leave() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.waiters) == 0 {
		n.taken = false
		return
	}
	close(n.waiters[0])
	n.waiters = slices.Delete(n.waiters, 0, 1)
}
