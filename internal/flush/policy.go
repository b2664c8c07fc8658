package flush

import (
	"cmp"
	"container/heap"
	"slices"
	"time"
)

// Reason says why a window was sealed. Its text stands in manifests and
// metrics.
type Reason string

// The reasons, in the order of windows that compete.
const (
	Size     Reason = "size"     // the expected object size reached the target
	Age      Reason = "age"      // the oldest record is MaxAge behind the safe time
	Boundary Reason = "boundary" // the next record lies in another hour, or was appended by another writer
	Rotation Reason = "rotation" // the WAL segment of the oldest record ended
	Memory   Reason = "memory"   // the memory budget is reached
	Shutdown Reason = "shutdown" // the collector stops
)

// What a window must have to be worth a commit at shutdown.
const (
	worthBytes = 1 << 20
	worthAge   = 10 * time.Second
)

// Config says when a window is sealed.
type Config struct {
	TargetSize int64         // expected size of the object, bytes
	MaxAge     time.Duration // of the oldest record, inclusive
}

// Point is a point of the WAL: a stamp (microseconds since the epoch) and the
// segment that the next record will be in.
type Point struct {
	Time    int64
	Segment uint64
}

// Window is what the policy knows of one open window.
type Window[K comparable] struct {
	Key      K
	First    Point // of its oldest record
	Expected int64 // size of the object if it were sealed now, bytes
	Held     int64 // memory that it holds, bytes
	Raw      int64 // size of its records as they came, bytes
	Limits   Config
	due      int64 // stamp from which it is MaxAge old
	index    int
}

// Due names a window to seal, and why.
type Due[K comparable] struct {
	Key    K
	Reason Reason
}

// Policy holds the open windows by key. It is not safe for concurrent use.
type Policy[K comparable] struct {
	cfg    Config
	byKey  map[K]*Window[K]
	byAge  ages[K]
	first  uint64 // no open window began in an earlier segment
	update []Due[K]
}

// NewPolicy gives a policy without windows. cfg holds for windows whose Limits
// are zero.
func NewPolicy[K comparable](cfg Config) *Policy[K] {
	return &Policy[K]{cfg: cfg, byKey: map[K]*Window[K]{}}
}

// Put tells the policy of a new window, or of what changed in one it knows.
// First and Limits of a known window stay as they were.
func (p *Policy[K]) Put(w Window[K]) {
	if old, ok := p.byKey[w.Key]; ok {
		old.Expected, old.Held, old.Raw = w.Expected, w.Held, w.Raw
		return
	}
	if w.Limits == (Config{}) {
		w.Limits = p.cfg
	}
	w.due = w.First.Time + w.Limits.MaxAge.Microseconds()
	if len(p.byKey) == 0 {
		p.first = w.First.Segment
	}
	p.first = min(p.first, w.First.Segment)
	p.byKey[w.Key] = &w
	heap.Push(&p.byAge, &w)
}

// Remove forgets a window: it was sealed, or is no longer open.
func (p *Policy[K]) Remove(key K) {
	w, ok := p.byKey[key]
	if !ok {
		return
	}
	delete(p.byKey, key)
	heap.Remove(&p.byAge, w.index)
}

// Len is the number of open windows.
func (p *Policy[K]) Len() int { return len(p.byKey) }

// Full says whether the window under key has reached the target size. A window
// of exactly the target size has.
func (p *Policy[K]) Full(key K) bool {
	w, ok := p.byKey[key]
	return ok && w.Expected >= w.Limits.TargetSize
}

// Advance gives the windows that are due when the WAL's safe time and segment
// are now: those of ended segments oldest first, or else those that are too old
// in the order in which they became so. The result is valid until the next
// call; the caller seals and removes each of them.
func (p *Policy[K]) Advance(now Point) []Due[K] {
	p.update = p.update[:0]
	if now.Segment > p.first {
		p.rotate(now)
	}
	if len(p.byAge) == 0 || now.Time < p.byAge[0].due {
		return p.update
	}
	var kept []*Window[K]
	for len(p.byAge) > 0 && now.Time >= p.byAge[0].due {
		w := heap.Pop(&p.byAge).(*Window[K])
		kept = append(kept, w)
		if now.Segment <= w.First.Segment {
			p.update = append(p.update, Due[K]{w.Key, Age})
		}
	}
	for _, w := range kept {
		heap.Push(&p.byAge, w)
	}
	return p.update
}

// rotate notes every window of a segment that ended. It looks at all windows,
// which it does once for every segment.
func (p *Policy[K]) rotate(now Point) {
	var ended []*Window[K]
	p.first = now.Segment
	for _, w := range p.byAge {
		if w.First.Segment < now.Segment {
			ended = append(ended, w)
			p.first = min(p.first, w.First.Segment) // until it is removed
		}
	}
	slices.SortFunc(ended, func(a, b *Window[K]) int {
		return cmp.Or(cmp.Compare(a.First.Time, b.First.Time), cmp.Compare(a.First.Segment, b.First.Segment))
	})
	for _, w := range ended {
		p.update = append(p.update, Due[K]{w.Key, Rotation})
	}
}

// Largest gives the windows to seal when memory is short: those that hold the
// most, until together they hold need, largest first. Of equals the oldest is
// first. Windows whose key pass refuses do not count. The result is valid until
// the next call; the caller seals and removes each of them.
func (p *Policy[K]) Largest(need int64, pass func(K) bool) []Due[K] {
	p.update = p.update[:0]
	var all holders[K]
	for _, w := range p.byAge {
		if pass(w.Key) {
			all = append(all, w)
		}
	}
	heap.Init(&all)
	for need > 0 && len(all) > 0 {
		w := heap.Pop(&all).(*Window[K])
		need -= w.Held
		p.update = append(p.update, Due[K]{w.Key, Memory})
	}
	return p.update
}

// AtShutdown gives the windows that are worth a commit when the collector
// stops at now: 1 MiB of records, or ten seconds open.
func (p *Policy[K]) AtShutdown(now Point) []Due[K] {
	p.update = p.update[:0]
	for _, w := range p.byAge {
		if w.Raw >= worthBytes || now.Time-w.First.Time >= worthAge.Microseconds() {
			p.update = append(p.update, Due[K]{w.Key, Shutdown})
		}
	}
	return p.update
}

// ages is a heap of windows, the one that will be too old next first.
type ages[K comparable] []*Window[K]

func older[K comparable](a, b *Window[K]) bool {
	if a.First.Time != b.First.Time {
		return a.First.Time < b.First.Time
	}
	return a.First.Segment < b.First.Segment
}

func (h ages[K]) Len() int { return len(h) }
func (h ages[K]) Less(i, j int) bool {
	if h[i].due != h[j].due {
		return h[i].due < h[j].due
	}
	return older(h[i], h[j])
}

func (h ages[K]) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

func (h *ages[K]) Push(x any) {
	w := x.(*Window[K])
	w.index = len(*h)
	*h = append(*h, w)
}

func (h *ages[K]) Pop() any {
	old := *h
	w := old[len(old)-1]
	*h = old[:len(old)-1]
	return w
}

// holders is a heap of windows, the one that holds the most first.
type holders[K comparable] []*Window[K]

func (h holders[K]) Len() int      { return len(h) }
func (h holders[K]) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h holders[K]) Less(i, j int) bool {
	if h[i].Held != h[j].Held {
		return h[i].Held > h[j].Held
	}
	return older(h[i], h[j])
}

func (h *holders[K]) Push(x any) { *h = append(*h, x.(*Window[K])) }

func (h *holders[K]) Pop() any {
	old := *h
	w := old[len(old)-1]
	*h = old[:len(old)-1]
	return w
}
