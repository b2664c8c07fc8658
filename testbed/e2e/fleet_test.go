//go:build e2e

package e2e

import (
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/testbed/load"
)

// I4: two collectors commit one tenant's windows to one log; one of them is
// killed and one is frozen on the way.
func TestTwoCollectorsOneTenant(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	a, b := l.replica("gw-a"), l.replica("gw-b")
	a.start()
	b.start()
	stop := l.send(load.Options{Tenants: []string{"acme"}, Rate: 1000, Senders: 8}, a, b)
	for range short(2, []int{1, 2, 3, 4, 5, 6}) {
		time.Sleep(1500 * time.Millisecond)
		b.Signal(syscall.SIGSTOP)
		time.Sleep(500 * time.Millisecond)
		a.Kill()
		a.start()
		b.Signal(syscall.SIGCONT)
	}
	stop()
	l.awaitCommitted()
	require.NoError(t, a.Stop(grace))
	require.NoError(t, b.Stop(grace))
	v := l.judge()
	require.Greater(t, v.Windows, int64(2))
}

// Both are killed at the step between manifest and confirmation.
func TestTwoCollectorsKilledAfterTheManifest(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	a, b := l.replica("gw-a"), l.replica("gw-b")
	a.startToCrash("after_manifest:2")
	b.start()
	stop := l.send(load.Options{Tenants: []string{"acme"}, Rate: 1000, Senders: 8}, a, b)
	a.awaitCrash()
	b.Kill()
	b.start()
	a.start()
	time.Sleep(2 * time.Second)
	stop()
	l.awaitCommitted()
	require.NoError(t, a.Stop(grace))
	require.NoError(t, b.Stop(grace))
	l.judge()
}
