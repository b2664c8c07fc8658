package window

import (
	"context"
	"fmt"
)

// Shutdown seals and commits what is worth it within the grace, gives up the
// rest, which stays in the WAL, and returns when Run has. No record may be
// appended to the queue any more, and Run must have been called. If ctx ends first the rest is given up at
// once.
func (r *Runtime) Shutdown(ctx context.Context) error {
	r.once.Do(func() { close(r.stop) })
	select {
	case <-r.done:
		return nil
	case <-ctx.Done():
	}
	r.cancel()
	<-r.done
	return fmt.Errorf("commit open windows: %w: what is left is in the WAL and committed by the next start", ctx.Err())
}

// drain seals what is worth a commit at shutdown.
func (r *Runtime) drain() {
	r.draining = true
	for _, d := range r.policy.AtShutdown(r.safe()) {
		r.seal(r.parts[d.Key], d.Reason)
	}
}

// drained says that nothing sealed is left to commit.
func (r *Runtime) drained() bool {
	r.owed(func(*part) {})
	return len(r.owing) == 0 && !r.trimming
}
