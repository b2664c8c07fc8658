package window

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/extension/xextension/storage"

	"github.com/s3window/s3window/internal/lake/laketest"
)

// faulty has one durable operation of a run go wrong in one way: the nth call
// of the bucket, of the lease store, or of the WAL's storage.
type faulty struct {
	store string // bucket, leases or storage
	n     int
	how   string // before, after or delay
}

// calls counts what a run asks of each store; with a fault it breaks one call.
type calls struct {
	turns bool

	mu    sync.Mutex // guards everything below
	seen  map[string]int
	fault faulty
}

// pass is asked at every call and says what becomes of it.
func (c *calls) pass(store string) (pause time.Duration, before, after error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.seen[store]
	c.seen[store]++
	if c.fault.store != store || c.fault.n != n {
		return 0, nil, nil
	}
	switch c.fault.how {
	case "before":
		return 0, errDown, nil
	case "after":
		return 0, nil, errDown
	}
	return 25 * time.Second, nil, nil // the rig's leases last ten seconds
}

func (c *calls) install(w *world, d *disk) {
	w.bucket.Script(func(laketest.Op) laketest.Fault {
		pause, before, after := c.pass("bucket")
		f := laketest.Fault{Before: before, After: after}
		if pause > 0 {
			f.Pause = func(ctx context.Context) { wait(ctx, pause) }
		}
		return f
	})
	w.store.(*kv).set(func() (error, error) {
		_, before, after := c.pass("leases")
		return before, after
	})
	var late error
	d.set(func([]*storage.Operation) error {
		_, before, after := c.pass("storage")
		late = after
		return before
	})
	d.setAfter(func([]*storage.Operation) error {
		err := late
		late = nil
		return err
	})
}

// TestEveryOperationGoesWrong breaks every call to the bucket, the lease store
// and the WAL's storage in a run of two lives, one at a time, in every way.
// Whatever was acknowledged is committed once, and nothing is left behind.
func TestEveryOperationGoesWrong(t *testing.T) {
	for _, turns := range []bool{false, true} {
		clean := &calls{turns: turns, seen: map[string]int{}}
		bubble(t, clean.live)
		total := 0
		for _, store := range []string{"bucket", "leases", "storage"} {
			if store != "leases" || turns {
				require.Greater(t, clean.seen[store], 5, store)
			}
			for n := range clean.seen[store] {
				for _, how := range []string{"before", "after", "delay"} {
					if how == "delay" && store != "bucket" {
						continue
					}
					total++
					t.Run(fmt.Sprintf("turns %v, %s %d %s", turns, store, n, how), func(t *testing.T) {
						c := &calls{turns: turns, seen: map[string]int{}, fault: faulty{store, n, how}}
						bubble(t, c.live)
					})
				}
			}
		}
		t.Logf("%d faults, turns %v", total, turns)
	}
}

// live is the run that faults are put into.
func (c *calls) live(t *testing.T) {
	w := newWorld(t)
	w.turns = c.turns
	d := newDisk()
	var acked, maybe []string
	appendTo := func(p *process, name string) {
		x := ids(name, 3)
		if err := p.wal.Append(context.Background(), record("acme", x...)); err != nil {
			maybe = append(maybe, x...)
			return
		}
		acked = append(acked, x...)
	}
	p := w.start(d, settings{maxAge: 2 * time.Second, data: 1 << 20})
	synctest.Wait()
	c.install(w, d)
	for i := range 3 {
		appendTo(p, fmt.Sprint("a", i))
		time.Sleep(1500 * time.Millisecond)
	}
	appendTo(p, "left")
	w.bucket.Script(nil)
	w.store.(*kv).set(nil)
	d.set(nil)
	d.setAfter(nil)
	p.crash()
	p = w.start(d, settings{maxAge: 2 * time.Second, data: 1 << 20})
	c.install(w, d)
	appendTo(p, "b")
	time.Sleep(90 * time.Second)
	p.shutdown()
	w.bucket.Script(nil)
	w.store.(*kv).set(nil)
	d.set(nil)
	d.setAfter(nil)
	p = w.start(d, settings{maxAge: 2 * time.Second, data: 1 << 20})
	time.Sleep(time.Minute)
	p.quiet()
	got := w.bodies("acme")
	assert.Len(t, slices.Compact(slices.Sorted(slices.Values(got))), len(got), "nothing is twice")
	assert.Subset(t, got, acked)
	assert.Subset(t, append(acked, maybe...), got)
	assert.Empty(t, w.uncommitted("acme"))
	assert.Empty(t, p.storage)
	p.shutdown()
}
