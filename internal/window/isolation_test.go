package window

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/internal/lake/laketest"
)

var errForbidden = errors.New("403 AccessDenied")

// hang has a call end without an answer after a minute, as a client's own
// timeout does.
func hang(ctx context.Context) { wait(ctx, time.Minute) }

// TestOneTenantsTroubleIsItsOwn has one of three tenants send far more than the
// memory holds to a bucket that does not take it, for ten minutes. The others
// are committed on time, also those that come new.
func TestOneTenantsTroubleIsItsOwn(t *testing.T) {
	of := func(tenant string, f laketest.Fault, kinds ...string) func(laketest.Op) laketest.Fault {
		return func(op laketest.Op) laketest.Fault {
			if !strings.Contains(op.Key, tenant) {
				return laketest.Fault{}
			}
			for _, k := range kinds {
				if op.Kind == k {
					return f
				}
			}
			if len(kinds) == 0 {
				return f
			}
			return laketest.Fault{}
		}
	}
	for name, tc := range map[string]struct {
		script    func(laketest.Op) laketest.Fault
		consumers int
		late      time.Duration
	}{
		"forbidden":                {of("acme", laketest.Fault{Before: errForbidden}), 2, 3 * time.Second},
		"writes forbidden":         {of("acme", laketest.Fault{Before: errForbidden}, laketest.PutIfAbsent), 2, 3 * time.Second},
		"hangs":                    {of("acme", laketest.Fault{Before: errDown, Pause: hang}), 2, 20 * time.Second},
		"writes hang":              {of("acme", laketest.Fault{Before: errDown, Pause: hang}, laketest.PutIfAbsent), 2, 20 * time.Second},
		"writes hang, 1 consumer":  {of("acme", laketest.Fault{Before: errDown, Pause: hang}, laketest.PutIfAbsent), 1, 20 * time.Second},
		"writes hang, 8 consumers": {of("acme", laketest.Fault{Before: errDown, Pause: hang}, laketest.PutIfAbsent), 8, 20 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWorld(t)
				w.bucket.Script(tc.script)
				p := w.start(newDisk(), settings{maxAge: 10 * time.Second, data: 1 << 20, consumers: tc.consumers})
				r := rand.New(rand.NewPCG(1, 1))
				sent := map[string]int{}
				sentAt := map[string][]time.Time{}
				check := func() {
					records := map[string]int{}
					for _, c := range p.seen.windows() {
						records[c.Tenant] += int(c.Records)
					}
					for tenant, at := range sentAt {
						due := 0
						for due < len(at) && time.Since(at[due]) > 12*time.Second+tc.late {
							due++
						}
						require.GreaterOrEqual(t, records[tenant], due, "%s at %v", tenant, time.Now())
					}
				}
				for i := range 600 {
					p.append("acme", noise(r, fmt.Sprint(i), 8, 500)...)
					sent["acme"] += 8
					names := []string{"beta", "gamma"}
					if i%100 == 50 {
						names = append(names, fmt.Sprintf("new%d", i))
					}
					if i > 200 && i < 320 { // nothing else is committed for two minutes
						names = nil
					}
					for _, tenant := range names {
						p.append(tenant, fmt.Sprintf("%s-%d", tenant, i))
						sent[tenant]++
						sentAt[tenant] = append(sentAt[tenant], time.Now())
					}
					time.Sleep(time.Second)
					if i%10 == 0 {
						check()
					}
				}
				w.bucket.Script(nil)
				time.Sleep(5 * time.Minute)
				p.quiet()
				for tenant, n := range sent {
					assert.Len(t, w.bodies(tenant), n, tenant)
				}
				p.shutdown()
			})
		})
	}
}

// TestOnlyTenantInTroubleDoesNotHideANewOne is the same where nobody else was
// ever seen when the memory filled.
func TestOnlyTenantInTroubleDoesNotHideANewOne(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		w.bucket.Script(func(op laketest.Op) laketest.Fault {
			if strings.Contains(op.Key, "acme") {
				return laketest.Fault{Before: errForbidden}
			}
			return laketest.Fault{}
		})
		p := w.start(newDisk(), settings{maxAge: 10 * time.Second, data: 1 << 20})
		r := rand.New(rand.NewPCG(1, 1))
		for i := range 300 {
			p.append("acme", noise(r, fmt.Sprint(i), 20, 500)...)
			time.Sleep(100 * time.Millisecond)
		}
		p.append("new", "n")
		time.Sleep(30 * time.Second)
		assert.Equal(t, []string{"n"}, w.bodies("new"))
		p.shutdown()
	})
}

// TestHeadUnreadableForAnHour has the head of one tenant withheld. What waited
// is then late already: it is cut where segments and hours end, not by age.
func TestHeadUnreadableForAnHour(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		w.bucket.Script(func(op laketest.Op) laketest.Fault {
			if strings.Contains(op.Key, "acme") && op.Kind != laketest.PutIfAbsent {
				return laketest.Fault{Before: errForbidden}
			}
			return laketest.Fault{}
		})
		p := w.start(newDisk(), settings{maxAge: 5 * time.Minute, segment: 17 * time.Minute, data: 1 << 20})
		for i := range 60 {
			p.append("acme", fmt.Sprint("a", i))
			p.append("beta", fmt.Sprint("b", i))
			time.Sleep(time.Minute)
		}
		w.bucket.Script(nil)
		assert.Empty(t, w.bodies("acme"))
		assert.GreaterOrEqual(t, len(w.bodies("beta")), 54)
		time.Sleep(time.Minute)
		ws := w.windows("acme")
		require.GreaterOrEqual(t, len(ws), 4)
		reasons := map[string]int{}
		for _, cw := range ws {
			assert.LessOrEqual(t, time.Duration(cw.End-cw.Start)*time.Microsecond, 17*time.Minute)
			reasons[cw.Reason]++
		}
		assert.GreaterOrEqual(t, reasons["rotation"], 2)
		assert.LessOrEqual(t, reasons["age"], 1, "of what was not late yet")
		time.Sleep(5 * time.Minute)
		p.quiet()
		assert.Len(t, w.bodies("acme"), 60)
		p.shutdown()
	})
}

func TestShutdownWithABucketThatHangs(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		d := newDisk()
		p := w.start(d, settings{maxAge: 10 * time.Second, grace: 7 * time.Second})
		p.append("acme", "a")
		synctest.Wait()
		w.bucket.Script(func(laketest.Op) laketest.Fault { return laketest.Fault{Before: errDown, Pause: hang} })
		time.Sleep(20 * time.Second)
		p.append("acme", "b")
		p.append("beta", "c")
		synctest.Wait()
		began := time.Now()
		p.shutdown()
		assert.LessOrEqual(t, time.Since(began), 8*time.Second)
		w.bucket.Script(nil)
		p = w.start(d, settings{maxAge: time.Second})
		p.quiet()
		assert.ElementsMatch(t, []string{"a", "b"}, w.bodies("acme"))
		assert.ElementsMatch(t, []string{"c"}, w.bodies("beta"))
		began = time.Now()
		p.shutdown()
		assert.Less(t, time.Since(began), time.Second, "with nothing to do")
	})
}

func TestShutdownIsCutShortByItsContext(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.start(newDisk(), settings{maxAge: 10 * time.Second})
		p.append("acme", "a")
		time.Sleep(5 * time.Second)
		w.bucket.Script(func(laketest.Op) laketest.Fault { return laketest.Fault{Before: errDown, Pause: hang} })
		time.Sleep(10 * time.Second)
		p.append("beta", "its head is being read")
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, p.Shutdown(ctx), context.DeadlineExceeded)
		p.crash()
		for _, err := range p.seen.healths() {
			if err != nil {
				assert.NotContains(t, err.Error(), "canceled", "ending is no trouble")
			}
		}
	})
}
