package window

import (
	"maps"
	"slices"
	"sync"

	"github.com/s3window/s3window/internal/flush"
	"github.com/s3window/s3window/internal/partition"
	"github.com/s3window/s3window/internal/window/sealed"
)

type recorder struct {
	mu        sync.Mutex
	committed []Committed
	retried   map[sealed.Step]int
	fenced    int
	lost      int
	health    []error
}

func (r *recorder) Committed(c Committed) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.committed = append(r.committed, c)
}

func (r *recorder) Retried(step sealed.Step, _ string, _ partition.Signal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.retried[step]++
}

func (r *recorder) retries() map[sealed.Step]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.retried)
}

func (r *recorder) Fenced(string, partition.Signal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fenced++
}

func (r *recorder) Lost(n int, _ int64, _ string, _ partition.Signal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lost += n
}

func (r *recorder) Health(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.health = append(r.health, err)
}

func (r *recorder) windows() []Committed {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.committed)
}

func (r *recorder) reasons() map[flush.Reason]int {
	out := map[flush.Reason]int{}
	for _, c := range r.windows() {
		out[c.Reason]++
	}
	return out
}

// healths are what was told of the health, in order.
func (r *recorder) healths() []error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.health)
}

func (r *recorder) lastHealth() error {
	h := r.healths()
	if len(h) == 0 {
		return nil
	}
	return h[len(h)-1]
}
