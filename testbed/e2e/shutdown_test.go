//go:build e2e

package e2e

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/testbed/load"
)

// SIGTERM commits what is worth it within shutdown_grace; nothing waits for an
// age that is an hour away.
func TestSIGTERMCommitsWithinGrace(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	c := l.replica("gw")
	c.maxAge = "10m"
	c.start()
	stats := l.send(load.Options{Tenants: []string{"acme"}, BodyBytes: 2000, Rate: 4000, Duration: 2 * time.Second}, c)
	time.Sleep(2 * time.Second)
	require.Greater(t, stats().Acked.Load(), int64(1000), "the window must be worth committing: 1 MiB")
	require.Zero(t, l.committed())
	started := time.Now()
	require.NoError(t, c.Stop(grace))
	t.Logf("stopped in %v", time.Since(started).Round(time.Millisecond))
	require.Equal(t, l.readJournal().Acked(), l.committed())
	for _, m := range l.manifests() {
		require.Equal(t, "shutdown", m.Reason)
	}
	l.judge()
}

// What is not worth a window stays in the WAL over a restart.
func TestSIGTERMKeepsTheRest(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	c := l.replica("gw")
	c.maxAge = "10m"
	c.start()
	l.send(load.Options{Records: 5, Rate: 50, Duration: time.Second}, c)()
	stop := l.send(load.Options{Records: 5, Rate: 50, Duration: time.Second}, c)
	time.Sleep(time.Second)
	stop()
	require.NoError(t, c.Stop(grace))
	require.Zero(t, l.committed(), "a few records are not worth a window at shutdown")
	c.maxAge = "1s"
	c.start()
	l.awaitCommitted()
	require.NoError(t, c.Stop(grace))
	l.judge()
}
