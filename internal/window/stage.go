package window

import "context"

// stage has a full unit of the open window encoded, so that a record that is
// held costs its encoded size from then on.
func (r *Runtime) stage(p *part, u *unit) {
	w := p.open
	if w.encoder == nil {
		return
	}
	staging := w.staging
	*staging++
	u.busy = true
	cost := u.cost()
	r.staging += cost
	r.work(func(ctx context.Context) func() {
		err := r.stageUnit(ctx, w.encoder, u)
		return func() {
			*staging--
			u.busy = false
			r.staging -= cost
			if err == nil {
				p.learn(u.staged.Size, u.raw)
				w.encodedRaw += u.raw
				w.encodedBytes += u.staged.Size
				r.coolBulky([]*unit{u})
			}
			w.held += u.held - cost
			r.staged(p)
		}
	})
}

// staged goes on with a partition after one of its units was encoded.
func (r *Runtime) staged(p *part) {
	if p.restarting {
		r.restart(p)
		return
	}
	r.report(p)
	r.line(p)
}

// coolBulky drops encoded units that are not worth their memory.
func (r *Runtime) coolBulky(units []*unit) {
	for _, u := range units {
		if u.bulky() && !u.busy {
			r.budget.release(u.cool())
		}
	}
}
