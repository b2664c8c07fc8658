package window

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/internal/flush"
	"github.com/s3window/s3window/internal/lake/laketest"
)

// atFullHour puts the bubble's clock a little behind an hour, so that no
// boundary is crossed by chance.
func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}

func TestSizeTriggerSealsOneObjectInTheBand(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.start(newDisk(), settings{target: 20000})
		for i := 0; len(p.seen.windows()) == 0; i++ {
			require.Less(t, i, 10000)
			p.append("acme", ids(fmt.Sprintf("r%d", i), 50)...)
			synctest.Wait()
		}
		ws := p.seen.windows()
		require.Len(t, ws, 1)
		assert.Equal(t, flush.Size, ws[0].Reason)
		assert.Zero(t, p.Stats().Sealed)
		p.shutdown()
		assert.Len(t, w.windows("acme")[0].Objects, 1)
	})
}

func TestAgeTriggerFlushesAtTheFirstTickAtTheMaximum(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.start(newDisk(), settings{maxAge: 10 * time.Second})
		p.append("acme", "a")
		time.Sleep(9 * time.Second)
		synctest.Wait()
		assert.Empty(t, p.seen.windows())
		time.Sleep(2 * time.Second)
		synctest.Wait()
		assert.Equal(t, map[flush.Reason]int{flush.Age: 1}, p.seen.reasons())
		assert.Equal(t, []string{"a"}, w.bodies("acme"))
		p.shutdown()
	})
}

func TestRotationFlushesEveryPartitionOfTheEndedSegment(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.start(newDisk(), settings{segment: time.Minute})
		p.append("acme", "a")
		p.append("beta", "b")
		time.Sleep(62 * time.Second)
		p.append("gamma", "c")
		time.Sleep(2 * time.Second)
		synctest.Wait()
		assert.Equal(t, map[flush.Reason]int{flush.Rotation: 2}, p.seen.reasons(), "not that of the new segment")
		p.shutdown()
	})
}

func TestNoWindowCrossesTheHour(t *testing.T) {
	bubble(t, func(t *testing.T) { // the bubble's clock starts at midnight
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

func TestCrashWithFullBuffersLosesNothing(t *testing.T) {
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

func TestBucketDownForAnHour(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		d := newDisk()
		p := w.start(d, settings{maxAge: time.Minute, memory: MinMemory(2)})
		w.bucket.Script(func(laketest.Op) laketest.Fault { return laketest.Fault{Before: errDown} })
		want := 0
		for i := range 60 {
			for _, tenant := range []string{"acme", "beta", "gamma"} {
				p.append(tenant, ids(fmt.Sprintf("%s%d", tenant, i), 20)...)
			}
			want += 20
			time.Sleep(time.Minute)
		}
		assert.LessOrEqual(t, p.Stats().Peak, p.Stats().Limit)
		require.NotEmpty(t, p.seen.health)
		require.ErrorContains(t, p.seen.health[len(p.seen.health)-1], "down")
		w.bucket.Script(nil)
		for _, tenant := range []string{"acme", "beta", "gamma"} {
			eventually(t, func() bool { return len(w.bodies(tenant)) == want })
		}
		eventually(t, func() bool { h := p.seen.health; return h[len(h)-1] == nil })
		p.shutdown()
	})
}
