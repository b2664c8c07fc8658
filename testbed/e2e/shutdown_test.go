//go:build e2e

package e2e

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/testbed/labtest"
	"github.com/s3window/s3window/testbed/load"
)

// SIGTERM commits what is worth it within shutdown_grace; nothing waits for an
// age that is an hour away.
func TestSIGTERMCommitsWithinGrace(t *testing.T) {
	t.Parallel()
	l := labtest.New(t)
	c := l.Replica("gw")
	c.MaxAge = "10m"
	c.Start()
	sending := l.Send(load.Options{Tenants: []string{"acme"}, BodyBytes: 2000, Rate: 4000, Duration: 2 * time.Second}, c)
	time.Sleep(2 * time.Second)
	require.Greater(t, sending.Stop().Acked.Load(), int64(1000), "the window must be worth committing: 1 MiB")
	require.Zero(t, l.Committed())
	started := time.Now()
	require.NoError(t, c.Stop(labtest.Grace))
	t.Logf("stopped in %v", time.Since(started).Round(time.Millisecond))
	require.Equal(t, l.Journal().Acked(), l.Committed())
	for _, m := range l.Manifests() {
		require.Equal(t, "shutdown", m.Reason)
	}
	l.Judge()
}

// What is not worth a window stays in the WAL over a restart.
func TestSIGTERMKeepsTheRest(t *testing.T) {
	t.Parallel()
	l := labtest.New(t)
	c := l.Replica("gw")
	c.MaxAge = "10m"
	c.Start()
	l.Send(load.Options{Records: 5, Rate: 50, Duration: time.Second}, c).Stop()
	sending := l.Send(load.Options{Records: 5, Rate: 50, Duration: time.Second}, c)
	time.Sleep(time.Second)
	sending.Stop()
	require.NoError(t, c.Stop(labtest.Grace))
	require.Zero(t, l.Committed(), "a few records are not worth a window at shutdown")
	c.MaxAge = "1s"
	c.Start()
	l.AwaitCommitted()
	require.NoError(t, c.Stop(labtest.Grace))
	l.Judge()
}
