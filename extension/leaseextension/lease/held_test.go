package lease_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/extension/leaseextension/lease"
	"github.com/s3window/s3window/extension/leaseextension/lease/memory"
)

// An empty object takes the state away; nil leaves it.
func TestEmptyState(t *testing.T) {
	leases := lease.NewParticipant(memory.New(), lease.Options{})
	defer leases.Close()
	for name, write := range map[string]func(held lease.Lease, state []byte) error{
		"save":    func(held lease.Lease, state []byte) error { return held.Save(t.Context(), state) },
		"release": func(held lease.Lease, state []byte) error { return held.Release(t.Context(), state) },
	} {
		for give, want := range map[string]string{"": `{"k":1}`, `{}`: "", ` { } `: ""} {
			held := acquire(t, leases)
			require.NoError(t, held.Save(t.Context(), []byte(`{"k":1}`)))
			var state []byte
			if give != "" {
				state = []byte(give)
			}
			require.NoError(t, write(held, state))
			require.Equal(t, want, string(held.State()), name)
			read, err := leases.Read(t.Context(), "x")
			require.NoError(t, err)
			require.Equal(t, want, string(read), name)
			if name == "save" {
				require.NoError(t, held.Release(t.Context(), nil))
			}
		}
	}
}

// What is over stays over, and asks the store no more.
func TestNothingIsWrittenAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, puts := &hooked{Store: memory.New()}, 0
		store.put = func(string, []byte, string) error { puts++; return nil }
		var lost []error
		leases := alone(t, store, lease.Options{Observer: lease.Observer{Lost: func(cause error) { lost = append(lost, cause) }}})
		released := acquire(t, leases)
		require.NoError(t, released.Release(t.Context(), []byte(`{"k":1}`)))
		rec, err := store.Get(t.Context(), "x")
		require.NoError(t, err)
		fenced := acquire(t, leases)
		held, err := store.Get(t.Context(), "x")
		require.NoError(t, err)
		require.NoError(t, store.Delete(t.Context(), "x", held.Revision))
		_, err = store.Store.Put(t.Context(), "x", rec.Value, "")
		require.NoError(t, err)
		require.ErrorIs(t, fenced.Save(t.Context(), nil), lease.ErrLost)

		asked := puts
		for _, over := range []lease.Lease{released, fenced} {
			require.ErrorIs(t, over.Save(t.Context(), []byte(`{"k":2}`)), lease.ErrLost)
			require.ErrorIs(t, over.Release(t.Context(), []byte(`{"k":2}`)), lease.ErrLost)
		}
		time.Sleep(10 * lease.DefaultTTL)
		require.Equal(t, asked, puts)
		require.Equal(t, []error{lease.ErrLost}, lost)
	})
}

// A lease that is held costs three writes per TTL.
func TestRenewalsAreRare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, puts := &hooked{Store: memory.New()}, 0
		store.put = func(string, []byte, string) error { puts++; return nil }
		held := acquire(t, alone(t, store, lease.Options{}))
		time.Sleep(10*lease.DefaultTTL + time.Second)
		synctest.Wait()
		require.Equal(t, 1+30, puts)
		require.NoError(t, held.Context().Err())
		require.NoError(t, held.Release(t.Context(), nil))
	})
}
