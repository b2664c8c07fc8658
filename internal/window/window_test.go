package window

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/s3window/s3window/internal/flush"
)

// bubble runs f in a time of its own, which begins at midnight.
func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}

func TestNoWindowCrossesTheHour(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.start(newDisk(), settings{maxAge: 3 * time.Hour})
		time.Sleep(59 * time.Minute)
		p.append("acme", "a")
		time.Sleep(2 * time.Minute)
		p.append("acme", "b")
		synctest.Wait()
		assert.Equal(t, map[flush.Reason]int{flush.Boundary: 1}, p.seen.reasons())
		assert.Equal(t, []string{"a"}, w.bodies("acme"))
		p.shutdown()
	})
}

// TestBoundaryComesByTheClock has an idle tenant's window end with its hour,
// though nothing comes after it and it is not old: also that of a tenant that
// shares the queue with busy ones.
func TestBoundaryComesByTheClock(t *testing.T) {
	for _, busy := range []bool{false, true} {
		bubble(t, func(t *testing.T) {
			w := newWorld(t)
			p := w.start(newDisk(), settings{maxAge: 2 * time.Hour})
			time.Sleep(57 * time.Minute)
			p.append("acme", "a")
			for range 6 {
				if busy {
					p.append("other", "o")
				}
				time.Sleep(29 * time.Second)
			}
			assert.Empty(t, w.bodies("acme"), "its hour has not ended")
			time.Sleep(10 * time.Second)
			assert.Equal(t, []string{"a"}, w.bodies("acme"))
			assert.Equal(t, "boundary", w.windows("acme")[0].Reason)
			p.shutdown()
		})
	}
}

func TestShutdownCommitsWhatIsWorthIt(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		d := newDisk()
		p := w.start(d, settings{})
		p.append("acme", "a")
		time.Sleep(11 * time.Second)
		p.append("beta", "b")
		synctest.Wait()
		p.shutdown()
		assert.Equal(t, map[flush.Reason]int{flush.Shutdown: 1}, p.seen.reasons())
		assert.Equal(t, []string{"a"}, w.bodies("acme"))
		assert.Empty(t, w.bodies("beta"), "stays in the WAL")

		p = w.start(d, settings{maxAge: time.Second})
		eventually(t, func() bool { return len(w.bodies("beta")) == 1 })
		assert.Equal(t, []string{"b"}, w.bodies("beta"))
		p.shutdown()
	})
}

// TestNoAcknowledgedLoss kills five processes with full buffers. The same for
// any interleaving is TestNoAcknowledgedLossWhateverHappens.
func TestNoAcknowledgedLoss(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		d := newDisk()
		want := map[string][]string{}
		for life := range 5 {
			p := w.start(d, settings{maxAge: 3 * time.Second})
			for i := range 10 {
				for _, tenant := range []string{"acme", "beta"} {
					x := ids(fmt.Sprintf("%s-%d-%d", tenant, life, i), 7)
					p.append(tenant, x...)
					want[tenant] = append(want[tenant], x...)
				}
				time.Sleep(time.Second)
			}
			p.crash()
		}
		p := w.start(d, settings{maxAge: time.Second})
		for tenant := range want {
			eventually(t, func() bool { return len(w.bodies(tenant)) == len(want[tenant]) })
			assert.ElementsMatch(t, want[tenant], w.bodies(tenant))
		}
		eventually(t, func() bool { return p.wal.Stats().Entries == 0 })
		assert.Empty(t, p.wal.Seals())
		p.shutdown()
	})
}
