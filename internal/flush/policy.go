package flush

import (
	"cmp"
	"container/heap"
	"iter"
	"slices"
)

// Due names a window to seal, and why.
type Due[K comparable] struct {
	Key    K
	Reason Reason
}

// Policy knows which open windows a rule of the clock names next, without
// asking each of them. It is not safe for concurrent use.
type Policy[K comparable] struct {
	byKey map[K]*entry[K]
	// A window that is not rebuilt stands in one of the first four.
	ages  queue[K] // by the stamp at which they are MaxAge old
	late  queue[K] // older than that while the reader is behind, the largest MaxAge first
	ripe  queue[K] // older than that while the pool has no room, the oldest first
	waits queue[K] // for windows before them
	ends  queue[K] // by the stamp at which they end whatever their age
	first uint64   // no open window began in an earlier segment
	due   []Due[K]
}

type entry[K comparable] struct {
	key    K
	window *Window
	places [places]int // in each queue; -1 for none
}

// The queues that a window may stand in.
const (
	inAges = iota
	inLate
	inRipe
	inWaits
	inEnds
	places
)

// NewPolicy returns a policy without windows.
func NewPolicy[K comparable]() *Policy[K] {
	p := &Policy[K]{byKey: map[K]*entry[K]{}}
	p.ages = queue[K]{place: inAges, less: func(a, b *Window) int {
		return cmp.Or(cmp.Compare(a.agedAt(), b.agedAt()), older(a, b))
	}}
	p.late = queue[K]{place: inLate, less: func(a, b *Window) int {
		return cmp.Or(cmp.Compare(b.Limits.MaxAge, a.Limits.MaxAge), older(a, b))
	}}
	p.ripe = queue[K]{place: inRipe, less: p.ages.less}
	p.waits = queue[K]{place: inWaits, less: older}
	p.ends = queue[K]{place: inEnds, less: func(a, b *Window) int {
		return cmp.Or(cmp.Compare(a.endsAt(), b.endsAt()), older(a, b))
	}}
	return p
}

// Add takes w in under key, which has no window yet. The policy reads w from
// then on whenever it is asked; First, Until, Limits and Rebuilt must not
// change, and Waits only by Wait.
func (p *Policy[K]) Add(key K, w *Window) {
	e := &entry[K]{key: key, window: w, places: [places]int{-1, -1, -1, -1, -1}}
	if len(p.byKey) == 0 {
		p.first = w.First.Segment
	}
	p.byKey[key] = e
	if w.endsAt() != Never {
		p.ends.add(e)
	}
	if w.Rebuilt == nil {
		p.first = min(p.first, w.First.Segment)
		p.stand(e)
	}
}

// stand puts a window that is not rebuilt where it waits to be named.
func (p *Policy[K]) stand(e *entry[K]) {
	if e.window.Waits {
		p.waits.add(e)
		return
	}
	p.ages.add(e)
}

// Wait says whether windows of the partition before the one under key are on
// their way. A key without a window is no error.
func (p *Policy[K]) Wait(key K, on bool) {
	e, ok := p.byKey[key]
	if !ok || e.window.Waits == on {
		return
	}
	e.window.Waits = on
	if e.window.Rebuilt != nil {
		return
	}
	for _, q := range p.queues() {
		q.remove(e)
	}
	p.stand(e)
}

// queues are those of which a window that is not rebuilt stands in one.
func (p *Policy[K]) queues() [inEnds]*queue[K] {
	return [inEnds]*queue[K]{&p.ages, &p.late, &p.ripe, &p.waits}
}

// Remove forgets the window under key: it was sealed, or is no longer open. A
// key without a window is no error.
func (p *Policy[K]) Remove(key K) {
	e, ok := p.byKey[key]
	if !ok {
		return
	}
	delete(p.byKey, key)
	for _, q := range p.queues() {
		q.remove(e)
	}
	p.ends.remove(e)
}

// Ripe says that windows are MaxAge old and were not named for want of room.
func (p *Policy[K]) Ripe() bool { return len(p.ripe.entries) > 0 }

// Len is the number of open windows.
func (p *Policy[K]) Len() int { return len(p.byKey) }

// Advance returns the windows that are due at c: those of ended segments oldest
// first, or else those at a boundary and those that are too old, in the order
// in which they became so. The result is valid until the next call; the caller
// seals and removes each of them.
func (p *Policy[K]) Advance(c Clock) []Due[K] {
	p.due = p.due[:0]
	if c.Safe.Segment > p.first {
		p.rotate(c)
	}
	p.end(c)
	p.age(c)
	return p.due
}

// rotate names every window of a segment that ended. It looks at all windows,
// which it does once for every segment.
func (p *Policy[K]) rotate(c Clock) {
	var ended []*entry[K]
	p.first = c.Safe.Segment
	for e := range p.new() {
		if e.window.First.Segment < c.Safe.Segment {
			ended = append(ended, e)
			p.first = min(p.first, e.window.First.Segment) // until it is removed
		}
	}
	slices.SortFunc(ended, func(a, b *entry[K]) int { return older(a.window, b.window) })
	for _, e := range ended {
		p.due = append(p.due, Due[K]{e.key, Rotation})
	}
}

// end names the windows that end at c whatever their age.
func (p *Policy[K]) end(c Clock) {
	var named []*entry[K]
	for e := p.ends.top(); e != nil && e.window.endsAt() <= c.Safe.Time; e = p.ends.top() {
		p.ends.remove(e)
		named = append(named, e)
	}
	for _, e := range named {
		p.ends.add(e) // until it is removed
		reason, _ := e.window.Due(c)
		if e.window.Rebuilt != nil || reason == Boundary { // else its segment ended too: rotate named it
			p.due = append(p.due, Due[K]{e.key, reason})
		}
	}
}

// age names the windows that are too old, unless the reader is behind, and no
// more than the pool has room for: what is due longest first.
func (p *Policy[K]) age(c Clock) {
	for e := p.ages.top(); e != nil && e.window.agedAt() <= c.Safe.Time; e = p.ages.top() {
		p.ages.remove(e)
		p.late.add(e)
	}
	for e := p.late.top(); e != nil && !c.behind(e.window.Limits.MaxAge); e = p.late.top() {
		p.late.remove(e)
		p.ripe.add(e)
	}
	var named, back []*entry[K]
	for e := p.ripe.top(); e != nil && len(named) < c.Room; e = p.ripe.top() {
		p.ripe.remove(e)
		switch reason, ok := e.window.Due(c); {
		case ok && reason == Age:
			named = append(named, e)
		default: // the reader fell behind since, time went back, or another rule named it
			back = append(back, e)
		}
	}
	for _, e := range back {
		p.ages.add(e)
	}
	for _, e := range named {
		p.ages.add(e) // until it is removed
		p.due = append(p.due, Due[K]{e.key, Age})
	}
}

// Largest returns the windows to seal when memory is short: those that hold
// the most, until together they hold need bytes, largest first. Of equals the
// oldest is first. Windows whose key may refuses do not count, nor do those that
// are rebuilt. The result is valid until the next call; the caller seals and
// removes each of them.
func (p *Policy[K]) Largest(need int64, may func(K) bool) []Due[K] {
	p.due = p.due[:0]
	all := queue[K]{less: func(a, b *Window) int {
		return cmp.Or(cmp.Compare(b.Held, a.Held), older(a, b))
	}}
	for e := range p.new() {
		if may(e.key) {
			all.entries = append(all.entries, &entry[K]{key: e.key, window: e.window})
		}
	}
	heap.Init(&all)
	for need > 0 && len(all.entries) > 0 {
		e := heap.Pop(&all).(*entry[K])
		need -= e.window.Held
		p.due = append(p.due, Due[K]{e.key, Memory})
	}
	return p.due
}

// AtShutdown returns the windows to seal when the collector stops at now: those
// that are worth a commit, with 1 MiB of records or ten seconds old; all of them
// where nothing survives the process.
func (p *Policy[K]) AtShutdown(now int64, all bool) []Due[K] {
	p.due = p.due[:0]
	for e := range p.new() {
		if all || e.window.worth(now) {
			p.due = append(p.due, Due[K]{e.key, Shutdown})
		}
	}
	return p.due
}

// new visits the windows that are not rebuilt, in an order that depends on
// nothing but what the policy was told.
func (p *Policy[K]) new() iter.Seq[*entry[K]] {
	return func(yield func(*entry[K]) bool) {
		for _, q := range p.queues() {
			for _, e := range q.entries {
				if !yield(e) {
					return
				}
			}
		}
	}
}

func older(a, b *Window) int {
	return cmp.Or(cmp.Compare(a.First.Time, b.First.Time), cmp.Compare(a.First.Segment, b.First.Segment))
}
