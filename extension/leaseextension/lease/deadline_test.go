package lease_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/extension/leaseextension/lease"
	"github.com/s3window/s3window/extension/leaseextension/lease/memory"
)

// slow is a store whose writes are applied, or fail, at once and answered later.
type slow struct {
	lease.Store
	by   time.Duration
	fail int // so many writes are not applied
}

func (s *slow) Put(ctx context.Context, key string, value []byte, ifRevision string) (revision string, err error) {
	if s.fail--; s.fail >= 0 {
		err = errors.New("not applied")
	} else {
		revision, err = s.Store.Put(ctx, key, value, ifRevision)
	}
	time.Sleep(s.by)
	return revision, err
}

// A waiter counts from when a write was applied, which may be long before it was
// answered. So a holder counts from before it sent the write.
func TestDeadlineCountsFromTheRequest(t *testing.T) {
	const ttl, good, answered = 30 * time.Second, 27 * time.Second, 8 * time.Second
	for name, write := range map[string]func(t *testing.T, held lease.Lease, store *slow) (sent time.Time){
		"acquired": func(_ *testing.T, _ lease.Lease, store *slow) time.Time {
			return time.Now().Add(-store.by)
		},
		"renewed": func(_ *testing.T, held lease.Lease, store *slow) time.Time {
			sent := held.Deadline().Add(ttl/3 - good)
			time.Sleep(time.Until(sent) + store.by)
			synctest.Wait()
			return sent
		},
		"saved": func(t *testing.T, held lease.Lease, store *slow) time.Time {
			sent := time.Now()
			require.NoError(t, held.Save(t.Context(), []byte(`{"k":1}`)))
			require.Equal(t, store.by, time.Since(sent))
			return sent
		},
		"saved at the third try": func(t *testing.T, held lease.Lease, store *slow) time.Time {
			store.fail, store.by = 2, 500*time.Millisecond
			sent := time.Now()
			require.NoError(t, held.Save(t.Context(), []byte(`{"k":1}`)))
			require.Greater(t, time.Since(sent), 3*store.by)
			return sent // the first try may have been the one that was applied
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := &slow{Store: memory.New(), by: answered}
				leases := lease.NewParticipant(store, lease.Options{TTL: ttl})
				defer leases.Close()
				held, err := leases.Acquire(t.Context(), "x")
				require.NoError(t, err)
				sent := write(t, held, store)
				require.Equal(t, sent.Add(good), held.Deadline())
			})
		})
	}
}

// The context ends at the deadline, neither before nor after it, unless a write
// is confirmed.
func TestContextEndsAtTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &slow{Store: memory.New()}
		var lost []error
		leases := lease.NewParticipant(store, lease.Options{Observer: lease.Observer{Lost: func(cause error) { lost = append(lost, cause) }}})
		defer leases.Close()
		held, err := leases.Acquire(t.Context(), "x")
		require.NoError(t, err)
		time.Sleep(lease.DefaultTTL) // renewed meanwhile
		synctest.Wait()
		store.fail = 1 << 30
		deadline := held.Deadline()
		require.Positive(t, time.Until(deadline))
		time.Sleep(time.Until(deadline) - time.Nanosecond)
		synctest.Wait()
		require.NoError(t, held.Context().Err())
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		require.ErrorIs(t, context.Cause(held.Context()), lease.ErrExpired)
		require.Equal(t, []error{lease.ErrExpired}, lost)
		require.Equal(t, deadline, held.Deadline())
	})
}
