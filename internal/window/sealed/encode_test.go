package sealed

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/s3window/s3window/internal/encode"
	"github.com/s3window/s3window/internal/window/memory"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// hot returns a unit that holds an entry of size bytes.
func hot(t *testing.T, b *memory.Budget, seq uint64, size int) *Unit {
	t.Helper()
	e := Entry{Ref: Ref{Seq: seq, Size: uint32(size)}, Payload: make([]byte, size)}
	var err error
	e.Hold, err = b.Acquire(t.Context(), e.Cost(), memory.RefBytes, memory.Reader)
	require.NoError(t, err)
	u, refs := &Unit{}, memory.Share{}
	u.Add(&e, &encode.Spec{RowGroupRows: 100, RowGroupBytes: 1 << 20}, &refs)
	require.Equal(t, e.Cost(), u.Held())
	require.EqualValues(t, memory.RefBytes, refs.Refs())
	return u
}

// TestWhoWaitsToReadBackHoldsNothing has the turn taken by somebody who may
// need all of the memory.
func TestWhoWaitsToReadBackHoldsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := memory.New(1<<20, func() {})
		f := NewFlusher(Options{Memory: b, Encoders: 1})
		cold := hot(t, b, 1, 100)
		cold.Cool()
		w := &Window{Units: []*Unit{cold, hot(t, b, 2, 100)}}
		held, _ := w.Held()
		require.Positive(t, held)
		f.loads <- struct{}{}
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error)
		go func() { done <- f.reload(ctx, w) }()
		synctest.Wait()
		held, _ = w.Held()
		assert.Zero(t, held)
		cancel()
		assert.ErrorIs(t, <-done, context.Canceled)
	})
}
