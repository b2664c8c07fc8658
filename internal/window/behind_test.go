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

	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/lake/laketest"
	"github.com/s3window/s3window/internal/wal"
)

// forbid has every call for keys with the text in them fail.
func forbid(text string) func(laketest.Op) laketest.Fault {
	return func(op laketest.Op) laketest.Fault {
		if strings.Contains(op.Key, text) {
			return laketest.Fault{Before: errForbidden}
		}
		return laketest.Fault{}
	}
}

// onTime fails the test if a record of the tenant that was sent longer ago than
// late is not committed.
func onTime(t *testing.T, p *process, tenant string, sent []time.Time, late time.Duration) {
	t.Helper()
	due := 0
	for due < len(sent) && time.Since(sent[due]) > late {
		due++
	}
	if p.seen.records(tenant) < int64(due) {
		p.dump()
		t.Fatalf("%s at %v: %d of %d records are committed", tenant, time.Now(), p.seen.records(tenant), due)
	}
}

// TestBacklogOfOneTenantHoldsNobodyUp has a tenant with a dead bucket send many
// times as many requests of one record as references to them would fit the
// memory. The others are committed on time: while that goes on, and after a
// restart on all of it.
func TestBacklogOfOneTenantHoldsNobodyUp(t *testing.T) {
	for name, script := range map[string]func(laketest.Op) laketest.Fault{
		"forbidden": forbid("acme"),
		"writes forbidden": func(op laketest.Op) laketest.Fault {
			if strings.Contains(op.Key, "acme") && op.Kind == laketest.PutIfAbsent {
				return laketest.Fault{Before: errForbidden}
			}
			return laketest.Fault{}
		},
		"hangs": func(op laketest.Op) laketest.Fault {
			if strings.Contains(op.Key, "acme") {
				return laketest.Fault{Before: errDown, Pause: hang}
			}
			return laketest.Fault{}
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) { backlogHoldsNobodyUp(t, script) })
		})
	}
}

func backlogHoldsNobodyUp(t *testing.T, script func(laketest.Op) laketest.Fault) {
	t.Helper()
	w := newWorld(t)
	d := newDisk()
	w.bucket.Script(script)
	limits := settings{maxAge: 5 * time.Second, data: 1 << 20}
	p := w.start(d, limits)
	var sent []time.Time
	n := 0
	others := func() {
		p.append("beta", fmt.Sprint("b", len(sent)))
		sent = append(sent, time.Now())
	}
	for range 300 {
		for range 100 {
			p.append("acme", fmt.Sprint("a", n))
			n++
		}
		others()
		time.Sleep(time.Second)
		onTime(t, p, "beta", sent, 27*time.Second)
	}
	require.Greater(t, 64*n, 1<<20, "the references alone are more than all the memory")
	_, _, peak := p.budget.Usage()
	require.LessOrEqual(t, peak, p.budget.Limit())
	p.crash()

	sent = nil
	p = w.start(d, limits)
	for range 60 {
		others()
		time.Sleep(time.Second)
		onTime(t, p, "beta", sent, 27*time.Second)
	}
	w.bucket.Script(nil)
	time.Sleep(5 * time.Minute)
	p.quiet()
	assert.Len(t, w.bodies("acme"), n)
	assert.Len(t, w.bodies("beta"), 360)
	assert.Empty(t, w.uncommitted("acme"))
	p.shutdown()
}

// TestManyFallBehind has half of the tenants lose their bucket for half an hour
// while all of them send more than the memory holds, then a restart in the
// middle of the catch-up. Nothing is lost or doubled, no stamp is cut.
func TestManyFallBehind(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		d := newDisk()
		w.bucket.Script(forbid("bad"))
		limits := settings{maxAge: 10 * time.Second, data: 1 << 20, segment: 7 * time.Minute, align: "hour"}
		p := w.start(d, limits)
		r := rand.New(rand.NewPCG(1, 11))
		want := map[string]int{}
		var good []time.Time
		for i := range 900 {
			recs := []wal.Record{}
			for k := range 8 {
				tenant := fmt.Sprintf("%s%d", []string{"bad", "good"}[k%2], k/2)
				for j := range 1 + r.IntN(2) {
					recs = append(recs, record(tenant, noise(r, fmt.Sprintf("%s/%d/%d", tenant, i, j), 2, 200)...))
					want[tenant] += 2
				}
			}
			require.NoError(t, p.wal.Append(t.Context(), recs...))
			good = append(good, time.Now())
			time.Sleep(2 * time.Second)
			onTime(t, p, "good1", good, 20*time.Second)
		}
		assert.GreaterOrEqual(t, p.Stats().Behind, 2)
		w.bucket.Script(nil)
		time.Sleep(3 * time.Second)
		p.crash()
		p = w.start(d, limits)
		time.Sleep(20 * time.Minute)
		p.quiet()
		for tenant, n := range want {
			got := w.bodies(tenant)
			assert.Len(t, got, n, tenant)
			seen := map[string]bool{}
			for _, x := range got {
				require.False(t, seen[x], "%s is there once", x)
				seen[x] = true
			}
			assert.Empty(t, w.uncommitted(tenant))
		}
		assert.Less(t, len(w.windows("bad0")), len(w.windows("good0"))/2, "a backlog is written in large windows")
		assert.Zero(t, p.Stats().Behind)
		p.shutdown()
	})
}

// TestCatchingUpWhileMoreComes has a tenant that catches up sent more all the
// while, in requests that share their stamps with others.
func TestCatchingUpWhileMoreComes(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		var down atomic.Bool
		w.bucket.Script(func(op laketest.Op) laketest.Fault {
			if down.Load() && strings.Contains(op.Key, "acme") {
				return laketest.Fault{Before: errDown}
			}
			return laketest.Fault{Pause: func(ctx context.Context) { wait(ctx, 3*time.Millisecond) }}
		})
		p := w.start(newDisk(), settings{maxAge: 5 * time.Second, data: 1 << 20})
		r := rand.New(rand.NewPCG(1, 12))
		var want []string
		for i := range 6000 {
			down.Store(i%2000 > 500 && i%2000 < 1500)
			ids := noise(r, fmt.Sprint("a", i), 2, 400)
			require.NoError(t, p.wal.Append(t.Context(), record("acme", ids...), record("beta", fmt.Sprint(i))))
			want = append(want, ids...)
			time.Sleep(20 * time.Millisecond)
		}
		time.Sleep(5 * time.Minute)
		p.quiet()
		assert.Equal(t, want, w.bodies("acme"), "all of it, once, in order")
		assert.Len(t, w.bodies("beta"), 6000)
		p.shutdown()
	})
}

// TestSlowBucketKeepsToItsShare has a bucket take a minute for each object of a
// tenant that sends more than the memory holds: others are read past it.
func TestSlowBucketKeepsToItsShare(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		w.bucket.Script(func(op laketest.Op) laketest.Fault {
			if strings.Contains(op.Key, "acme") && op.Kind == laketest.PutIfAbsent {
				return laketest.Fault{Pause: func(ctx context.Context) { wait(ctx, 50*time.Second) }}
			}
			return laketest.Fault{}
		})
		p := w.start(newDisk(), settings{maxAge: 5 * time.Second, data: 1 << 20})
		r := rand.New(rand.NewPCG(1, 13))
		var sent []time.Time
		n := 0
		for i := range 200 {
			p.append("acme", noise(r, fmt.Sprint(i), 60, 500)...)
			n += 60
			p.append("beta", fmt.Sprint(i))
			sent = append(sent, time.Now())
			time.Sleep(time.Second)
			onTime(t, p, "beta", sent, 90*time.Second)
		}
		assert.Positive(t, p.Stats().Behind)
		w.bucket.Script(nil)
		time.Sleep(10 * time.Minute)
		p.quiet()
		assert.Len(t, w.bodies("acme"), n)
		p.shutdown()
	})
}

// TestOldLakeThatCannotBeReached has a process start with another lake while
// the old one, whose records are queued, is gone. Only who owes records there
// waits; who never wrote there, and who owes nothing there any more, does not.
func TestOldLakeThatCannotBeReached(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		d := newDisk()
		p := w.start(d, settings{maxAge: 5 * time.Second})
		p.append("paid", "p")
		time.Sleep(20 * time.Second)
		require.Len(t, w.bodies("paid"), 1)
		w.bucket.Script(forbid("sealed"))
		p.append("sealed", "s")
		time.Sleep(10 * time.Second)
		p.append("owes", "o")
		synctest.Wait()
		p.crash()
		old := w.bucket
		old.Script(func(laketest.Op) laketest.Fault { return laketest.Fault{Before: errDown} })

		fresh := newWorld(t)
		fresh.ref = lake.Ref{Bucket: "fresh", Prefix: "otel"}
		fresh.own = map[string]*world{"before": w} // its bucket can still be named
		p = fresh.start(d, settings{maxAge: 5 * time.Second})
		p.append("paid", "p2")
		p.append("new", "n")
		p.append("owes", "o2")
		time.Sleep(30 * time.Second)
		assert.Equal(t, []string{"p2"}, fresh.bodies("paid"))
		assert.Equal(t, []string{"n"}, fresh.bodies("new"))
		assert.Empty(t, fresh.bodies("owes"), "the old lake may have it")
		require.ErrorContains(t, p.seen.lastHealth(), "owes")
		require.ErrorContains(t, p.seen.lastHealth(), "the bucket is down")
		old.Script(nil)
		time.Sleep(time.Minute)
		p.quiet()
		assert.Equal(t, []string{"o", "o2"}, fresh.bodies("owes"), "what was not sealed goes where the configuration says")
		assert.Equal(t, []string{"s"}, append(w.bodies("sealed"), fresh.bodies("sealed")...))
		p.shutdown()
	})
}

// TestMemoryQueueIsCommittedAtShutdown has nothing that survives the process:
// what is young and small is committed too, also what is still unread.
func TestMemoryQueueIsCommittedAtShutdown(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.start(nil, settings{maxAge: time.Hour, volatile: true, data: 1 << 20})
		r := rand.New(rand.NewPCG(1, 14))
		n := 0
		for i := range 50 {
			p.append(fmt.Sprint("t", i%3), noise(r, fmt.Sprint(i), 20, 3000)...)
			n += 20
		}
		p.append("young", "y")
		p.shutdown()
		assert.Equal(t, []string{"y"}, w.bodies("young"))
		assert.Equal(t, n, len(w.bodies("t0"))+len(w.bodies("t1"))+len(w.bodies("t2")))
	})
}

// TestMemoryQueueKeepsToTheGrace has a bucket that is gone at the end.
func TestMemoryQueueKeepsToTheGrace(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.start(nil, settings{maxAge: time.Hour, volatile: true, grace: 7 * time.Second})
		p.append("acme", "a")
		synctest.Wait()
		w.bucket.Script(func(laketest.Op) laketest.Fault { return laketest.Fault{Before: errDown} })
		began := time.Now()
		p.shutdown()
		assert.LessOrEqual(t, time.Since(began), 8*time.Second)
	})
}

// gatedScans holds what scans of the queue have read until the gate is opened.
type gatedScans struct {
	Queue
	gate chan struct{}
}

func (q gatedScans) Scan(ctx context.Context, from, end uint64, want func(tenant, signal string) bool) (wal.Scanned, error) {
	got, err := q.Queue.Scan(ctx, from, end, want)
	<-q.gate
	return got, err
}

// TestWhatWaitsBehindAScanGivesWay has the reader fill the memory with what
// waits behind a scan of the same partition, which needs some of it.
func TestWhatWaitsBehindAScanGivesWay(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		gate := make(chan struct{})
		p := w.start(newDisk(), settings{
			maxAge: 5 * time.Second, data: 1 << 20, queue: func(q *wal.WAL) Queue { return gatedScans{q, gate} },
		})
		r := rand.New(rand.NewPCG(1, 15))
		n := 0
		send := func() { p.append("acme", noise(r, fmt.Sprint(n), 20, 500)...); n += 20 }
		send()
		synctest.Wait()
		p.do(func() { p.restart(p.parts[key{"acme", "logs"}]) })
		synctest.Wait()
		for range 150 { // 1.5 MiB
			send()
		}
		synctest.Wait()
		close(gate)
		p.append("beta", "b")
		time.Sleep(30 * time.Second)
		assert.Equal(t, []string{"b"}, w.bodies("beta"))
		p.quiet()
		assert.Len(t, w.bodies("acme"), n)
		p.shutdown()
	})
}
