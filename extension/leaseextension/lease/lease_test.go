package lease_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/extension/leaseextension/lease"
	"github.com/s3window/s3window/extension/leaseextension/lease/memory"
)

func TestAcquireSaveReleaseRead(t *testing.T) {
	store := memory.New()
	leases := lease.NewParticipant(store, lease.Options{Holder: "a"})
	defer leases.Close()
	ctx := t.Context()

	_, err := leases.Read(ctx, "x/y")
	require.ErrorIs(t, err, lease.ErrNotFound)

	first, err := leases.Acquire(ctx, "x/y")
	require.NoError(t, err)
	require.Nil(t, first.State())
	require.NoError(t, first.Save(ctx, []byte(`{ "k": 1 }`)))
	require.JSONEq(t, `{"k":1}`, string(first.State()))
	require.NoError(t, first.Context().Err())
	require.NoError(t, first.Release(ctx, []byte(`{"k":2}`)))
	require.Error(t, first.Context().Err())
	require.ErrorIs(t, first.Save(ctx, nil), lease.ErrLost)

	second, err := leases.Acquire(ctx, "x/y")
	require.NoError(t, err)
	require.Greater(t, second.Epoch(), first.Epoch())
	require.JSONEq(t, `{"k":2}`, string(second.State()))
	require.NoError(t, second.Release(ctx, nil))

	state, err := leases.Read(ctx, "x/y")
	require.NoError(t, err)
	require.JSONEq(t, `{"k":2}`, string(state))
}

// A write whose context has ended is not sent, so that its outcome is known.
func TestNothingIsSentAfterTheEnd(t *testing.T) {
	puts := 0
	leases := lease.NewParticipant(memory.New(), lease.Options{Observer: lease.Observer{Request: func(op string, _ time.Duration, _ error) {
		if op == "put" {
			puts++
		}
	}}})
	defer leases.Close()
	held, err := leases.Acquire(t.Context(), "x")
	require.NoError(t, err)
	acquired := puts
	ended, end := context.WithCancel(t.Context())
	end()
	for range 50 {
		require.ErrorIs(t, held.Save(ended, []byte(`{"k":1}`)), context.Canceled)
	}
	require.Equal(t, acquired, puts)
	require.NoError(t, held.Release(t.Context(), nil))
}
