package window

// relieve makes room when somebody waits for memory, as far as what is being
// encoded and uploaded will not do that by itself. What partitions hold that do
// not get on is dropped first, as it can be read from the WAL again; then the
// windows that hold the most are sealed.
func (r *Runtime) relieve() {
	short := r.budget.short()
	if short.need == 0 {
		return
	}
	if short.first {
		// A flush reads its window back and cannot go on without. Whatever holds
		// memory and is not at work gives way, or both would wait for ever.
		need := short.need - r.evict(short.need, (*part).stuck)
		r.evict(need, func(*part) bool { return true })
		return
	}
	need := short.need - r.coming()
	if !short.refs && need > 0 {
		need -= r.evict(need, (*part).stuck)
	}
	if need > 0 {
		for _, d := range r.policy.Largest(need, func(k key) bool { return !r.parts[k].stuck() }) {
			p := r.parts[d.Key]
			need -= p.open.sum()
			r.seal(p, d.Reason)
		}
	}
	if need <= 0 {
		return
	}
	if !short.refs {
		r.evictPinned(need)
	}
	if r.budget.short().need > 0 && r.rebuilding() {
		r.budget.admit()
	}
}

// rebuilding says that only windows of an earlier process are left to wait for:
// their bounds are decided, so they can be flushed when their last records are
// read, and not before. What they hold then may be more than references may
// take, if the memory was larger when they were sealed.
func (r *Runtime) rebuilding() bool {
	pinned := false
	for _, p := range r.parts {
		if p.stuck() {
			continue
		}
		if len(p.queue) > 0 || len(p.waiting) > 0 || p.reading || p.restarting || p.open != nil && p.open.pinned == nil {
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
		if p.stuck() {
			return
		}
		for _, w := range p.queue {
			sum += int64(w.entries)*refBytes + windowBytes
			switch {
			case w.progress == uploading:
				sum += w.held
			case w.progress == waiting && *w.staging == 0:
				held, _ := w.heldNow()
				sum += held
			}
		}
	})
	return sum
}

// evict drops need bytes, or a little more, of what partitions hold that may be
// evicted, and says how many. Windows that were sealed are touched first.
func (r *Runtime) evict(need int64, may func(*part) bool) (freed int64) {
	if need <= 0 {
		return 0
	}
	r.owed(func(p *part) {
		if freed >= need || !may(p) {
			return
		}
		for _, w := range p.queue {
			if w.progress == waiting && *w.staging == 0 {
				freed += r.cool(w.units)
			}
		}
		p.cold = p.cold || p.stuck()
	})
	for _, p := range r.parts {
		if freed >= need {
			return freed
		}
		if (p.open != nil || p.waitHeld > 0) && may(p) {
			freed += r.coolWaiting(p) + r.coolOpen(p)
			p.cold = p.cold || p.stuck()
		}
	}
	return freed
}

// evictPinned drops what windows of an earlier process hold while they are
// rebuilt: their bounds are decided, so sealing cannot make them smaller.
func (r *Runtime) evictPinned(need int64) {
	for _, p := range r.pinned {
		if need <= 0 {
			return
		}
		if p.open != nil && p.open.pinned != nil {
			need -= r.coolOpen(p)
		}
	}
}

func (r *Runtime) cool(units []*unit) (freed int64) {
	for _, u := range units {
		if !u.busy {
			freed += u.cool()
		}
	}
	r.budget.release(freed)
	return freed
}

func (r *Runtime) coolOpen(p *part) int64 {
	w := p.open
	if w == nil || *w.staging > 0 {
		return 0
	}
	freed := r.cool(w.units)
	w.held, w.encodedRaw, w.encodedBytes = 0, 0, 0
	r.report(p)
	return freed
}

func (r *Runtime) coolWaiting(p *part) int64 {
	freed := p.waitHeld
	if freed == 0 {
		return 0
	}
	for i := range p.waiting {
		p.waiting[i].payload = nil
	}
	p.waitHeld = 0
	r.budget.release(freed)
	return freed
}
