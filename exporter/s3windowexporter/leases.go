package s3windowexporter

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/s3window/s3window/extension/leaseextension/lease"
	"github.com/s3window/s3window/internal/lake"
)

// leaseWaits sums up which buckets do not give the leases that are kept in them.
// What commits waits for a lease without a word, for two thirds of its TTL at a
// time.
type leaseWaits struct {
	retried func()          // called for every request that failed: it is made again
	report  func(err error) // nil error: for none

	mu      sync.Mutex // guards everything below; held while reporting, so that reports keep their order
	failing map[S3Config]string
}

// observer watches the leases in one bucket.
func (w *leaseWaits) observer(at S3Config) lease.Observer {
	health := lease.NewHealth(func(err error) { w.set(at, err) })
	return lease.Observer{Request: func(op string, took time.Duration, err error) {
		if lease.Failed(err) {
			w.retried()
		}
		health.Request(op, took, err)
	}}
}

func (w *leaseWaits) set(at S3Config, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failing == nil {
		w.failing = map[S3Config]string{}
	}
	delete(w.failing, at)
	if err != nil {
		w.failing[at] = fmt.Sprintf("lease in bucket %q below %q: %s", at.Bucket, at.Prefix, lake.Reason(err))
	}
	w.report(w.sumLocked())
}

// sumLocked names a few buckets and how many more there are.
func (w *leaseWaits) sumLocked() error {
	var all []string
	for _, text := range w.failing {
		all = append(all, text)
	}
	slices.Sort(all)
	if more := len(all) - maxShown; more > 0 {
		all = append(all[:maxShown], fmt.Sprintf("leases in %d more buckets", more))
	}
	var errs []error
	for _, text := range all {
		errs = append(errs, errors.New(text))
	}
	return errors.Join(errs...)
}
