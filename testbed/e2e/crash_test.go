//go:build e2e

package e2e

import (
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/testbed/labtest"
	"github.com/s3window/s3window/testbed/load"
)

// I1: whatever step of the way from WAL to manifest the collector is killed
// at, every acknowledged record is in exactly one committed window.
func TestSIGKILLAtEveryStep(t *testing.T) {
	points := []string{"after_seal", "mid_upload", "after_upload", "after_acquire", "after_manifest", "after_confirm", "mid_trim"}
	if !testing.Short() {
		for _, p := range points[:7:7] {
			points = append(points, p+":3")
		}
	}
	for _, point := range points {
		t.Run(caseName(point), func(t *testing.T) {
			t.Parallel()
			l := labtest.New(t)
			c := l.Replica("gw")
			c.StartToCrash(point)
			sending := l.Send(load.Options{}, c)
			c.AwaitCrash()
			// Killed again at the same step while it recovers.
			c.StartToCrash(point)
			c.AwaitCrash()
			c.Start()
			time.Sleep(time.Second) // load goes on over the recovery
			sending.Stop()
			l.AwaitCommitted()
			require.NoError(t, c.Stop(labtest.Grace))
			l.Judge()
		})
	}
}

func TestSIGKILLAtRandomTimes(t *testing.T) {
	kills := 15
	if testing.Short() {
		kills = 4
	}
	l := labtest.New(t)
	killAtRandom(t, l, func(n int) bool { return n < kills })
}

// TestSoak runs for as long as S3WINDOW_SOAK says.
func TestSoak(t *testing.T) {
	d, err := time.ParseDuration(os.Getenv("S3WINDOW_SOAK"))
	if err != nil {
		t.Skip("S3WINDOW_SOAK says how long, as in 10m")
	}
	end := time.Now().Add(d)
	l := labtest.New(t)
	killAtRandom(t, l, func(n int) bool {
		if n > 0 {
			t.Logf("%d kills, %d records committed, %v to go", n, l.Committed(), time.Until(end).Round(time.Second))
		}
		return time.Now().Before(end)
	})
}

// killAtRandom kills the collector under load at random times for as long as
// more says so.
func killAtRandom(t *testing.T, l *labtest.Lab, more func(kills int) bool) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, seed))
	c := l.Replica("gw")
	sending := l.Send(load.Options{Rate: 2000, Senders: 8}, c)
	for n := 0; more(n); n++ {
		c.Start()
		time.Sleep(200*time.Millisecond + time.Duration(random.IntN(3000))*time.Millisecond)
		c.Kill()
	}
	c.Start()
	sending.Stop()
	l.AwaitCommitted()
	require.NoError(t, c.Stop(labtest.Grace))
	l.Judge()
}
