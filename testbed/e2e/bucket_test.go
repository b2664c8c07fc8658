//go:build e2e

package e2e

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/testbed/labtest"
	"github.com/s3window/s3window/testbed/load"
	"github.com/s3window/s3window/testbed/s3test"
)

const (
	objects   = `/tenant=.*\.parquet$`
	manifests = `/windows/\d+\.json$`
)

// I1 with a bucket that fails: ingestion goes on, and when the bucket is well
// again everything is committed once.
func TestFailingBucket(t *testing.T) {
	for name, rules := range map[string][]s3test.Rule{
		"refuses":                 {{Do: s3test.Answer, Status: http.StatusServiceUnavailable}},
		"breaks inside":           {{Method: http.MethodPut, Do: s3test.Answer, Status: http.StatusInternalServerError}},
		"forbids":                 {{Do: s3test.Answer, Status: http.StatusForbidden}},
		"is slow":                 {{Delay: 1500 * time.Millisecond}},
		"hangs":                   {{Do: s3test.Hang}},
		"cuts uploads":            {{Method: http.MethodPut, Key: objects, Do: s3test.Cut, Bytes: 1000}},
		"loses answers":           {{Method: http.MethodPut, Do: s3test.LoseAnswer}},
		"loses manifests answers": {{Method: http.MethodPut, Key: manifests, Do: s3test.LoseAnswer}},
		"conflicts":               {{Method: http.MethodPut, Key: manifests, Do: s3test.Answer, Status: http.StatusConflict}},
	} {
		if testing.Short() && name != "refuses" && name != "loses answers" {
			continue
		}
		t.Run(caseName(name), func(t *testing.T) {
			t.Parallel()
			l := labtest.New(t)
			proxy, url := s3test.StartProxy(t, l.Server.Endpoint)
			l.Endpoint = url
			c := l.Replica("gw")
			c.Start()
			sending := l.Send(load.Options{}, c)
			require.Eventually(t, func() bool { return l.Committed() > 0 }, labtest.Patience, 50*time.Millisecond)
			proxy.Break(rules...)
			time.Sleep(8 * time.Second)
			proxy.Heal()
			time.Sleep(time.Second)
			stats := sending.Stop()
			require.Zero(t, stats.Errors.Load(), "ingestion must not depend on the bucket")
			l.AwaitCommitted()
			require.NoError(t, c.Stop(labtest.Grace))
			l.Judge()
		})
	}
}

func TestBucketDownAtStart(t *testing.T) {
	t.Parallel()
	l := labtest.New(t)
	l.Server.Stop()
	c := l.Replica("gw")
	c.Start()
	sending := l.Send(load.Options{}, c)
	time.Sleep(3 * time.Second)
	l.Server.Restart()
	time.Sleep(time.Second)
	require.Zero(t, sending.Stop().Errors.Load(), "the collector must take data while the bucket is down")
	l.AwaitCommitted()
	require.NoError(t, c.Stop(labtest.Grace))
	l.Judge()
}

// The bucket is down, the collector is killed, and both come back.
func TestKilledWhileTheBucketIsDown(t *testing.T) {
	t.Parallel()
	l := labtest.New(t)
	c := l.Replica("gw")
	c.Start()
	sending := l.Send(load.Options{}, c)
	require.Eventually(t, func() bool { return l.Committed() > 0 }, labtest.Patience, 50*time.Millisecond)
	l.Server.Kill()
	time.Sleep(2 * time.Second)
	c.Kill()
	c.Start()
	time.Sleep(time.Second)
	l.Server.Restart()
	sending.Stop()
	l.AwaitCommitted()
	require.NoError(t, c.Stop(labtest.Grace))
	l.Judge()
}
