package window

import (
	"time"

	"github.com/s3window/s3window/internal/flush"
)

// seal ends the partition's open window behind its last record.
func (r *Runtime) seal(p *part, reason flush.Reason) {
	next := p.open.last + 1
	if len(p.taken) > 0 {
		next = max(next, r.safe().Time)
	}
	r.sealBefore(p, reason, next)
}

// sealBefore ends the partition's open window at or before next, the stamp that
// its next record has at least. If the bucket has an object under these bounds
// that holds something else, the window ends a little later; it stays open if
// it cannot.
func (r *Runtime) sealBefore(p *part, reason flush.Reason, next int64) {
	w := p.open
	end := w.last + 1
	if w.pinned != nil {
		end = w.pinned.End
	} else {
		for p.isTaken(w, end) && end < next {
			end++
		}
		if p.isTaken(w, end) {
			return
		}
	}
	p.open = nil
	r.policy.Remove(p.key)
	s := w.seal(p, reason, end, time.Now())
	w.dest.sealed[w.writer] = s.End
	p.queue = append(p.queue, s)
	r.owes(p)
	r.line(p)
}

func (p *part) isTaken(w *openWindow, end int64) bool {
	_, ok := p.taken[bounds{w.writer, w.first.Time, end}]
	return ok
}

// owes has the partition stand among those with sealed windows.
func (r *Runtime) owes(p *part) {
	if !p.owing {
		p.owing = true
		r.owing = append(r.owing, p)
	}
}

// owed visits the partitions with sealed windows, in the order in which they
// came to have some, and forgets those that have none any more.
func (r *Runtime) owed(visit func(p *part)) {
	kept := r.owing[:0]
	for _, p := range r.owing {
		if len(p.queue) == 0 {
			p.owing = false
			continue
		}
		kept = append(kept, p)
		visit(p)
	}
	clear(r.owing[len(kept):])
	r.owing = kept
}
