package wal

import "time"

// pace is what the committer knows of its last Batch. Only it uses that.
type pace struct {
	last int // requests
	took time.Duration
}

// gather waits a moment for the senders whom the last Batch woke: without it
// the first of them would have a Batch for itself while all others wait for
// the next one. It costs at most a quarter of a Batch, and nothing when as
// many as last time are there already.
func (w *WAL) gather() {
	var timer *time.Timer
	for {
		w.mu.Lock()
		n, closed := len(w.pending), w.closed
		w.mu.Unlock()
		if n == 0 || n >= w.pace.last || closed {
			break
		}
		if timer == nil {
			timer = time.NewTimer(min(w.pace.took/4, maxGather))
			defer timer.Stop()
		}
		select {
		case <-w.wake:
		case <-timer.C:
			return
		}
	}
}
