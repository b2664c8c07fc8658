package window

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/internal/lake/laketest"
	"github.com/s3window/s3window/internal/wal"
)

// slowObjects has each data object take that long.
func slowObjects(d time.Duration) func(laketest.Op) laketest.Fault {
	return func(op laketest.Op) laketest.Fault {
		if op.Kind == laketest.PutIfAbsent && strings.Contains(op.Key, "/w-") {
			return laketest.Fault{Pause: func(ctx context.Context) { wait(ctx, d) }}
		}
		return laketest.Fault{}
	}
}

// TestPoolThatIsBehindLetsWindowsGrow has more tenants than the pool can give a
// window each in max_age: it gives each one as often as it can, with all that
// came meanwhile, and does not fall behind further.
func TestPoolThatIsBehindLetsWindowsGrow(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const tenants, uploads, seconds = 200, 4, 400
		w := newWorld(t)
		w.bucket.Script(slowObjects(time.Second)) // so 4 windows a second: one of a tenant in 50 s
		p := w.start(newDisk(), settings{maxAge: 10 * time.Second, uploads: uploads})
		n := 0
		for i := range seconds / 2 {
			var recs []wal.Record
			for k := range tenants {
				recs = append(recs, record(fmt.Sprint("t", k), fmt.Sprint(i)))
				n++
			}
			require.NoError(t, p.wal.Append(t.Context(), recs...))
			time.Sleep(2 * time.Second)
			if i > 50 {
				require.Less(t, p.Stats().Lag, 80*time.Second, "at %d s", 2*i)
			}
		}
		windows := len(p.seen.windows())
		var records int64
		for _, c := range p.seen.windows() {
			records += c.Records
		}
		t.Logf("%d windows, %.1f records in each; lag %v", windows, float64(records)/float64(windows), p.Stats().Lag)
		assert.Greater(t, windows, uploads*(seconds-60)*9/10, "the pool is used")
		w.bucket.Script(nil)
		p.quiet()
		got := 0
		for k := range tenants {
			got += len(w.bodies(fmt.Sprint("t", k)))
		}
		assert.Equal(t, n, got)
		p.shutdown()
	})
}

// TestOutageLeavesFewWindows has the bucket gone for half an hour: what comes
// meanwhile waits in a window that grows, and not in one for each max_age.
func TestOutageLeavesFewWindows(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.start(newDisk(), settings{maxAge: 5 * time.Second, segment: 15 * time.Minute, align: "none"})
		p.append("acme", "first")
		time.Sleep(10 * time.Second)
		w.bucket.Script(func(laketest.Op) laketest.Fault { return laketest.Fault{Before: errDown} })
		for i := range 360 {
			p.append("acme", fmt.Sprint(i))
			time.Sleep(5 * time.Second)
		}
		w.bucket.Script(nil)
		p.quiet()
		assert.Len(t, w.bodies("acme"), 361)
		ws := w.windows("acme")
		assert.LessOrEqual(t, len(ws), 6, "one for each segment, and those around the outage")
		for _, x := range ws {
			t.Logf("%d records, %s", x.Records, x.Reason)
		}
		p.shutdown()
	})
}

// TestUploadsAreNotEncoders has a bucket that takes a tenth of a second for
// everything, and one place to encode: windows a second are bounded by uploads,
// of which many run at once.
func TestUploadsAreNotEncoders(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const tenants = 400
		w := newWorld(t)
		w.bucket.Script(func(laketest.Op) laketest.Fault {
			return laketest.Fault{Pause: func(ctx context.Context) { wait(ctx, 100*time.Millisecond) }}
		})
		p := w.start(newDisk(), settings{maxAge: 5 * time.Second, consumers: 1, memory: MinMemory(1) + 256<<20})
		var sent time.Time
		for i := range 2 { // the heads are read for the first
			var recs []wal.Record
			for k := range tenants {
				recs = append(recs, record(fmt.Sprint("t", k), fmt.Sprint(i)))
			}
			require.NoError(t, p.wal.Append(t.Context(), recs...))
			sent = time.Now()
			time.Sleep(20 * time.Second)
		}
		var last time.Time
		n := 0
		for _, c := range p.seen.windows() {
			n += int(c.Records)
		}
		require.Equal(t, 2*tenants, n)
		for k := range tenants {
			for _, m := range w.windows(fmt.Sprint("t", k)) {
				if m.CommittedAt.After(last) {
					last = m.CommittedAt
				}
			}
		}
		t.Logf("%d windows %v after they were due", tenants, last.Sub(sent)-5*time.Second)
		assert.Less(t, last.Sub(sent)-5*time.Second, 5*time.Second, "80 a second, and more")
		p.shutdown()
	})
}
