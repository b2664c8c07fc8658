package window

import (
	"cmp"
	"slices"

	"github.com/s3window/s3window/internal/flush"
	"github.com/s3window/s3window/internal/window/memory"
)

// relieve makes room when somebody waits for memory, as far as what is being
// encoded and uploaded will not do that by itself. What partitions hold that do
// not get on is dropped first, as it can be read from the queue again; then the
// windows that hold the most are sealed.
func (r *Runtime) relieve() {
	short := r.budget.Short()
	switch {
	case short.Need == 0:
	case short.First:
		// A flush reads its window back and cannot go on without. Whatever holds
		// memory and is not at work gives way, or both would wait for ever.
		need := short.Need - r.evict(short.Need, (*part).stuck)
		r.evict(need, func(*part) bool { return true })
	default:
		r.relieveReader(short)
	}
}

// relieveReader makes room for the reader, or for a scan.
func (r *Runtime) relieveReader(short memory.Shortage) {
	need := short.Need - r.coming()
	if !short.Refs && need > 0 {
		need -= r.evict(need, (*part).stuck)
	}
	need -= r.leaveJoining(need)
	need -= r.sealLargest(need)
	if need <= 0 {
		return
	}
	if short.Refs {
		r.park(need)
	} else {
		r.evictRebuilding(need)
	}
	if r.budget.Short().Need > 0 && r.onlyRebuilding() {
		r.budget.Admit()
	}
}

// leaveJoining leaves in the queue what waits behind a scan, until need bytes
// come free, and returns how many did: the scan itself may be who waits for them.
func (r *Runtime) leaveJoining(need int64) (freed int64) {
	for _, p := range r.laggards() {
		if freed >= need {
			break
		}
		if p.joining() && len(p.waiting) > 0 {
			freed += int64(len(p.waiting))*memory.RefBytes + r.leave(p)
		}
	}
	return freed
}

// sealLargest seals the windows that hold the most, of partitions that get on,
// until need bytes will come free. It returns how many will.
func (r *Runtime) sealLargest(need int64) (coming int64) {
	if need <= 0 {
		return 0
	}
	for _, d := range r.policy.Largest(need, func(k key) bool { return !r.parts[k].stuck() }) {
		p := r.parts[d.Key]
		coming += p.open.Held
		r.seal(p, d.Reason)
	}
	for _, p := range r.laggards() {
		if coming >= need {
			break
		}
		if w := p.open; w != nil && w.pin == nil && !p.stuck() {
			coming += w.Held
			r.seal(p, flush.Memory)
		}
	}
	return coming
}

// onlyRebuilding says that only windows of an earlier process are left to wait
// for: their bounds are decided, so they can be flushed when their last records
// are read, and not before. What they hold then may be more than references may
// take, if the memory was larger when they were sealed.
func (r *Runtime) onlyRebuilding() bool {
	pinned := false
	for _, p := range r.parts {
		if p.stuck() {
			continue
		}
		if len(p.queue) > 0 || len(p.waiting) > 0 || p.state == reading || p.state == restarting || p.open != nil && p.open.pin == nil {
			return false
		}
		pinned = pinned || p.open != nil
	}
	return pinned
}

// coming is what running encoders and uploads will free.
func (r *Runtime) coming() int64 {
	sum := r.staging
	r.owed(func(p *part) {
		if !p.stuck() {
			for _, f := range p.queue {
				sum += f.held()
			}
		}
	})
	return sum
}

// held is what the window holds that comes free when it is committed, bytes.
func (f *flushing) held() int64 {
	sum := f.window.Refs.Refs() + memory.WindowBytes
	switch {
	case f.flying():
		sum += f.flight.held
	case f.waits():
		held, _ := f.window.Held()
		sum += held
	}
	return sum
}

// held is what the partition holds, bytes.
func (p *part) held() (sum int64) {
	for _, f := range p.queue {
		sum += f.held()
	}
	if p.open != nil {
		sum += p.open.Held
	}
	for i := range p.waiting {
		sum += p.waiting[i].Hold.Data() + memory.RefBytes
	}
	return sum
}

// evict drops need bytes, or a little more, of what partitions hold that may be
// evicted, and returns how many. Windows that were sealed are touched first. A
// partition that does not get on falls behind: it takes no entries until it
// does.
func (r *Runtime) evict(need int64, may func(*part) bool) (freed int64) {
	if need <= 0 {
		return 0
	}
	r.owed(func(p *part) {
		if freed >= need || !may(p) {
			return
		}
		for _, f := range p.queue {
			if f.waits() {
				freed += f.window.Cool()
			}
		}
		if p.stuck() {
			r.fallBehind(p, r.next())
		}
	})
	for _, p := range r.parts {
		if freed >= need {
			return freed
		}
		if (p.open == nil && len(p.waiting) == 0) || !may(p) {
			continue
		}
		freed += r.leave(p)
		if p.open != nil && !p.open.busy() {
			freed += p.open.cool(p.ratio)
		}
		if p.stuck() {
			r.fallBehind(p, r.next())
		}
	}
	return freed
}

// leave leaves in the queue what waits of the partition, and returns how many
// bytes of the budget that gave back.
func (r *Runtime) leave(p *part) int64 {
	if len(p.waiting) == 0 {
		return 0
	}
	p.scan = nil // what it brings would come before what is left here
	r.fallBehind(p, p.waiting[0].Position())
	return p.leaveWaiting()
}

// evictRebuilding drops what windows of an earlier process hold while they are
// rebuilt: their bounds are decided, so sealing cannot make them smaller.
func (r *Runtime) evictRebuilding(need int64) {
	for _, p := range r.rebuilding {
		if need <= 0 {
			return
		}
		if p.open != nil && p.open.pin != nil && !p.open.busy() {
			need -= p.open.cool(p.ratio)
		}
	}
}

// park forgets what is remembered of partitions that do not get on, those that
// hold the most first, until need bytes come free.
func (r *Runtime) park(need int64) {
	var stuck []*part
	for _, p := range r.parts {
		if p.state == live && p.stuck() && (p.open != nil || len(p.queue) > 0) {
			stuck = append(stuck, p)
		}
	}
	slices.SortFunc(stuck, func(a, b *part) int {
		return cmp.Or(cmp.Compare(b.held(), a.held()), cmp.Compare(a.tenant, b.tenant), cmp.Compare(a.signal, b.signal))
	})
	for _, p := range stuck {
		if need <= 0 {
			return
		}
		need -= p.held()
		r.restart(p)
	}
}

// keepShare has those partitions fall behind that got entries just now and hold
// more references than are left for all others: so however many of them do not
// get on, there is room for one more. Nothing is done while there is plenty.
func (r *Runtime) keepShare() {
	spare := r.budget.Spare()
	if len(r.parts) < 2 || spare > r.budget.Limit()/16 {
		return
	}
	for _, p := range r.touched {
		switch {
		case p.behind() || p.refs() <= spare:
		case len(p.waiting) > 0:
			r.leave(p)
		default:
			r.fallBehind(p, r.next())
		}
	}
}

// refs is what references to entries of the partition are counted as, and the
// windows that have them.
func (p *part) refs() (sum int64) {
	for _, f := range p.queue {
		sum += f.window.Refs.Refs() + memory.WindowBytes
	}
	if p.open != nil {
		sum += p.open.refs.Refs() + memory.WindowBytes
	}
	return sum + int64(len(p.waiting))*memory.RefBytes
}

// keepShares has a partition that holds more than half of the memory fall
// behind while somebody waits for some: what it holds comes free in its own
// time, and others are read past it meanwhile.
func (r *Runtime) keepShares() {
	if r.budget.Short().Need == 0 || len(r.parts) < 2 {
		return
	}
	for _, p := range r.parts {
		if p.state == live && !p.behind() && p.held() > r.budget.Limit()/2 {
			r.fallBehind(p, r.next())
		}
	}
}
