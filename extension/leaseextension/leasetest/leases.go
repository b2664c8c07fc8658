package leasetest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/extension/leaseextension/lease"
)

func leaseCases() []testCase {
	return []testCase{
		{"lease/one holder at a time", leaseExclusion},
		{"lease/turns are fair among processes", leaseFairness},
		{"lease/turns are in order within a process", leaseOrder},
		{"lease/handed over soon after a release", leaseHandover},
		{"lease/two writes a commit", leaseWrites},
		{"lease/epochs never repeat", leaseEpochs},
		{"lease/taken over after the TTL and not before", leaseExpiry},
		{"lease/renewed while held", leaseRenewal},
		{"lease/holder knows before a fast clock takes over", leaseClocks},
		{"lease/predecessor is taken over at once", leasePredecessor},
		{"lease/predecessor that writes is alive", leaseLivingPredecessor},
		{"lease/take-over keeps the state", leaseTakeOver},
		{"lease/deleted under its holder", leaseDeleted},
		{"lease/states", leaseStates},
		{"lease/names", leaseNames},
		{"lease/survives a restart of the store", leaseRestart},
		{"lease/begins again when the store lost everything", leaseLose},
	}
}

func leaseEpochs(s *suite) {
	ctx := s.Context()
	a, b := s.join("a"), s.join("b")
	var epochs []uint64
	acquire := func(p participant) lease.Lease {
		held := s.acquire(p, "x")
		epochs = append(epochs, held.Epoch())
		return held
	}
	require.NoError(s, acquire(a).Release(ctx, counter(1)))
	require.NoError(s, acquire(b).Release(ctx, nil))
	old := s.record("x")
	abandoned := acquire(a)
	a.faulty.Always(Hang) // dead
	require.NoError(s, acquire(b).Release(ctx, nil))
	s.remove("x")
	require.NoError(s, acquire(b).Release(ctx, nil))
	s.remove("x")
	s.settle() // a process that never saw the record needs another microsecond
	require.NoError(s, acquire(s.join("c")).Release(ctx, nil))

	// The store comes back from an old copy.
	_, err := s.Open(s.T).Put(ctx, "x", old.Value, s.record("x").Revision)
	require.NoError(s, err)
	require.NoError(s, acquire(b).Release(ctx, nil))

	require.True(s, slices.IsSorted(epochs))
	require.Len(s, slices.Compact(slices.Clone(epochs)), len(epochs), "epochs %v", epochs)
	a.faulty.Heal()
	require.ErrorIs(s, abandoned.Save(ctx, counter(9)), lease.ErrLost)
}

// leaseExpiry kills a holder and times the take-over from the waiter's first
// read on.
func leaseExpiry(s *suite) {
	dead := s.join("dead")
	s.acquire(dead, "x")
	dead.faulty.Always(Hang)
	dead.Close()
	s.settle()

	asked := time.Now()
	held := s.acquire(s.join("waiter"), "x")
	waited := time.Since(asked)
	require.GreaterOrEqual(s, waited, s.TTL)
	require.Less(s, waited, s.TTL+s.TTL/4+time.Duration(s.scaled(0, 2))*time.Second)
	require.NoError(s, held.Release(s.Context(), nil))
}

// leaseRenewal holds a lease for three TTLs; then stops renewing it.
func leaseRenewal(s *suite) {
	holder, waiter := s.join("holder"), s.join("waiter")
	held := s.acquire(holder, "x")
	_, err := waiter.Acquire(s.within(3*s.TTL), "x")
	require.ErrorIs(s, err, context.DeadlineExceeded)
	require.NoError(s, held.Context().Err())
	require.Positive(s, time.Until(held.Deadline()))
	require.NoError(s, held.Save(s.Context(), counter(1)))

	// What the waiter saw of the old version counts no more after a write: from
	// here on it takes one more TTL.
	holder.faulty.Always(Hang)
	written := time.Now()
	taken := s.acquire(waiter, "x")
	require.GreaterOrEqual(s, time.Since(written), s.TTL)
	require.ErrorIs(s, context.Cause(held.Context()), lease.ErrExpired)
	require.NoError(s, taken.Release(s.Context(), nil))
}

// late is a store whose writes are applied long before they are answered.
type late struct {
	lease.Store
	by time.Duration
}

func (l late) Put(ctx context.Context, key string, value []byte, ifRevision string) (string, error) {
	revision, err := l.Store.Put(ctx, key, value, ifRevision)
	time.Sleep(l.by)
	return revision, err
}

// leaseClocks cuts a holder, whose writes are answered late, off from the store,
// right after it has acquired or saved, while a waiter reads it all the time on a
// clock that may run fast.
func leaseClocks(s *suite) {
	for i, rate := range []float64{0.95, 1, 1.05} {
		name := fmt.Sprint("rate ", rate)
		holder := s.joinThrough("holder", func(store lease.Store) lease.Store { return late{store, s.TTL / 4} })
		waiter := s.joinThrough("waiter", func(store lease.Store) lease.Store { return Skewed(store, rate) })
		var taken lease.Lease
		var all sync.WaitGroup
		all.Go(func() {
			for taken == nil && s.Context().Err() == nil {
				if _, err := waiter.Read(s.Context(), name); err == nil {
					taken, err = waiter.Acquire(s.Context(), name)
					if err != nil {
						s.Error(err)
					}
				}
				s.settle()
			}
		})
		held := s.acquire(holder, name)
		if i > 0 {
			require.NoError(s, held.Save(s.Context(), counter(i)))
		}
		holder.faulty.Always(Hang)
		all.Wait()
		require.ErrorIs(s, context.Cause(held.Context()), lease.ErrExpired, name)
		require.NoError(s, taken.Release(s.Context(), nil))
	}
}

func leaseDeleted(s *suite) {
	p := s.join("p")
	held := s.acquire(p, "x")
	require.NoError(s, held.Save(s.Context(), counter(1)))
	s.remove("x")
	require.ErrorIs(s, held.Save(s.Context(), counter(2)), lease.ErrLost)
	require.ErrorIs(s, context.Cause(held.Context()), lease.ErrLost)
	_, err := p.Read(s.Context(), "x")
	require.ErrorIs(s, err, lease.ErrNotFound)
	again := s.acquire(p, "x")
	require.Greater(s, again.Epoch(), held.Epoch())
	require.Nil(s, again.State())
	require.NoError(s, again.Release(s.Context(), nil))
}

func leaseStates(s *suite) {
	ctx := s.Context()
	p := s.join("p")
	full := `{"a":"` + strings.Repeat("x", lease.MaxState-len(`{"a":""}`)) + `"}`
	for give, want := range map[string]string{
		`{}`:                                "",
		`{"k":1}`:                           `{"k":1}`,
		"{ \"b\" : [ 1 ] ,\n\"a\" : null }": `{"b":[1],"a":null}`,
		`{"":0,"ü":"<&>"}`:                  `{"":0,"ü":"<&>"}`,
		full:                                full,
	} {
		held := s.acquire(p, "x")
		require.NoError(s, held.Save(ctx, []byte(give)))
		require.Equal(s, want, string(held.State()))
		require.NoError(s, held.Save(ctx, nil), "nil leaves the state as it is")
		require.Equal(s, want, string(held.State()))
		require.NoError(s, held.Release(ctx, nil))
		state, err := p.Read(ctx, "x")
		require.NoError(s, err)
		require.Equal(s, want, string(state))
	}
	held := s.acquire(p, "x")
	before := s.record("x").Revision
	for _, bad := range []string{``, `null`, `1`, `[]`, `{"a":1}x`, `{"a":1,"a":2}`, `{"epoch":1}`, `{"write":""}`, `{"version":1}`, `{"lease":{}}`, full[:len(full)-2] + `x"}`} {
		require.Errorf(s, held.Save(ctx, []byte(bad)), "state %.40q", bad)
	}
	require.Equal(s, before, s.record("x").Revision, "a wrong state writes nothing")
	require.NoError(s, held.Context().Err())
	require.NoError(s, held.Release(ctx, nil))
}

func leaseNames(s *suite) {
	p := s.join("p")
	names := oddNames()
	if s.clock == RealTime {
		names = names[:12]
	}
	for _, name := range names {
		require.NoErrorf(s, s.acquire(p, name).Release(s.Context(), fmt.Appendf(nil, `{"name":%q}`, fmt.Sprintf("%x", name))), "%q", name)
	}
	for _, name := range names {
		state, err := p.Read(s.Context(), name)
		require.NoError(s, err)
		require.Equal(s, fmt.Sprintf(`{"name":"%x"}`, name), string(state))
	}
	for _, bad := range []string{"", "\xff", strings.Repeat("x", 1025)} {
		_, err := p.Acquire(s.Context(), bad)
		require.Error(s, err)
		_, err = p.Read(s.Context(), bad)
		require.Error(s, err)
	}
}

func leaseRestart(s *suite) {
	if s.Restart == nil {
		return // nothing outlives the process, and nothing is promised
	}
	p := s.join("before")
	held := s.acquire(p, "x")
	require.NoError(s, held.Save(s.Context(), counter(1)))
	s.Restart(s.T)
	require.NoError(s, held.Save(s.Context(), counter(2)), "a restart of the store does not end a lease")
	require.NoError(s, held.Release(s.Context(), counter(3)))
	s.Restart(s.T)
	again := s.acquire(s.join("after"), "x")
	require.JSONEq(s, string(counter(3)), string(again.State()))
	require.Greater(s, again.Epoch(), held.Epoch())
	require.NoError(s, again.Release(s.Context(), nil))
}

// leaseLose empties the store under a process that has used it: its lease is
// lost, and the next one begins without a state, by itself.
func leaseLose(s *suite) {
	if s.Lose == nil {
		return
	}
	p := s.join("before")
	held := s.acquire(p, "x")
	require.NoError(s, held.Save(s.Context(), counter(1)))
	s.Lose(s.T)
	require.ErrorIs(s, held.Save(s.Context(), counter(2)), lease.ErrLost)
	again := s.acquire(p, "x")
	require.Nil(s, again.State())
	require.Greater(s, again.Epoch(), held.Epoch())
	require.NoError(s, again.Release(s.Context(), counter(3)))
	state, err := s.join("after").Read(s.Context(), "x")
	require.NoError(s, err)
	require.JSONEq(s, string(counter(3)), string(state))
}
