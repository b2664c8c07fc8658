//go:build e2e

package e2e

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/testbed/labtest"
	"github.com/s3window/s3window/testbed/load"
)

// filed has windows of many objects, by their own hour and service; lines has
// them in the other format.
const (
	filed = `yaml:exporters::s3window::partition: {time: event, by: [{resource_attribute: service.name, as: service}], max_prefixes: 8, min_object_records: 1}`
	lines = `yaml:exporters::s3window: {format: jsonl, jsonl: {compression: gzip}}`
)

// all are the signals that load sends in turn.
func all() []string { return []string{"logs", "traces", "metrics"} }

// I1: whatever step of the way from WAL to manifest the collector is killed
// at, every acknowledged record is in exactly one committed window; whether a
// window is one object or many, and in either format.
func TestSIGKILLAtEveryStep(t *testing.T) {
	points := []string{"after_seal", "mid_upload", "after_upload", "after_acquire", "after_manifest", "after_confirm", "mid_trim"}
	if !testing.Short() {
		for _, p := range points[:7:7] {
			points = append(points, p+":3")
		}
	}
	for i, point := range points {
		t.Run(caseName(point), func(t *testing.T) {
			t.Parallel()
			l := labtest.New(t)
			c := l.Replica("gw")
			c.Config = [][]string{nil, {filed}, {lines}, {filed, lines}}[i%4]
			c.StartToCrash(point)
			sending := l.Send(load.Options{Signals: all(), Late: true}, c)
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
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, seed))
	c := l.Replica("gw", filed)
	sending := l.Send(load.Options{Rate: 2000, Senders: 8, Signals: all(), Late: true}, c)
	for range kills {
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
