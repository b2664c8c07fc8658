package wal

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Appends that wait when the queue is closed are written, and their callers are
// told so: a client that was sent an error would send them again, and they
// would be there twice.
func TestCloseWritesWhatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFake()
		w := open(t, Options{Client: s})
		gate := make(chan struct{})
		s.fail(func(*call) error { <-gate; return nil }, nil)
		results := make(chan error, 10)
		for i := range 10 {
			go func() { results <- w.Append(t.Context(), rec("a", fmt.Sprint(i))) }()
		}
		synctest.Wait() // one is with the storage, the others wait
		closed := make(chan error)
		go func() { closed <- w.Close(t.Context()) }()
		synctest.Wait()
		require.ErrorIs(t, w.Append(t.Context(), rec("a", "late")), ErrClosed)
		close(gate)
		require.NoError(t, <-closed)
		for range 10 {
			require.NoError(t, <-results)
		}
		s.fail(nil, nil)
		w = open(t, Options{Client: s})
		require.Len(t, drain(t, w), 10)
	})
}

// Whatever becomes of an append, it takes as much of the limit as it leaves in
// the queue.
func TestAppendsThatFailGiveTheirRoomBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFake()
		w := open(t, Options{Client: s, Limit: 1 << 20})
		add(t, w, rec("t", "there"))
		used := w.Stats().Used
		require.Positive(t, used)
		for range 3 {
			s.fail(func(*call) error { return errInjected }, nil)
			require.ErrorIs(t, w.Append(t.Context(), rec("t", "refused")), errInjected)
			s.fail(nil, func(*call) error { return errInjected })
			require.ErrorIs(t, w.Append(t.Context(), rec("t", "applied, but refused")), errInjected)
		}
		s.fail(nil, nil)
		require.Equal(t, used, w.Stats().Used)
		require.NoError(t, w.Close(t.Context()))
		require.ErrorIs(t, w.Append(t.Context(), rec("t", "late")), ErrClosed)
		require.Equal(t, used, w.Stats().Used)
	})
}

// FuzzQueue is TestQueueBehavesLikeAList with whatever the fuzzer finds.
func FuzzQueue(f *testing.F) { f.Fuzz(rapid.MakeFuzz(queueBehavesLikeAList)) }
