package commit

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/extension/leaseextension/lease"
	"github.com/s3window/s3window/internal/lake/laketest"
)

// A store that never answers holds a commit up for no longer than the timeout,
// repetitions included, and the lease is given back.
func TestDeadlines(t *testing.T) {
	for name, turns := range map[string]bool{"with turns": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				const limit = 4 * time.Second
				p := r.process("a", func(o *Options) { o.Timeout, o.Turns = limit, turns })
				w := r.win(writerA, 0, 10, 20)
				r.bucket.Script(func(op laketest.Op) laketest.Fault {
					if op.Kind == laketest.PutIfAbsent && isManifest(op.Key) {
						return laketest.Fault{Pause: func(ctx context.Context) { <-ctx.Done() }}
					}
					return laketest.Fault{}
				})
				start := time.Now()
				n, err := p.Commit(t.Context(), []Window{w})
				require.ErrorIs(t, err, context.DeadlineExceeded)
				require.Zero(t, n)
				require.Equal(t, limit, time.Since(start))
				r.bucket.Script(nil)
				r.commit(r.process("b", func(o *Options) { o.Turns = turns }), w)
				require.Equal(t, limit, time.Since(start), "nobody waits for the TTL")
			})
		})
	}
}

// Who gives up while the head is written gets the time to give the lease back,
// and no more.
func TestTheLeaseIsGivenBackInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		p := r.process("a", func(o *Options) { o.Turns = true })
		w := r.win(writerA, 0, 10, 20)
		ctx, cancel := context.WithCancel(t.Context())
		p.onStep = func(label string) {
			if label == "commit:put-manifest done" {
				cancel()
				r.kv.set(func(int, kvOp) laketest.Fault {
					return laketest.Fault{Pause: func(ctx context.Context) { <-ctx.Done() }}
				})
			}
		}
		start := time.Now()
		n, err := p.Commit(ctx, []Window{w})
		require.NoError(t, err, "it is committed all the same")
		require.Equal(t, 1, n)
		require.Equal(t, courtesy, time.Since(start))
	})
}

// The shortest leases that the extension allows leave time to commit in.
func TestShortestLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		leases := lease.NewParticipant(r.kv, lease.Options{Holder: "a", TTL: 2 * time.Second})
		defer leases.Close()
		r.bucket.Script(func(laketest.Op) laketest.Fault {
			return laketest.Fault{Pause: func(context.Context) { time.Sleep(100 * time.Millisecond) }}
		})
		n, err := New(r.lake, leases, testID, Options{}).Commit(t.Context(), []Window{r.win(writerA, 0, 10, 20)})
		require.NoError(t, err)
		require.Equal(t, 1, n)
	})
}

// A caller that gives up while another commit of the same log has its turn
// gets its own cause back.
func TestCommitWaitsItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		p := r.process("a")
		w, next := r.win(writerA, 0, 10, 20), r.win(writerB, 0, 1, 2)
		r.bucket.Script(func(op laketest.Op) laketest.Fault {
			if op.Kind == laketest.PutIfAbsent {
				return laketest.Fault{Pause: func(context.Context) { time.Sleep(10 * time.Second) }}
			}
			return laketest.Fault{}
		})
		first := make(chan error, 1)
		go func() {
			_, err := p.Commit(t.Context(), []Window{w})
			first <- err
		}()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := p.Commit(ctx, []Window{next})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		r.commit(p, next)
		require.NoError(t, <-first)
		require.Len(t, r.judged(), 2)
	})
}
