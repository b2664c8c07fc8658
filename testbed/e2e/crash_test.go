//go:build e2e

package e2e

import (
	"math/rand/v2"
	"strings"
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
	labels := []string{
		"wal:append done", "wal:seal done", "window:upload", "lake:put-object done", "window:upload done",
		"commit:put-manifest", "commit:put-manifest done", "wal:trim", "wal:trim done",
		"commit:acquire done", "commit:release", // with turns
	}
	if !testing.Short() {
		for _, label := range labels[:len(labels):len(labels)] {
			labels = append(labels, label+":3")
		}
	}
	for i, label := range labels {
		t.Run(caseName(label), func(t *testing.T) {
			t.Parallel()
			l := labtest.New(t)
			c := l.Replica("gw")
			c.Config = [][]string{nil, {filed}, {lines}, {filed, lines}}[i%4]
			if strings.HasPrefix(label, "commit:acquire") || strings.HasPrefix(label, "commit:release") {
				c.Config = append(c.Config[:len(c.Config):len(c.Config)], labtest.S3Lease(l.Server, l.Server.Endpoint, l.Bucket))
			}
			c.StartToCrash(label)
			sending := l.Send(load.Options{Signals: all(), Late: true}, c)
			c.AwaitCrash()
			// Killed again at the same step while it recovers.
			c.StartToCrash(label)
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
