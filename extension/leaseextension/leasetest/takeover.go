package leasetest

import (
	"time"

	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/extension/leaseextension/lease"
)

func leasePredecessor(s *suite) {
	before := s.join("gw/1")
	s.acquire(before, "x")
	before.faulty.Always(Hang)
	before.Close()

	after := s.join("gw/2")
	if _, err := after.Read(s.Context(), "x"); err != nil { // a read does not use the right up
		s.Error(err)
	}
	asked := time.Now()
	held := s.acquire(after, "x", lease.WithHolder("gw/3"), lease.WithPredecessors(func(holder string) bool {
		return holder == "gw/1"
	}))
	require.Less(s, time.Since(asked), s.TTL/2)
	require.Contains(s, string(s.record("x").Value), `"holder":"gw/3"`)
	require.NoError(s, held.Release(s.Context(), nil))
}

func leaseLivingPredecessor(s *suite) {
	before, after := s.join("gw/1"), s.join("gw/2")
	held := s.acquire(before, "x")
	_, err := after.Read(s.Context(), "x")
	require.NoError(s, err)
	require.NoError(s, held.Save(s.Context(), counter(1)))
	before.faulty.Always(Hang)

	written := time.Now()
	taken := s.acquire(after, "x", lease.WithPredecessors(func(string) bool { return true }))
	require.GreaterOrEqual(s, time.Since(written), s.TTL)
	require.NoError(s, taken.Release(s.Context(), nil))
}

func leaseTakeOver(s *suite) {
	ctx := s.Context()
	stalled := s.join("stalled")
	lost := s.acquire(stalled, "x")
	require.NoError(s, lost.Save(ctx, []byte(`{"k":41,"writers":{"q7":{"end":1}}}`)))
	stalled.faulty.Always(Hang)

	taken := s.acquire(s.join("waiter"), "x")
	require.Equal(s, `{"k":41,"writers":{"q7":{"end":1}}}`, string(taken.State()))
	require.Greater(s, taken.Epoch(), lost.Epoch())

	stalled.faulty.Heal() // it wakes up
	require.ErrorIs(s, lost.Save(ctx, counter(1)), lease.ErrLost)
	require.ErrorIs(s, lost.Release(ctx, counter(2)), lease.ErrLost)
	require.Error(s, lost.Context().Err())
	require.NoError(s, taken.Context().Err())
	require.NoError(s, taken.Release(ctx, nil))
	state, err := stalled.Read(ctx, "x")
	require.NoError(s, err)
	require.Equal(s, `{"k":41,"writers":{"q7":{"end":1}}}`, string(state))
}
