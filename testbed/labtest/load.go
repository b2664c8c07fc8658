package labtest

import (
	"context"
	"fmt"
	"sync"

	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/testbed/load"
)

// Sending is load on its way.
type Sending struct {
	Stats *load.Stats // grows meanwhile

	lab    *Lab
	cancel context.CancelFunc
	done   chan error
	once   sync.Once
}

// Send starts load on replicas, spread over them by its senders. It ends with
// Stop or with the test.
func (l *Lab) Send(o load.Options, to ...*Replica) *Sending {
	l.t.Helper()
	if o.Run == "" {
		l.runs++
		o.Run = fmt.Sprintf("run%d", l.runs)
	}
	for _, r := range to {
		o.Endpoints = append(o.Endpoints, r.Address)
	}
	if o.Tenants == nil {
		o.Tenants = []string{"acme", "globex", "tenant/with space"}
	}
	if o.Rate == 0 {
		o.Rate = 600
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &Sending{Stats: &load.Stats{}, lab: l, cancel: cancel, done: make(chan error, 1)}
	go func() { s.done <- load.Run(ctx, o, l.entries, s.Stats) }()
	l.t.Cleanup(func() { s.Stop() })
	return s
}

// Stop ends the load and waits for the answers of what is in flight.
func (s *Sending) Stop() *load.Stats {
	s.lab.t.Helper()
	s.once.Do(func() {
		s.cancel()
		require.NoError(s.lab.t, <-s.done)
	})
	return s.Stats
}

// AwaitMore waits until n more records are acknowledged than now: that is how
// tests let load run for a while.
func (s *Sending) AwaitMore(n int64) {
	s.lab.t.Helper()
	want := s.Stats.Acked.Load() + n
	s.lab.Await(fmt.Sprintf("%d more records are acknowledged", n), func() bool { return s.Stats.Acked.Load() >= want })
}
