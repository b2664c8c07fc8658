package window

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/lake/laketest"
)

// move gives the tenant a lake of its own from the next start on.
func (w *world) move(tenant, bucket string) *world {
	o := newWorld(w.t)
	o.ref = lake.Ref{Bucket: bucket, Prefix: tenant}
	if w.own == nil {
		w.own = map[string]*world{}
	}
	w.own[tenant] = o
	return o
}

// records counts the tenant's records in committed windows.
func (r *recorder) records(tenant string) (n int64) {
	for _, c := range r.windows() {
		if c.Tenant == tenant {
			n += c.Records
		}
	}
	return n
}

// TestForbiddenBucketAmongThree has the bucket of one of three tenants, each
// with its own, forbidden for ten minutes, from the start and later, while it
// is sent many times the memory. The others are committed on time, and in the
// end each has its records once, in its own bucket.
func TestForbiddenBucketAmongThree(t *testing.T) {
	for name, after := range map[string]time.Duration{"from the start": 0, "later": time.Minute} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWorld(t)
				tenants := []string{"acme", "beta", "gamma"}
				for _, tenant := range tenants {
					w.move(tenant, tenant+"-lake")
				}
				p := w.start(newDisk(), settings{maxAge: 10 * time.Second, data: 1 << 20})
				r := rand.New(rand.NewPCG(1, 1))
				start := time.Now()
				sent := map[string][]string{}
				for i := 0; time.Since(start) < after+10*time.Minute; i++ {
					if time.Since(start) == after {
						w.of("acme").bucket.Script(func(laketest.Op) laketest.Fault { return laketest.Fault{Before: errForbidden} })
					}
					sent["acme"] = append(sent["acme"], noise(r, fmt.Sprint(i), 8, 500)...)
					p.append("acme", sent["acme"][len(sent["acme"])-8:]...)
					for _, tenant := range tenants[1:] {
						sent[tenant] = append(sent[tenant], fmt.Sprintf("%s-%d", tenant, i))
						p.append(tenant, sent[tenant][i])
					}
					time.Sleep(time.Second)
					for _, tenant := range tenants[1:] {
						require.GreaterOrEqual(t, p.seen.records(tenant), int64(i-15), "%s at %d s", tenant, i)
					}
					require.LessOrEqual(t, p.Stats().Held, p.Stats().Limit)
				}
				health := p.seen.health[len(p.seen.health)-1]
				require.ErrorContains(t, health, `1 partitions wait, tenant "acme"`)
				require.ErrorContains(t, health, "403 AccessDenied")
				w.of("acme").bucket.Script(nil)
				time.Sleep(5 * time.Minute)
				p.quiet()
				for _, tenant := range tenants {
					assert.ElementsMatch(t, sent[tenant], w.of(tenant).bodies(tenant))
					assert.Empty(t, w.bodies(tenant), "nothing of %s elsewhere", tenant)
				}
				assert.NoError(t, p.seen.health[len(p.seen.health)-1])
				p.shutdown()
			})
		})
	}
}

// A tenant's lake changes while the WAL holds entries: what was committed,
// sealed and open under the old one is there once, and the others do not move.
func TestTenantsLakeChangedWhileTheWALHoldsEntries(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		d := newDisk()
		old := w.move("acme", "old")
		both := func(p *process, what string) {
			p.append("acme", ids(what, 5)...)
			p.append("beta", ids(what, 5)...)
		}
		p := w.start(d, settings{maxAge: 3 * time.Second})
		both(p, "committed")
		time.Sleep(10 * time.Second)
		old.bucket.Script(func(op laketest.Op) laketest.Fault {
			if op.Kind == laketest.PutIfAbsent {
				return laketest.Fault{Before: errForbidden}
			}
			return laketest.Fault{}
		})
		both(p, "sealed")
		time.Sleep(10 * time.Second)
		both(p, "open")
		p.crash()
		old.bucket.Script(nil)

		fresh := w.move("acme", "new")
		w.own["before"] = old // its bucket can still be opened
		p = w.start(d, settings{maxAge: 3 * time.Second})
		both(p, "after")
		time.Sleep(time.Minute)
		p.quiet()
		assert.ElementsMatch(t, append(ids("committed", 5), ids("sealed", 5)...), old.bodies("acme"), "finished where it was sealed for")
		assert.ElementsMatch(t, append(ids("open", 5), ids("after", 5)...), fresh.bodies("acme"))
		assert.Len(t, w.bodies("beta"), 20)
		assert.Empty(t, w.bodies("acme"))
		p.shutdown()
	})
}
