package s3windowexporter

import (
	"fmt"
	"time"

	"github.com/s3window/s3window/internal/wal"
)

// lookAtClock is how often the queue's clock is compared with the wall clock.
const lookAtClock = 5 * time.Second

// watchClock has the status say when the stamps of the queue are far ahead of
// the wall clock, until shutdown.
func (c *core) watchClock(ahead func() time.Duration) {
	tick := time.NewTicker(lookAtClock)
	defer tick.Stop()
	for {
		c.status.set(queueClock, clockTrouble(ahead()))
		select {
		case <-tick.C:
		case <-c.stopping:
			return
		}
	}
}

// clockTrouble says what is to be done about a queue whose clock is ahead by so
// much; nil for nothing. Its words do not change with every second.
func clockTrouble(ahead time.Duration) error {
	if ahead <= wal.FarAhead {
		return nil
	}
	by := ahead.Round(time.Minute)
	if ahead > 48*time.Hour {
		by = ahead.Round(time.Hour)
	}
	return fmt.Errorf("the stamps of the queue are %v ahead of the wall clock, so windows are filed under a time to come: "+
		"the wall clock was wrong once, or is now; when it is right, let the queue run empty and restart", by)
}
