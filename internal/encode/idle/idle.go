// Package idle keeps the working memory of encoders between their calls.
package idle

import (
	"slices"
	"sync"
)

// Keeper bounds how many sets of working memory encoders have together, in use
// and idle: one that lies idle the longest gives way to one of another encoder.
// It is safe for concurrent use.
type Keeper struct {
	limit int

	// mu guards all below.
	mu   sync.Mutex
	busy int
	idle []set // the one that was used last at the end
}

// set is idle memory, and the encoder that it fits.
type set struct{ owner, memory any }

// NewKeeper returns a Keeper of limit sets. More are in use only where more calls
// run at once, and then none is idle.
func NewKeeper(limit int) *Keeper { return &Keeper{limit: limit} }

// Take returns idle memory of an owner, or false if it has none and must make it.
// A Done follows, whatever happens.
func (k *Keeper) Take(owner any) (memory any, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.busy++
	for i, s := range slices.Backward(k.idle) {
		if s.owner == owner {
			k.idle = slices.Delete(k.idle, i, i+1)
			return s.memory, true
		}
	}
	k.trim()
	return nil, false
}

// Give keeps memory that was taken or made, for a later Take of its owner. What is
// not given is not used again.
func (k *Keeper) Give(owner, memory any) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.idle = append(k.idle, set{owner, memory})
}

// Done says that what was taken, or made in its place, is in use no longer.
func (k *Keeper) Done() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.busy--
	k.trim()
}

// trim lets go of what has lain idle the longest.
func (k *Keeper) trim() {
	if over := min(k.busy+len(k.idle)-k.limit, len(k.idle)); over > 0 {
		k.idle = slices.Delete(k.idle, 0, over)
	}
}

// Of returns the idle memory of an owner.
func (k *Keeper) Of(owner any) (out []any) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, s := range k.idle {
		if s.owner == owner {
			out = append(out, s.memory)
		}
	}
	return out
}
