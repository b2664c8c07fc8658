package window

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/internal/lake/laketest"
)

// TestParkedBacklogIsLeftAlone has an operator park a tenant, and take that
// back: nothing is asked of its bucket meanwhile.
func TestParkedBacklogIsLeftAlone(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		d := newDisk()
		var asked atomic.Int64
		w.bucket.Script(func(op laketest.Op) laketest.Fault {
			if strings.Contains(op.Key, "acme") {
				asked.Add(1)
				return laketest.Fault{Before: errForbidden}
			}
			return laketest.Fault{}
		})
		p := w.start(d, settings{maxAge: 5 * time.Second})
		p.append("acme", "a")
		time.Sleep(time.Minute)
		p.crash()
		asked.Store(0)
		parked := func(tenant string) Backlog { return Backlog{Parked: tenant == "acme"} }
		p = w.start(d, settings{maxAge: 5 * time.Second, backlog: parked})
		p.append("acme", "b")
		p.append("beta", "c")
		time.Sleep(20 * time.Minute)
		assert.Equal(t, []string{"c"}, w.bodies("beta"))
		assert.Zero(t, asked.Load())
		assert.NoError(t, p.seen.lastHealth(), "that is no trouble")
		assert.EqualValues(t, 2, p.wal.Stats().Entries)
		p.shutdown()
		w.bucket.Script(nil)
		p = w.start(d, settings{maxAge: 5 * time.Second})
		time.Sleep(time.Minute)
		p.quiet()
		assert.Equal(t, []string{"a", "b"}, w.bodies("acme"))
		p.shutdown()
	})
}

// TestDroppedBacklogIsNamed has an operator drop what a tenant had before a
// time: its seals go too, what came later stays, and what is dropped is counted
// and named.
func TestDroppedBacklogIsNamed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		d := newDisk()
		gone := w.move("acme", "gone")
		gone.bucket.Script(func(op laketest.Op) laketest.Fault {
			if op.Kind == laketest.PutIfAbsent {
				return laketest.Fault{Before: errForbidden}
			}
			return laketest.Fault{}
		})
		p := w.start(d, settings{maxAge: 5 * time.Second})
		p.append("acme", ids("sealed", 3)...)
		time.Sleep(10 * time.Second)
		require.Len(t, p.wal.Seals(), 1)
		p.append("acme", ids("open", 2)...)
		time.Sleep(time.Second)
		p.crash()
		gone.bucket.Script(func(laketest.Op) laketest.Fault { return laketest.Fault{Before: errForbidden} })
		w.own = map[string]*world{"before": gone}
		before := time.Now().UnixMicro()
		backlog := func(tenant string) Backlog {
			if tenant == "acme" {
				return Backlog{DropBefore: before}
			}
			return Backlog{}
		}
		p = w.start(d, settings{maxAge: 5 * time.Second, backlog: backlog})
		p.append("acme", "later")
		p.append("beta", "b")
		time.Sleep(time.Minute)
		p.quiet()
		assert.Equal(t, []string{"later"}, w.bodies("acme"))
		assert.Equal(t, 2, p.seen.lost, "entries")
		ws := w.windows("acme")
		require.Len(t, ws, 1)
		require.Len(t, ws[0].Lost, 2)
		assert.Equal(t, "dropped by the operator", ws[0].Lost[0].Reason)
		assert.EqualValues(t, 5, ws[0].Lost[0].Records+ws[0].Lost[1].Records)
		assert.Len(t, w.bodies("beta"), 1)
		p.shutdown()
	})
}
