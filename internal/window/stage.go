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
	raw := u.raw
	r.staging += raw
	r.work(func(ctx context.Context) func() {
		err := r.stageUnit(ctx, w.encoder, u)
		return func() {
			*staging--
			u.busy = false
			r.staging -= raw
			if err == nil {
				w.encodedRaw += u.raw
				w.encodedBytes += u.staged.Bytes
				w.held += u.held - raw
			}
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
