package leasetest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/extension/leaseextension/lease"
)

// Backend is a fresh, empty set of registers.
type Backend struct {
	// Open connects one more process to the registers. What it opens ends with
	// the test.
	Open func(t testing.TB) lease.Store

	// Restart ends whatever keeps the registers and starts it again, keeping
	// what was opened usable. nil: there is nothing that outlives the process.
	Restart func(t testing.TB)

	// Lose ends whatever keeps the registers and starts it again without any
	// data, keeping what was opened usable. nil: as for Restart.
	Lose func(t testing.TB)

	// TTL of the leases in the suite; unset: 30 s in a bubble, 2 s in real time.
	TTL time.Duration
}

// Clock says which time a backend's suite runs in.
type Clock int

const (
	// Bubble is for stores without goroutines and connections of their own: the
	// suite runs in synctest bubbles.
	Bubble Clock = iota
	// RealTime is for stores with a server.
	RealTime
)

// Run runs the suite. newBackend is called once for each of its tests.
func Run(t *testing.T, clock Clock, newBackend func(t testing.TB) Backend) {
	RunOnly(t, clock, "", newBackend)
}

// RunOnly runs the tests of the suite whose name starts with prefix, of which there
// must be some. Tests that restart a server need one of their own, for the others
// run at the same time.
func RunOnly(t *testing.T, clock Clock, prefix string, newBackend func(t testing.TB) Backend) {
	chosen := slices.DeleteFunc(cases(), func(c testCase) bool { return !strings.HasPrefix(c.name, prefix) })
	require.NotEmpty(t, chosen, "tests whose name starts with %q", prefix)
	for _, c := range chosen {
		t.Run(c.name, func(t *testing.T) {
			run := func(t *testing.T) {
				backend := newBackend(t)
				if backend.TTL == 0 {
					backend.TTL = [...]time.Duration{Bubble: 30 * time.Second, RealTime: 2 * time.Second}[clock]
				}
				c.test(&suite{T: t, Backend: backend, clock: clock})
			}
			if clock == Bubble {
				synctest.Test(t, run)
				return
			}
			t.Parallel()
			run(t)
		})
	}
}

type testCase struct {
	name string
	test func(*suite)
}

func cases() []testCase {
	return append(append(storeCases(), leaseCases()...), faultCases()...)
}

// suite is one test on one backend.
type suite struct {
	*testing.T
	Backend
	clock Clock
}

// participant is one process of a test.
type participant struct {
	*lease.Participant
	faulty *Faulty
}

// join starts a process.
func (s *suite) join(holder string) participant { return s.joinThrough(holder, nil) }

// joinThrough starts a process whose store goes through a further decorator.
func (s *suite) joinThrough(holder string, decorate func(lease.Store) lease.Store) participant {
	faulty := NewFaulty(s.Open(s.T))
	var store lease.Store = faulty
	if decorate != nil {
		store = decorate(store)
	}
	leases := lease.NewParticipant(store, lease.Options{Holder: holder, TTL: s.TTL})
	s.Cleanup(leases.Close)
	return participant{Participant: leases, faulty: faulty}
}

// acquire fails the test if the lease cannot be had.
func (s *suite) acquire(p participant, name string, opts ...lease.AcquireOption) lease.Lease {
	s.Helper()
	held, err := p.Acquire(s.Context(), name, opts...)
	require.NoError(s, err)
	return held
}

// record is the register as it is in the store, past every decorator.
func (s *suite) record(name string) lease.Record {
	s.Helper()
	rec, err := s.Open(s.T).Get(s.Context(), name)
	require.NoError(s, err)
	return rec
}

// remove deletes the register by hand.
func (s *suite) remove(name string) {
	s.Helper()
	require.NoError(s, s.Open(s.T).Delete(s.Context(), name, s.record(name).Revision))
}

// within returns a context that ends after d.
func (s *suite) within(d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(s.Context(), d)
	s.Cleanup(cancel)
	return ctx
}

// scaled is bubble in a bubble, and real against a real server, where the work
// takes real time.
func (s *suite) scaled(bubble, real int) int {
	if s.clock == Bubble {
		return bubble
	}
	return real
}

// counter is the state that most tests keep.
func counter(n int) []byte { return fmt.Appendf(nil, `{"n":%d}`, n) }
