package window

import (
	"time"

	"github.com/s3window/s3window/internal/flush"
)

// healthyFor is how long after a commit the lake counts as taking windows.
const healthyFor = time.Minute

// relieve makes room when somebody waits for memory, as far as what is being
// encoded and uploaded will not do that by itself. It seals the window that
// holds the most, and drops payloads that can be read from the WAL again where
// sealing would free nothing.
func (r *Runtime) relieve() {
	need, first := r.budget.short()
	if need == 0 {
		return
	}
	if first {
		// A flush reads its window back and cannot go on without. Whatever holds
		// memory and is not at work gives way, or both would wait for ever.
		r.evict(need, func(*part) bool { return true })
		return
	}
	coming := r.coming()
	for coming < need {
		k, _, ok := r.policy.Largest(func(k key) bool { return !r.parts[k].failing() })
		if !ok {
			break
		}
		p := r.parts[k]
		coming += p.open.held
		r.seal(p, flush.Memory)
	}
	if coming >= need {
		return
	}
	if len(r.unhealthy) > 0 && time.Since(r.succeeded) < healthyFor {
		// Others are served; those that are not must not stand in their way.
		need -= r.evict(need-coming, func(p *part) bool { return p.failing() })
	}
	if coming < need {
		r.evictPinned(need - coming)
	}
}

// coming is what running encoders and uploads will free.
func (r *Runtime) coming() int64 {
	sum := r.staging
	for _, p := range r.parts {
		if p.failing() {
			continue
		}
		for _, w := range p.queue {
			switch w.progress {
			case uploading:
				sum += w.held
			case waiting:
				held, _ := w.heldNow()
				sum += held
			}
		}
	}
	return sum
}

// evict drops up to need bytes of what partitions hold that may be evicted, and
// says how many it dropped. Windows that were sealed are touched first.
func (r *Runtime) evict(need int64, may func(*part) bool) (freed int64) {
	for _, p := range r.parts {
		if freed >= need {
			return freed
		}
		if !may(p) {
			continue
		}
		for _, w := range p.queue {
			if w.progress == waiting && *w.staging == 0 {
				freed += r.cool(w.units)
			}
		}
		freed += r.coolWaiting(p)
	}
	for _, p := range r.parts {
		if freed >= need {
			return freed
		}
		if may(p) {
			freed += r.coolOpen(p)
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
	p.cold = p.cold || p.failing()
	r.report(p)
	return freed
}

func (r *Runtime) coolWaiting(p *part) int64 {
	freed := p.waitHeld
	for i := range p.waiting {
		p.waiting[i].payload = nil
	}
	p.waitHeld = 0
	r.budget.release(freed)
	return freed
}
