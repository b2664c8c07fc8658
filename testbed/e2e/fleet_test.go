//go:build e2e

package e2e

import (
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/testbed/labtest"
	"github.com/s3window/s3window/testbed/load"
)

// I4: two collectors commit one tenant's windows to one log; one of them is
// killed and one is frozen on the way.
func TestTwoCollectorsOneTenant(t *testing.T) {
	t.Parallel()
	l := labtest.New(t)
	a, b := l.Replica("gw-a"), l.Replica("gw-b")
	a.Start()
	b.Start()
	sending := l.Send(load.Options{Tenants: []string{"acme"}, Rate: 1000, Senders: 8}, a, b)
	for range short(2, []int{1, 2, 3, 4, 5, 6}) {
		time.Sleep(1500 * time.Millisecond)
		b.Signal(syscall.SIGSTOP)
		time.Sleep(500 * time.Millisecond)
		a.Kill()
		a.Start()
		b.Signal(syscall.SIGCONT)
	}
	sending.Stop()
	l.AwaitCommitted()
	require.NoError(t, a.Stop(labtest.Grace))
	require.NoError(t, b.Stop(labtest.Grace))
	v := l.Judge()
	require.Greater(t, v.Windows, int64(2))
}

// One is killed when a window was committed and its entries are in the queue
// still, and the other at a time of its own.
func TestTwoCollectorsKilledAfterTheManifest(t *testing.T) {
	t.Parallel()
	l := labtest.New(t)
	a, b := l.Replica("gw-a"), l.Replica("gw-b")
	a.StartToCrash("commit:put-manifest done:2")
	b.Start()
	sending := l.Send(load.Options{Tenants: []string{"acme"}, Rate: 1000, Senders: 8}, a, b)
	a.AwaitCrash()
	b.Kill()
	b.Start()
	a.Start()
	time.Sleep(2 * time.Second)
	sending.Stop()
	l.AwaitCommitted()
	require.NoError(t, a.Stop(labtest.Grace))
	require.NoError(t, b.Stop(labtest.Grace))
	l.Judge()
}
