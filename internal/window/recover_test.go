package window

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/internal/encode"
	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/lake/laketest"
)

func TestCopiedWALOpenedTwice(t *testing.T) {
	for _, copyAt := range []time.Duration{time.Second, 4 * time.Second, 6 * time.Second} {
		t.Run(copyAt.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				d := newDisk()
				a := w.start(d, settings{maxAge: 5 * time.Second})
				want := []string{}
				appendTo := func(p *process, name string, n int) {
					for i := range n {
						x := ids(fmt.Sprintf("%s-%d", name, i), 3)
						p.append("acme", x...)
						want = append(want, x...)
						time.Sleep(700 * time.Millisecond)
					}
				}
				appendTo(a, "before", int(copyAt/(700*time.Millisecond)))
				b := w.start(d.copy(), settings{maxAge: 2 * time.Second})
				appendTo(a, "a", 10)
				appendTo(b, "b", 10)
				eventually(t, func() bool { return len(w.bodies("acme")) >= len(want) })
				time.Sleep(time.Minute)
				assert.ElementsMatch(t, want, w.bodies("acme"))
				for _, p := range []*process{a, b} {
					eventually(t, func() bool { return p.wal.Stats().Entries == 0 })
					p.shutdown()
				}
				assert.Empty(t, w.uncommitted("acme"), "objects of void windows are swept")
			})
		})
	}
}

func TestRestoredWAL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		d := newDisk()
		p := w.start(d, settings{maxAge: 3 * time.Second})
		p.append("acme", ids("old", 5)...)
		synctest.Wait()
		backup := d.copy()
		time.Sleep(10 * time.Second)
		p.append("acme", ids("new", 5)...)
		time.Sleep(10 * time.Second)
		p.crash()
		require.Len(t, w.bodies("acme"), 10)

		p = w.start(backup, settings{maxAge: 3 * time.Second})
		p.append("acme", ids("after", 5)...)
		time.Sleep(time.Minute)
		assert.ElementsMatch(t, slices.Concat(ids("old", 5), ids("new", 5), ids("after", 5)), w.bodies("acme"))
		p.quiet()
		p.shutdown()
	})
}

func TestLakeChangedWhileTheWALHoldsEntries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		d := newDisk()
		p := w.start(d, settings{maxAge: 3 * time.Second})
		p.append("acme", ids("committed", 5)...)
		time.Sleep(10 * time.Second)
		w.bucket.Script(func(op laketest.Op) laketest.Fault {
			if strings.Contains(op.Key, "/windows/") {
				return laketest.Fault{Before: errDown}
			}
			return laketest.Fault{}
		})
		p.append("acme", ids("sealed", 5)...)
		time.Sleep(10 * time.Second)
		p.append("acme", ids("open", 5)...)
		synctest.Wait()
		p.crash()
		w.bucket.Script(nil)

		old := w.ref
		w.ref = lake.Ref{Bucket: "lake", Prefix: "other"}
		p = w.start(d, settings{maxAge: 3 * time.Second})
		time.Sleep(time.Minute)
		assert.ElementsMatch(t, ids("open", 5), w.bodies("acme"))
		w.ref = old
		assert.ElementsMatch(t, append(ids("committed", 5), ids("sealed", 5)...), w.bodies("acme"), "finished where it was sealed for")
		p.quiet()
		p.shutdown()
	})
}

// TestCrashAtEveryStep lets a process live, takes what is durable at every
// labelled step of that life as if the process had been killed there, and has
// the next process finish from it; once with the lease store as it was, and
// once with one that lost everything.
func TestCrashAtEveryStep(t *testing.T) {
	for name, spec := range map[string]encode.Spec{"one object": testSpec(), "many objects": filedSpec()} {
		t.Run(name, func(t *testing.T) { crashAtEveryStep(t, spec) })
	}
}

func crashAtEveryStep(t *testing.T, spec encode.Spec) {
	t.Helper()
	var crashes []*crash
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		d := newDisk()
		var mu sync.Mutex
		var acked []string
		p := w.start(d, settings{maxAge: 2 * time.Second, spec: spec, step: func(label string) {
			mu.Lock()
			defer mu.Unlock()
			// The disk first: what leaves it is in the bucket by then.
			crashes = append(crashes, &crash{label, spec, d.copy(), w.store.(*kv).copy(), w.bucket.Clone(), slices.Clone(acked)})
		}})
		for i := range 4 {
			x := ids(fmt.Sprintf("r%d", i), 3)
			require.NoError(t, p.wal.Append(t.Context(), spread("acme", x...)))
			mu.Lock()
			acked = append(acked, x...)
			mu.Unlock()
			time.Sleep(1500 * time.Millisecond)
		}
		time.Sleep(20 * time.Second)
		p.crash()
		require.ElementsMatch(t, acked, w.bodies("acme"))
	})
	require.Greater(t, len(crashes), 20)
	for i, c := range crashes {
		for _, wiped := range []bool{false, true} {
			t.Run(fmt.Sprintf("%03d %s wiped=%v", i, c.label, wiped), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { c.recover(t, wiped) })
			})
		}
	}
}

// crash is what a killed process leaves, and what it had acknowledged.
type crash struct {
	label  string
	spec   encode.Spec
	disk   *disk
	store  *kv
	bucket *laketest.Memory
	acked  []string
}

func (c *crash) recover(t *testing.T, wiped bool) {
	w := newWorld(t)
	w.bucket = c.bucket.Clone()
	if !wiped {
		w.store = c.store.copy()
	}
	p := w.start(c.disk.copy(), settings{maxAge: 2 * time.Second, spec: c.spec})
	time.Sleep(2 * time.Minute)
	got := w.bodies("acme")
	slices.Sort(got)
	assert.Len(t, slices.Compact(slices.Clone(got)), len(got), "nothing is twice")
	assert.Subset(t, got, c.acked, "nothing is lost")
	p.quiet()
	assert.Empty(t, w.uncommitted("acme"))
	p.shutdown()
}
