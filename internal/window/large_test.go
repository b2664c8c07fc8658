package window

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/internal/encode"
	"github.com/s3window/s3window/internal/lake/laketest"
	"github.com/s3window/s3window/internal/wal"
)

// TestManyFailingPartitionsStayWithinTheLimit has more tenants fail than fit
// encoded: the smallest object is a hundred times its record.
func TestManyFailingPartitionsStayWithinTheLimit(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.start(newDisk(), settings{maxAge: time.Minute, data: 1 << 20})
		synctest.Wait()
		w.bucket.Script(func(op laketest.Op) laketest.Fault {
			if op.Kind == laketest.PutIfAbsent {
				return laketest.Fault{Before: errDown}
			}
			return laketest.Fault{}
		})
		recs := make([]wal.Record, 300)
		for i := range recs {
			recs[i] = record(fmt.Sprintf("t%04d", i), "x")
		}
		require.NoError(t, p.wal.Append(t.Context(), recs...))
		time.Sleep(2 * time.Minute)
		_, _, peak := p.budget.Usage()
		assert.LessOrEqual(t, peak, p.budget.Limit())
		w.bucket.Script(nil)
		p.quiet()
		p.shutdown()
	})
}

func TestEntryLargerThanTheMemory(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		d := newDisk()
		p := w.start(d, settings{})
		r := rand.New(rand.NewPCG(1, 4))
		p.append("other", "a")
		p.append("acme", noise(r, "huge", 1, 3<<20)...)
		p.append("acme", "b")
		synctest.Wait()
		p.crash()
		// The limit was lowered below the entry.
		w.bucket.Script(func(op laketest.Op) laketest.Fault {
			if strings.Contains(op.Key, "other") {
				return laketest.Fault{Before: errDown}
			}
			return laketest.Fault{}
		})
		p = w.start(d, settings{data: 1 << 20, maxAge: time.Minute})
		eventually(t, func() bool { return p.wal.Stats().Entries == 1 })
		w.bucket.Script(nil)
		eventually(t, func() bool { return p.wal.Stats().Entries == 0 })
		assert.Len(t, w.bodies("acme"), 2)
		assert.Len(t, w.bodies("other"), 1)
		p.shutdown()
	})
}

// TestRecutOfWindowTooLargeToReadBack has a window sealed on a wrong
// expectation, dropped from memory, and found not to fit when it is read back.
func TestRecutOfWindowTooLargeToReadBack(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		d := newDisk()
		q := &counted{}
		p := w.start(d, settings{data: 32 << 20, target: 16 << 20})
		r := rand.New(rand.NewPCG(1, 5))
		w.bucket.Script(func(laketest.Op) laketest.Fault { return laketest.Fault{Before: errDown} })
		for i := range 30 {
			p.append("acme", noise(r, fmt.Sprint(i), 20, 5000)...)
			time.Sleep(time.Second)
		}
		p.crash()
		w.bucket.Script(nil)
		// Sealed as one window by a process with more memory.
		p = w.start(d, settings{data: 32 << 20, maxAge: 40 * time.Second, step: func(l string) {}})
		w.bucket.Script(func(op laketest.Op) laketest.Fault {
			if op.Kind == laketest.PutIfAbsent {
				return laketest.Fault{Before: errDown}
			}
			return laketest.Fault{}
		})
		time.Sleep(time.Minute)
		require.Len(t, p.wal.Seals(), 1)
		p.crash()
		w.bucket.Script(nil)
		p = w.start(d, settings{data: 2 << 20, maxAge: time.Hour, queue: q.wrap})
		time.Sleep(2 * time.Hour)
		p.quiet()
		assert.Len(t, w.bodies("acme"), 600)
		assert.Greater(t, len(w.windows("acme")), 2, "in smaller windows")
		p.shutdown()
	})
}

// TestTwoLargeWindowsAreReadBack has two windows that fit the memory alone, and
// not half and half.
func TestTwoLargeWindowsAreReadBack(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		d := newDisk()
		spec := testSpec()
		spec.RowGroupBytes = 64 << 10
		p := w.start(d, settings{data: 32 << 20, maxAge: 40 * time.Second, spec: spec})
		synctest.Wait()
		w.bucket.Script(func(op laketest.Op) laketest.Fault {
			if op.Kind == laketest.PutIfAbsent {
				return laketest.Fault{Before: errDown}
			}
			return laketest.Fault{}
		})
		r := rand.New(rand.NewPCG(1, 7))
		for i := range 12 {
			for _, tenant := range []string{"acme", "beta"} {
				p.append(tenant, noise(r, fmt.Sprint(tenant, i), 20, 5000)...)
			}
			time.Sleep(time.Second)
		}
		time.Sleep(time.Minute)
		require.Len(t, p.wal.Seals(), 2)
		p.crash()
		w.bucket.Script(nil)
		p = w.start(d, settings{data: 2 << 20, maxAge: time.Hour, spec: spec})
		time.Sleep(time.Hour)
		p.quiet()
		for _, tenant := range []string{"acme", "beta"} {
			require.Len(t, w.windows(tenant), 1, "as it was sealed")
			assert.Len(t, w.bodies(tenant), 240)
		}
		p.shutdown()
	})
}

// TestWindowsShareTheirSpec has windows of equal settings hold them once:
// thousands may wait for a bucket.
func TestWindowsShareTheirSpec(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.start(newDisk(), settings{})
		p.do(func() {
			columns := func() []encode.Column { return []encode.Column{{Attribute: "x", As: "x"}} }
			a, b := testSpec(), testSpec()
			a.Columns, b.Columns = columns(), columns()
			first, again := p.shared(a), p.shared(b)
			assert.Equal(t, first, again)
			assert.Same(t, &first.Columns[0], &again.Columns[0])
			b.Codec = "zstd"
			assert.Equal(t, b, p.shared(b))
		})
		p.crash()
	})
}

// TestWindowsThatWaitAreBounded has a bucket that is gone while windows of a
// record each are sealed, since their segments end: what is remembered of them does not grow for ever.
func TestWindowsThatWaitAreBounded(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.start(newDisk(), settings{maxAge: time.Hour, segment: time.Second, data: 400_000})
		p.append("acme", "first")
		time.Sleep(10 * time.Second)
		w.bucket.Script(func(laketest.Op) laketest.Fault { return laketest.Fault{Before: errDown} })
		want := []string{"first"}
		for i := range 500 {
			id := fmt.Sprint(i)
			p.append("acme", id)
			want = append(want, id)
			time.Sleep(3 * time.Second)
		}
		assert.LessOrEqual(t, p.windowsHeld(), int64(110_000))
		assert.Equal(t, 1, p.Stats().Behind, "what comes is left in the queue")
		assert.Zero(t, p.wal.Stats().UnreadEntries, "and nobody has to wait for that")
		w.bucket.Script(nil)
		time.Sleep(time.Hour)
		p.quiet()
		assert.ElementsMatch(t, want, w.bodies("acme"))
		p.shutdown()
	})
}
