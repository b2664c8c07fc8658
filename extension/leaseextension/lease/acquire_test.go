package lease_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/extension/leaseextension/lease"
	"github.com/s3window/s3window/extension/leaseextension/lease/memory"
)

// hooked is a store that a test looks into.
type hooked struct {
	lease.Store
	get func(rec lease.Record, err error) (lease.Record, error)
	put func(key string, value []byte, ifRevision string) error // an error: the write is not applied
}

func (h *hooked) Get(ctx context.Context, key string) (lease.Record, error) {
	rec, err := h.Store.Get(ctx, key)
	if h.get != nil {
		return h.get(rec, err)
	}
	return rec, err
}

func (h *hooked) Put(ctx context.Context, key string, value []byte, ifRevision string) (string, error) {
	if h.put != nil {
		if err := h.put(key, value, ifRevision); err != nil {
			return "", err
		}
	}
	return h.Store.Put(ctx, key, value, ifRevision)
}

// alone is a participant of a store, in a bubble.
func alone(t *testing.T, store lease.Store, options lease.Options) *lease.Participant {
	leases := lease.NewParticipant(store, options)
	t.Cleanup(leases.Close)
	return leases
}

func acquire(t *testing.T, leases *lease.Participant, opts ...lease.AcquireOption) lease.Lease {
	t.Helper()
	held, err := leases.Acquire(t.Context(), "x", opts...)
	require.NoError(t, err)
	return held
}

// A record that this version does not read is an error at once, and is left as it
// is: also by a lease that was held before.
func TestUnreadableRecordsAreLeftAlone(t *testing.T) {
	for name, value := range map[string]string{"of another version": `{"version":2,"epoch":1,"write":"a"}`, "no record": "x"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := memory.New()
				leases := alone(t, store, lease.Options{})
				held := acquire(t, leases)
				rec, err := store.Get(t.Context(), "x")
				require.NoError(t, err)
				_, err = store.Put(t.Context(), "x", []byte(value), rec.Revision)
				require.NoError(t, err)

				asked := time.Now()
				_, err = leases.Read(t.Context(), "x")
				require.ErrorIs(t, err, lease.ErrUnreadable)
				require.ErrorIs(t, held.Save(t.Context(), nil), lease.ErrLost)
				found, err := leases.Acquire(t.Context(), "x")
				require.ErrorIs(t, err, lease.ErrUnreadable)
				require.Nil(t, found)
				require.Zero(t, time.Since(asked))
				rec, err = store.Get(t.Context(), "x")
				require.NoError(t, err)
				require.Equal(t, value, string(rec.Value))

				require.NoError(t, store.Delete(t.Context(), "x", rec.Revision))
				require.NoError(t, acquire(t, leases).Release(t.Context(), nil), "its turn in the process was given up")
			})
		})
	}
}

// A store that reads and does not write is an error within its patience, for an
// acquisition as for a lease that is held.
func TestRefusedWritesAreAnError(t *testing.T) {
	for name, call := range map[string]func(ctx context.Context, leases lease.Leases, held lease.Lease) error{
		"acquire": func(ctx context.Context, leases lease.Leases, _ lease.Lease) error {
			_, err := leases.Acquire(ctx, "y")
			return err
		},
		"save":    func(ctx context.Context, _ lease.Leases, held lease.Lease) error { return held.Save(ctx, nil) },
		"release": func(ctx context.Context, _ lease.Leases, held lease.Lease) error { return held.Release(ctx, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				down := errors.New("read only")
				store := &hooked{Store: memory.New()}
				leases := alone(t, store, lease.Options{})
				held := acquire(t, leases)
				store.put = func(string, []byte, string) error { return down }
				asked := time.Now()
				require.ErrorIs(t, call(t.Context(), leases, held), down)
				require.GreaterOrEqual(t, time.Since(asked), 2*lease.DefaultTTL/3)
				require.Less(t, time.Since(asked), lease.DefaultTTL)
			})
		})
	}
}

// An end of the context is told together with what the store said.
func TestEndIsToldWithTheCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := errors.New("down")
		store := &hooked{Store: memory.New(), get: func(lease.Record, error) (lease.Record, error) { return lease.Record{}, down }}
		ctx, end := context.WithTimeout(t.Context(), time.Second)
		defer end()
		_, err := alone(t, store, lease.Options{}).Acquire(ctx, "x")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, down)
		require.EqualError(t, err, `acquire lease "x": context deadline exceeded; the store's last answer: read register: down`)
		store.get = nil
		acquire(t, alone(t, store, lease.Options{}))
		ctx, end = context.WithTimeout(t.Context(), time.Second)
		defer end()
		_, err = alone(t, store, lease.Options{}).Acquire(ctx, "x")
		require.EqualError(t, err, `acquire lease "x": context deadline exceeded`)
	})
}

// Losing against others is no failure, for however long.
func TestContentionIsNoFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, lost := &hooked{Store: memory.New()}, 0
		store.put = func(key string, value []byte, ifRevision string) error {
			if lost++; lost > 100 {
				return nil
			}
			other := fmt.Appendf(nil, `{"version":1,"epoch":%d,"write":"other"}`, lost)
			_, err := store.Store.Put(t.Context(), key, other, ifRevision)
			require.NoError(t, err)
			time.Sleep(time.Second)
			return lease.ErrConflict
		}
		asked := time.Now()
		held := acquire(t, alone(t, store, lease.Options{}))
		require.Greater(t, time.Since(asked), 3*lease.DefaultTTL)
		require.NoError(t, held.Release(t.Context(), nil))
	})
}

// A caller that gives up waiting has had no turn, and so ends none.
func TestImpatientCallerLeavesTheTurnAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reads := 0
		store := &hooked{Store: memory.New(), get: func(rec lease.Record, err error) (lease.Record, error) { reads++; return rec, err }}
		leases := alone(t, store, lease.Options{})
		held := acquire(t, leases)
		var all sync.WaitGroup
		impatient, end := context.WithTimeout(t.Context(), time.Second)
		defer end()
		all.Go(func() {
			_, err := leases.Acquire(impatient, "x")
			require.ErrorIs(t, err, context.DeadlineExceeded)
		})
		synctest.Wait()
		all.Go(func() { require.NoError(t, acquire(t, leases).Release(t.Context(), nil)) })
		time.Sleep(2 * time.Second)
		require.Equal(t, 1, reads, "nobody polls while this process holds the lease")
		require.NoError(t, held.Release(t.Context(), nil))
		all.Wait()
	})
}

// The observer is told of a take-over where another holder's lease was replaced,
// and nowhere else.
func TestTakeOversAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &hooked{Store: memory.New()}
		var told []bool
		observer := lease.Observer{Acquired: func(_ time.Duration, takeover bool) { told = append(told, takeover) }}
		dead := alone(t, store, lease.Options{Holder: "dead"})
		leases := alone(t, store, lease.Options{Observer: observer})
		require.NoError(t, acquire(t, leases).Release(t.Context(), nil), "where nothing was")
		require.NoError(t, acquire(t, leases).Release(t.Context(), nil), "free")
		acquire(t, dead)
		dead.Close()
		require.NoError(t, acquire(t, leases).Release(t.Context(), nil), "after the TTL")

		// Its own attempt, which was applied before the store was gone.
		gone := false
		store.put = func(key string, value []byte, ifRevision string) error {
			_, _ = store.Store.Put(t.Context(), key, value, ifRevision) // the first time
			gone = true
			return errors.New("gone")
		}
		store.get = func(rec lease.Record, err error) (lease.Record, error) {
			if gone {
				return lease.Record{}, errors.New("gone")
			}
			return rec, err
		}
		_, err := leases.Acquire(t.Context(), "x")
		require.EqualError(t, err, "acquire lease \"x\": write register: gone")
		gone, store.put = false, nil
		require.NoError(t, acquire(t, leases).Release(t.Context(), nil), "its own")
		require.Equal(t, []bool{false, false, true, false}, told)
	})
}

// A participant without rivals takes turn after turn without a pause. Only when it
// has done so for 200 ms, a pause lets a waiter in that it may not have noticed.
func TestAloneItRarelyPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		longest := func(n time.Duration) time.Duration { return n - 1 }
		leases := alone(t, memory.New(), lease.Options{Jitter: longest})
		began := time.Now()
		turns := func(n int) {
			for range n {
				held := acquire(t, leases)
				time.Sleep(10 * time.Millisecond) // work
				require.NoError(t, held.Release(t.Context(), nil))
			}
		}
		turns(20)
		require.Equal(t, 200*time.Millisecond, time.Since(began))
		turns(20)
		require.Equal(t, 400*time.Millisecond+60*time.Millisecond-1, time.Since(began))
		turns(1)
		require.Equal(t, 410*time.Millisecond+2*(60*time.Millisecond-1), time.Since(began))
	})
}

// Of several attempts that gave up, any may be the one that is applied late.
func TestAnyAbandonedAttemptIsItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var late [][]byte
		store := &hooked{Store: memory.New()}
		gone := func(lease.Record, error) (lease.Record, error) { return lease.Record{}, errors.New("gone") }
		store.put = func(_ string, value []byte, _ string) error {
			late = append(late, value)
			store.get = gone
			return errors.New("gone")
		}
		leases := alone(t, store, lease.Options{})
		for range 2 {
			_, err := leases.Acquire(t.Context(), "x")
			require.Error(t, err)
			store.get = nil
		}
		require.NotEqual(t, late[0], late[len(late)-1])
		_, err := store.Store.Put(t.Context(), "x", late[0], "")
		require.NoError(t, err)
		store.put = nil
		asked := time.Now()
		acquire(t, leases)
		require.Zero(t, time.Since(asked))
	})
}

// A waiter asks often at first and then once a second, and takes over at the
// moment at which it may.
func TestWaiterPolls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var reads []time.Time
		store := &hooked{Store: memory.New(), get: func(rec lease.Record, err error) (lease.Record, error) {
			reads = append(reads, time.Now())
			return rec, err
		}}
		dead := alone(t, store, lease.Options{})
		acquire(t, dead)
		dead.Close()
		reads = nil
		began := time.Now()
		waiter := alone(t, store, lease.Options{Jitter: func(n time.Duration) time.Duration { return n / 2 }})
		require.NoError(t, acquire(t, waiter).Release(t.Context(), nil))
		require.Equal(t, lease.DefaultTTL, time.Since(began))
		var pauses []time.Duration
		for i, at := range reads[1:] {
			pauses = append(pauses, at.Sub(reads[i]))
		}
		want := []time.Duration{20, 40, 80, 160, 320, 640}
		for i := range want {
			want[i] *= time.Millisecond
		}
		for range 28 {
			want = append(want, time.Second)
		}
		require.Equal(t, append(want, 740*time.Millisecond), pauses)
	})
}
