package leasetest

import (
	"context"
	"fmt"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/extension/leaseextension/lease"
)

func faultCases() []testCase {
	return []testCase{
		{"fault/every request of a commit", faultEnumeration},
		{"fault/random faults lose no confirmed write", faultRandom},
		{"fault/late copies are harmless", faultLateCopies},
		{"fault/late save of a living lease is its own", faultLateSave},
		{"fault/release of unknown outcome can be called again", faultRelease},
		{"fault/abandoned acquisition is recognised", faultAbandoned},
		{"fault/store gone beyond the TTL", faultGone},
		{"fault/store that fails is an error", faultError},
		{"fault/closed participant", faultClosed},
	}
}

// commitOnce is the life of one lease: read, acquire, save, release. It reports
// the highest n that was confirmed and the highest that was sent.
func commitOnce(ctx context.Context, p participant) (confirmed, sent int, err error) {
	held, err := p.Acquire(ctx, "x")
	if err != nil {
		return 0, 0, err
	}
	if err := held.Save(ctx, counter(1)); err != nil {
		return 0, 1, err
	}
	if err := held.Release(ctx, counter(2)); err != nil {
		return 1, 2, err
	}
	return 2, 2, nil
}

// faultEnumeration breaks every request of a commit in every way, drops the
// process, lets another one recover, and lets late requests arrive at the end.
func faultEnumeration(s *suite) {
	clean := s.join("clean")
	clean.faulty.Decide(nil)
	_, _, err := commitOnce(s.Context(), clean)
	require.NoError(s, err)
	requests := len(clean.faulty.log)
	require.Equal(s, 4, requests, "get, acquire, save, release")
	s.remove("x")

	faults := []Fault{Refuse, Lose, Delay, Duplicate, Conflict, Hang}
	if s.clock == RealTime {
		faults = faults[:5]
	}
	for at := range requests {
		for _, fault := range faults {
			for _, dies := range []bool{false, true} {
				s.faultAt(at, fault, dies)
			}
		}
	}
}

// faultAt breaks request number at; with dies, the process never gets another
// answer after it.
func (s *suite) faultAt(at int, fault Fault, dies bool) {
	what := fmt.Sprintf("request %d, fault %d, dies %v", at, fault, dies)
	ctx := s.Context()
	first := s.join("first")
	first.faulty.Decide(func(n int, _ Request) Fault {
		switch {
		case n == at:
			return fault
		case n > at && dies:
			return Refuse
		}
		return Pass
	})
	patience := s.TTL // a request that hangs counts as lost after a third of it
	if dies {
		patience = s.TTL / 10
	}
	limited, cancel := context.WithTimeout(ctx, patience)
	confirmed, sent, err := commitOnce(limited, first)
	cancel()
	if !dies {
		require.NoError(s, err, what)
	}
	if !dies && (fault == Lose || fault == Conflict) {
		require.Len(s, first.faulty.Requests("put"), 3, "what was applied is recognised: "+what)
	}
	first.Close()

	second := s.join("second")
	held, err := second.Acquire(ctx, "x", lease.WithPredecessors(func(holder string) bool { return holder == "first" }))
	require.NoError(s, err, what)
	n, err := counted(held.State())
	require.NoError(s, err, what)
	require.GreaterOrEqual(s, n, confirmed, what)
	require.LessOrEqual(s, n, sent, what)
	require.Zero(s, first.faulty.Deliver(ctx), "late requests of a fenced holder: "+what)
	require.NoError(s, held.Save(ctx, counter(n+10)), what)
	require.NoError(s, held.Release(ctx, counter(n+20)), what)
	state, err := second.Read(ctx, "x")
	require.NoError(s, err, what)
	require.JSONEq(s, string(counter(n+20)), string(state), what)
	s.remove("x")
}

// faultLateCopies sends every write of a life twice, the second time after
// everything else, also after the record was deleted.
func faultLateCopies(s *suite) {
	ctx := s.Context()
	p := s.join("p")
	p.faulty.Next("put", Duplicate, Duplicate, Duplicate)
	_, _, err := commitOnce(ctx, p)
	require.NoError(s, err)
	before := s.record("x")
	require.Zero(s, p.faulty.Deliver(ctx))
	require.Equal(s, before, s.record("x"))

	q := s.join("q")
	p.faulty.Next("put", Duplicate)
	s.remove("x")
	first := s.acquire(p, "x")
	require.NoError(s, first.Release(ctx, nil))
	second := s.acquire(q, "x")
	require.NoError(s, second.Release(ctx, nil))
	s.remove("x")
	require.Equal(s, 1, p.faulty.Deliver(ctx), "the late creation meets an empty place")
	third := s.acquire(q, "x") // waits for the TTL: the lease that came back has no holder
	require.Greater(s, third.Epoch(), second.Epoch())
	require.ErrorIs(s, second.Save(ctx, nil), lease.ErrLost)
	require.ErrorIs(s, first.Save(ctx, nil), lease.ErrLost)
	require.NoError(s, third.Release(ctx, nil))
}

// faultLateSave lets a Save end unknown, arrive later, and meet the next one.
func faultLateSave(s *suite) {
	for _, arrives := range []bool{false, true} {
		p := s.join("p")
		held := s.acquire(p, "x")
		p.faulty.Always(Delay)
		limited, cancel := context.WithTimeout(s.Context(), s.TTL/10)
		err := held.Save(limited, counter(1))
		cancel()
		require.Error(s, err)
		require.NotErrorIs(s, err, lease.ErrLost)
		p.faulty.Heal()
		if arrives {
			require.Equal(s, 1, p.faulty.Deliver(s.Context()), "of several copies one is applied")
		}
		require.NoError(s, held.Save(s.Context(), counter(2)), "arrives: %v", arrives)
		require.Zero(s, p.faulty.Deliver(s.Context()))
		require.NoError(s, held.Release(s.Context(), nil))
		state, err := p.Read(s.Context(), "x")
		require.NoError(s, err)
		require.JSONEq(s, string(counter(2)), string(state))
	}
}

// faultRelease lets a Release end unknown: from then on only Release writes.
func faultRelease(s *suite) {
	for _, fault := range []Fault{Refuse, Lose} {
		p := s.join("p")
		held := s.acquire(p, "x")
		p.faulty.Decide(func(_ int, r Request) Fault {
			if r.Op == "put" {
				return fault
			}
			return Refuse
		})
		limited, cancel := context.WithTimeout(s.Context(), s.TTL/10)
		err := held.Release(limited, counter(1))
		cancel()
		require.Error(s, err)
		require.NotErrorIs(s, err, lease.ErrLost)
		p.faulty.Heal()
		require.ErrorIs(s, held.Save(s.Context(), counter(2)), lease.ErrLost)
		require.NoError(s, held.Release(s.Context(), counter(3)), "fault %d", fault)
		require.Error(s, held.Context().Err())
		state, err := p.Read(s.Context(), "x")
		require.NoError(s, err)
		require.JSONEq(s, string(counter(3)), string(state))
		require.NotContains(s, string(s.record("x").Value), "holder")
	}
}

// faultAbandoned lets an Acquire give up without knowing that it won.
func faultAbandoned(s *suite) {
	p := s.join("p")
	p.faulty.Next("get", Pass)
	p.faulty.Decide(func(n int, _ Request) Fault {
		if n == 0 {
			return Pass // the read
		}
		return Lose
	})
	limited, cancel := context.WithTimeout(s.Context(), s.TTL/10)
	_, err := p.Acquire(limited, "x")
	cancel()
	require.ErrorIs(s, err, context.DeadlineExceeded)
	p.faulty.Heal()
	require.Contains(s, string(s.record("x").Value), `"holder":"p"`)

	asked := time.Now()
	held := s.acquire(p, "x")
	require.Less(s, time.Since(asked), s.TTL/2)
	require.NoError(s, held.Release(s.Context(), nil))
}

func faultGone(s *suite) {
	holder, waiter := s.join("holder"), s.join("waiter")
	held := s.acquire(holder, "x")
	acquired := time.Now()
	_, err := waiter.Read(s.Context(), "x")
	require.NoError(s, err)
	holder.faulty.Always(Hang)
	waiter.faulty.Always(Hang)

	<-held.Context().Done()
	require.ErrorIs(s, context.Cause(held.Context()), lease.ErrExpired)
	require.Less(s, time.Since(acquired), s.TTL)
	_, err = waiter.Acquire(s.Context(), "x")
	require.Error(s, err)
	require.GreaterOrEqual(s, time.Since(acquired), s.TTL)

	// The waiter saw the same version before and after: the TTL has passed.
	waiter.faulty.Heal()
	asked := time.Now()
	taken := s.acquire(waiter, "x")
	require.Less(s, time.Since(asked), s.TTL/2)
	holder.faulty.Heal()
	require.ErrorIs(s, held.Release(s.Context(), counter(1)), lease.ErrLost)
	require.NoError(s, taken.Release(s.Context(), nil))
}

// faultError expects errors of a store that answers with errors, in time.
func faultError(s *suite) {
	p := s.join("p")
	held := s.acquire(p, "held")
	p.faulty.Always(Refuse)
	asked := time.Now()
	_, err := p.Acquire(s.Context(), "x")
	require.ErrorIs(s, err, ErrInjected)
	require.ErrorIs(s, held.Save(s.Context(), nil), ErrInjected)
	_, err = p.Read(s.Context(), "x")
	require.ErrorIs(s, err, ErrInjected)
	require.Less(s, time.Since(asked), 2*s.TTL, "each has two thirds of the TTL's patience")
	p.faulty.Heal()
	require.NoError(s, s.acquire(p, "x").Release(s.Context(), nil), "its turn in the process was given back")
	require.NotErrorIs(s, held.Release(s.Context(), nil), ErrInjected)
}

// faultClosed closes a participant with everything under way.
func faultClosed(s *suite) {
	p := s.join("p")
	held := s.acquire(p, "x")
	waiting := make(chan error)
	go func() {
		_, err := p.Acquire(s.Context(), "x")
		waiting <- err
	}()
	s.settle()
	p.Close()
	require.ErrorIs(s, <-waiting, lease.ErrClosed)
	require.ErrorIs(s, context.Cause(held.Context()), lease.ErrClosed)
	require.ErrorIs(s, held.Save(s.Context(), nil), lease.ErrClosed)
	_, err := p.Acquire(s.Context(), "y")
	require.ErrorIs(s, err, lease.ErrClosed)
	_, err = p.Read(s.Context(), "x")
	require.ErrorIs(s, err, lease.ErrClosed)
}
