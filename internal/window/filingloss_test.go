package window

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/s3window/s3window/internal/encode"
	"github.com/s3window/s3window/internal/lake/laketest"
	"github.com/s3window/s3window/internal/partition"
	"github.com/s3window/s3window/internal/wal"
)

// ofService appends an entry per id. What stands before its dash is the
// service; an id that begins with it has none. All have the same time.
func (p *process) ofService(ids ...string) {
	p.t.Helper()
	for _, id := range ids {
		ld := plog.NewLogs()
		rl := ld.ResourceLogs().AppendEmpty()
		service, _, _ := strings.Cut(id, "-")
		rl.Resource().Attributes().PutStr("service.name", service)
		lr := rl.ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
		lr.Body().SetStr(id)
		lr.SetTimestamp(pcommon.Timestamp(1e18))
		b, err := (&plog.ProtoMarshaler{}).MarshalLogs(ld)
		require.NoError(p.t, err)
		require.NoError(p.t, p.wal.Append(p.t.Context(), wal.Record{Tenant: "acme", Signal: "logs", Items: 1, Payload: b}))
	}
}

// TestEntriesThatAreLostBetweenAttempts has the WAL lose entries of a window
// after its objects were uploaded, so that another directory is the one too
// many: an object of as many records is there, and they are others.
func TestEntriesThatAreLostBetweenAttempts(t *testing.T) {
	for name, c := range map[string]struct {
		places     int
		kept, lost []string
	}{
		"nothing":                       {1, ids("b", 5), nil},
		"two directories trade places":  {1, append(ids("b", 3)[1:], ids("a", 2)...), ids("b", 1)},
		"what is left is filed as rest": {1, append(ids("b", 10)[9:], ids("", 8)[4:]...), append(ids("b", 9), ids("", 4)...)},
		"a directory has fewer":         {1, append(ids("b", 10)[2:], ids("a", 3)...), ids("b", 2)},
		"a refiled directory goes":      {1, ids("b", 10), ids("a", 3)},
		"the kept directory goes":       {1, ids("a", 3), ids("b", 10)},
		"another is kept instead":       {2, slices.Concat(ids("a", 3), ids("c", 2), ids("", 1)), ids("b", 3)},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWorld(t)
				d := newDisk()
				spec := testSpec()
				spec.Filing = &encode.Filing{Align: partition.AlignHour, MaxPlaces: c.places, By: []encode.Level{{ResourceAttribute: "service.name", As: "service"}}}
				p := w.start(d, settings{maxAge: 2 * time.Second, spec: spec})
				w.bucket.Script(func(op laketest.Op) laketest.Fault {
					if strings.Contains(op.Key, "/windows/") && op.Kind == laketest.PutIfAbsent {
						return laketest.Fault{Before: errDown}
					}
					return laketest.Fault{}
				})
				p.ofService(append(c.lost, c.kept...)...)
				time.Sleep(10 * time.Second)
				p.crash()
				w.bucket.Script(nil)
				require.NotEmpty(t, w.uncommitted("acme"))
				for _, id := range c.lost {
					d.damage(t, id)
				}
				p = w.start(d, settings{maxAge: 2 * time.Second, spec: spec})
				time.Sleep(2 * time.Minute)
				p.quiet()
				seen := map[string]int{}
				for _, id := range w.bodies("acme") {
					seen[id]++
					assert.Equal(t, 1, seen[id], "%s is there once", id)
				}
				for _, id := range c.kept {
					assert.Equal(t, 1, seen[id], "%s was not lost", id)
				}
				p.shutdown()
			})
		})
	}
}

// TestEntriesThatAreLostBetweenTries has the WAL lose entries while an object of
// a window cannot be put: those that are up already are of a window with more
// records, and stand for nothing.
func TestEntriesThatAreLostBetweenTries(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		q := &counted{}
		p := w.start(newDisk(), settings{maxAge: 2 * time.Second, spec: filedSpec(), queue: q.wrap})
		refused := ""
		w.bucket.Script(func(op laketest.Op) laketest.Fault {
			if op.Kind == laketest.PutIfAbsent && strings.HasSuffix(op.Key, ".parquet") {
				if refused == "" {
					refused = op.Key
				}
				if refused == op.Key {
					return laketest.Fault{Before: errDown}
				}
			}
			return laketest.Fault{}
		})
		var kept []string
		for i := range 8 {
			x := ids(fmt.Sprint("r", i), 25)
			p.spread("acme", x...)
			if i%2 == 0 {
				kept = append(kept, x...)
			}
		}
		time.Sleep(30 * time.Second)
		require.NotEmpty(t, w.uncommitted("acme"))
		q.withhold.Store(true)
		p.do(func() { p.evict(1<<40, func(*part) bool { return true }) })
		w.bucket.Script(nil)
		time.Sleep(5 * time.Minute)
		seen := map[string]int{}
		for _, id := range w.bodies("acme") {
			seen[id]++
			assert.Equal(t, 1, seen[id], "%s is there once", id)
		}
		lost := 0
		for _, id := range kept {
			lost += 1 - seen[id]
		}
		for _, cw := range w.windows("acme") {
			for _, l := range cw.Lost {
				lost -= int(l.Records)
			}
		}
		assert.LessOrEqual(t, lost, 0, "what is in no window is named")
		p.crash()
	})
}
