package window

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/internal/flush"
	"github.com/s3window/s3window/internal/lake/laketest"
	"github.com/s3window/s3window/internal/wal"
)

// noise gives n ids of size bytes that do not compress.
func noise(r *rand.Rand, prefix string, n, size int) []string {
	out := ids(prefix, n)
	for i := range out {
		var b strings.Builder
		b.WriteString(out[i])
		for b.Len() < size {
			fmt.Fprintf(&b, "%016x", r.Uint64())
		}
		out[i] = b.String()
	}
	return out
}

func TestMemoryTriggerSealsTheLargestAndAdmissionWaits(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		slow := func(laketest.Op) laketest.Fault {
			return laketest.Fault{Pause: func(ctx context.Context) { wait(ctx, time.Second) }}
		}
		p := w.start(newDisk(), settings{data: 1 << 20, maxAge: 24 * time.Hour})
		r := rand.New(rand.NewPCG(1, 1))
		want := map[string]int{}
		put := func(tenant string, n int) {
			p.append(tenant, noise(r, fmt.Sprintf("%s-%d", tenant, want[tenant]), n, 3000)...)
			want[tenant] += n
		}
		for range 10 {
			for i := range 9 {
				put(fmt.Sprint("t", i), 1+i/4)
			}
		}
		synctest.Wait()
		require.Empty(t, p.seen.windows(), "memory is not short yet")
		w.bucket.Script(slow)
		for range 20 {
			for i := range 9 {
				put(fmt.Sprint("t", i), 1+i/4)
			}
		}
		synctest.Wait()
		assert.Positive(t, p.wal.Stats().UnreadEntries, "the reader waits")
		eventually(t, func() bool { return p.wal.Stats().UnreadEntries == 0 })
		eventually(t, func() bool { return len(p.seen.windows()) > 0 })
		ws := p.seen.windows()
		assert.Equal(t, "t8", ws[0].Tenant, "the one that holds the most is sealed first")
		assert.Equal(t, map[flush.Reason]int{flush.Memory: len(ws)}, p.seen.reasons())
		w.bucket.Script(nil)
		time.Sleep(25 * time.Hour)
		p.quiet()
		for tenant, n := range want {
			assert.Len(t, w.bodies(tenant), n)
		}
		p.shutdown()
	})
}

// wait waits in the bubble's time.
func wait(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// TestOutageOfAnHour runs at full load against a bucket that is gone: memory
// fills, is emptied of what can be read again, all partitions fall behind, the
// reader goes on for those that may come, and everything comes out when the
// bucket is back, in windows of the target size.
func TestOutageOfAnHour(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		q := &counted{}
		p := w.start(newDisk(), settings{maxAge: time.Minute, data: 1 << 20, queue: q.wrap})
		for _, tenant := range []string{"acme", "beta"} { // the head of gamma stays unread
			p.append(tenant, tenant)
		}
		synctest.Wait()
		w.bucket.Script(func(laketest.Op) laketest.Fault { return laketest.Fault{Before: errDown} })
		r := rand.New(rand.NewPCG(1, 2))
		want := map[string]int{"acme": 1, "beta": 1}
		for i := range 720 {
			for _, tenant := range []string{"acme", "beta", "gamma"} {
				recs := make([]wal.Record, 3)
				for j := range recs {
					recs[j] = record(tenant, noise(r, fmt.Sprintf("%s-%d-%d", tenant, i, j), 2, 300)...)
				}
				require.NoError(t, p.wal.Append(t.Context(), recs...))
				want[tenant] += 6
			}
			time.Sleep(5 * time.Second)
		}
		assert.Equal(t, 3, p.Stats().Behind)
		assert.Zero(t, p.wal.Stats().UnreadEntries, "the reader does not wait")
		require.ErrorContains(t, p.seen.lastHealth(), "down")
		before := len(p.seen.windows())
		w.bucket.Script(nil)
		eventually(t, func() bool { return p.wal.Stats().Entries == 0 })
		assert.Less(t, len(p.seen.windows())-before, 60, "of which there would have been 180 in time")
		time.Sleep(2 * time.Minute)
		p.quiet()
		for tenant, n := range want {
			got := w.bodies(tenant)
			assert.Len(t, got, n)
		}
		assert.NoError(t, p.seen.lastHealth())
		p.shutdown()
	})
}

// TestOutageDoesNotReadBackForNothing bounds what is read from the WAL while
// the bucket is down and windows push each other out of memory: attempts ask
// first.
func TestOutageDoesNotReadBackForNothing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		q := &counted{}
		p := w.start(newDisk(), settings{maxAge: time.Minute, data: 1 << 20, queue: q.wrap})
		r := rand.New(rand.NewPCG(1, 3))
		for k := range 10 {
			p.append(fmt.Sprint("t", k), "first")
		}
		synctest.Wait() // heads are read
		w.bucket.Script(func(laketest.Op) laketest.Fault { return laketest.Fault{Before: errDown} })
		for i := range 30 {
			for k := range 10 {
				p.append(fmt.Sprint("t", k), noise(r, fmt.Sprint(i), 20, 500)...)
			}
			time.Sleep(time.Second)
		}
		time.Sleep(time.Minute)
		before := q.reread.Load()
		time.Sleep(time.Hour)
		assert.Less(t, q.reread.Load()-before, int64(300), "not even once each")
		w.bucket.Script(nil)
		p.quiet()
		assert.Len(t, w.bodies("t3"), 601)
		p.shutdown()
	})
}

// TestWindowIsReadBackThoughMemoryIsFull has others hold all the memory in
// windows that stay open for an hour.
func TestWindowIsReadBackThoughMemoryIsFull(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		var up atomic.Bool
		w.bucket.Script(func(op laketest.Op) laketest.Fault {
			if !up.Load() && strings.Contains(op.Key, "acme") && op.Kind == laketest.PutIfAbsent {
				return laketest.Fault{Before: errDown}
			}
			return laketest.Fault{}
		})
		p := w.start(newDisk(), settings{maxAge: time.Hour, data: 1 << 20, limits: func(tenant string) flush.Limits {
			if tenant == "acme" {
				return flush.Limits{TargetSize: 1 << 40, MaxAge: time.Second}
			}
			return flush.Limits{}
		}})
		r := rand.New(rand.NewPCG(1, 6))
		p.append("acme", noise(r, "a", 100, 1000)...)
		time.Sleep(30 * time.Second)
		p.do(func() { p.evict(1<<40, (*part).stuck) })
		for i := 0; ; i++ {
			if held, _, _ := p.budget.Usage(); held > p.budget.Usable()-20000 {
				break
			}
			p.append(fmt.Sprint("t", i%20), noise(r, fmt.Sprint(i), 10, 1000)...)
			synctest.Wait()
		}
		require.Empty(t, p.seen.windows())
		up.Store(true)
		time.Sleep(10 * time.Second)
		assert.Len(t, w.bodies("acme"), 100)
		assert.Len(t, p.seen.windows(), 1, "the others' windows stay open")
		time.Sleep(2 * time.Hour)
		p.quiet()
		p.shutdown()
	})
}
