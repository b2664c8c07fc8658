package s3windowexporter

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/s3window/s3window/extension/leaseextension"
	"github.com/s3window/s3window/internal/lake"
)

// leaseAlarm is for how long requests for leases in a bucket must fail before
// the status says so. They are made again every second at least.
const leaseAlarm = 3 * time.Second

// leaseTroubles are the lakes in whose buckets leases cannot be read or written.
// A lease extension tells of its own troubles itself.
type leaseTroubles struct {
	observer *observer
	status   *status

	mu    sync.Mutex // guards everything below
	lakes []*leaseTrouble
}

// leaseTrouble is what the last requests for leases of one lake came to. Reading
// and writing are two things: a permission may lack for one of them.
type leaseTrouble struct {
	all   *leaseTroubles
	lake  lake.Ref
	since map[string]time.Time // by operation
	words string               // in the status; empty for none
}

// of returns the trouble of another lake. It has none yet.
func (l *leaseTroubles) of(ref lake.Ref) *leaseTrouble {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := &leaseTrouble{all: l, lake: ref, since: map[string]time.Time{}}
	l.lakes = append(l.lakes, t)
	return t
}

// request is told of every request for a lease.
func (t *leaseTrouble) request(op string, took time.Duration, err error) {
	if errors.Is(err, context.Canceled) {
		return // the caller went away: that says nothing about the store
	}
	failed := err != nil && !errors.Is(err, leaseextension.ErrNotFound) && !errors.Is(err, leaseextension.ErrConflict)
	if failed {
		t.all.observer.Retried(leaseStep, "", "")
	}
	t.all.mu.Lock()
	defer t.all.mu.Unlock()
	if !failed {
		delete(t.since, op)
		if t.words != "" && len(t.since) == 0 {
			t.sayLocked("")
		}
		return
	}
	if _, ok := t.since[op]; !ok {
		t.since[op] = time.Now().Add(-took)
	}
	if time.Since(t.since[op]) >= leaseAlarm {
		t.sayLocked(fmt.Sprintf("%s leases in bucket %q: %s", map[string]string{"get": "read", "put": "write"}[op], t.lake, lake.Reason(err)))
	}
}

// sayLocked has the status say what the lake's leases wait for; nothing for empty
// words.
func (t *leaseTrouble) sayLocked(words string) {
	if kind(words) == kind(t.words) {
		return
	}
	t.words = words
	var errs []error
	for _, other := range t.all.lakes {
		if other.words != "" && len(errs) < maxShown {
			errs = append(errs, errors.New(other.words))
		}
	}
	t.all.status.set(leasing, errors.Join(errs...))
}
