package lease

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A caller whose context ends at the moment at which its turn comes passes the
// turn on: nobody else would, and the name would be blocked in this process.
func TestTurnThatComesTooLateIsPassedOn(t *testing.T) {
	for range 200 {
		n := &name{}
		require.NoError(t, n.enter(t.Context()))
		ctx, end := context.WithCancel(t.Context())
		left := make(chan error)
		go func() { left <- n.enter(ctx) }()
		require.Eventually(t, func() bool {
			n.mu.Lock()
			defer n.mu.Unlock()
			if len(n.waiters) == 0 {
				return false
			}
			end() // the waiter wakes up, and waits for the mutex
			close(n.waiters[0])
			n.waiters = n.waiters[:0]
			return true
		}, 10*time.Second, 10*time.Microsecond)
		if <-left == nil { // the turn was faster
			n.leave()
		}
		require.False(t, n.taken)
	}
}
