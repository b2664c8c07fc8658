package window

import (
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/window/sealed"
)

// restart takes a live partition back to its entries, as a new process would:
// after another process committed records of this queue, when a window turned
// out too large for the memory, or when what is remembered of the partition
// takes more memory than it may. It waits for what is at work, then forgets all
// that it has in memory. Windows that are sealed keep their seals; the heads
// decide which of them still hold. It is called again by whoever ends.
//
// Crash before or after this: the next process does the same from the queue.
func (r *Runtime) restart(p *part) {
	switch p.state {
	case live:
		r.enter(p, restarting)
	case restarting:
	default:
		return // nothing of it is in memory yet
	}
	if p.busy() {
		return
	}
	if first, ok := p.oldest(); ok {
		p.cursor = first
		r.lag(p)
	}
	r.forgetWindows(p)
	r.enter(p, unread)
	if !slices.Contains(r.rebuilding, p) {
		r.rebuilding = append(r.rebuilding, p)
	}
	if p.heads.tries == 0 {
		p.heads.tries++
		r.recover(p)
		return
	}
	r.retry(&p.heads, func() { r.recover(p) }) // nothing was committed since the last restart
}

// forgetWindows drops all that is in memory of the partition but its seals.
func (r *Runtime) forgetWindows(p *part) {
	for _, f := range p.queue {
		switch {
		case f.durable == nil:
		case f.void:
			p.drop = append(p.drop, f.durable.SealID)
		default:
			p.pins = append(p.pins, &pin{f.durable.SealID, f.window.Seal})
		}
		if f.uploaded != nil {
			r.opt.Damage.put(p.key, f.uploaded.Damaged...)
		}
		f.window.Release()
		r.budget.Windows(-1)
	}
	if w := p.open; w != nil {
		if w.pin != nil {
			p.pins = append(p.pins, w.pin)
		}
		w.release()
		r.budget.Windows(-1)
		r.policy.Remove(p.key)
	}
	p.sortPins()
	p.queue, p.open = nil, nil
	p.leaveWaiting()
}

// release lets everything go that the window holds, references included.
func (w *openWindow) release() {
	for _, u := range w.units {
		u.Cool()
	}
	w.refs.Release()
}

// leaveWaiting drops what waits, and returns how many bytes of the budget that
// gave back. It is in the queue, from the cursor on.
func (p *part) leaveWaiting() (freed int64) {
	for i := range p.waiting {
		freed += p.waiting[i].Hold.Data()
		p.waiting[i].Hold.Release()
	}
	p.waiting = nil
	return freed
}

// fallBehind leaves the entries of the partition in the queue, from the given
// one on: unread, and not remembered.
func (r *Runtime) fallBehind(p *part, from sealed.Position) {
	if p.behind() {
		return
	}
	p.cursor = from
	r.lag(p)
	r.policy.Remove(p.key)
}

// lag has the partition stand among those that are behind.
func (r *Runtime) lag(p *part) {
	if !p.lagging {
		p.lagging = true
		r.behind = append(r.behind, p)
	}
}

// next is the place of the entry that the reader hands over next.
func (r *Runtime) next() sealed.Position { return sealed.Position{Seq: r.seen + 1, Point: r.safe()} }

// drop drops an entry as the operator wants it: it is counted, and named as lost
// in the next manifest of its partition.
func (r *Runtime) drop(p *part, e *sealed.Entry) {
	if !p.dropping {
		p.dropping = true
		r.logger.Warn("Queued records of a tenant are dropped, as the configuration says",
			zap.String("tenant", p.tenant), zap.String("signal", string(p.signal)), zap.Time("before", time.UnixMicro(p.want.DropBefore)))
	}
	r.opt.Damage.put(p.key, lake.Lost{
		Writer: e.Writer, Stamp: e.Stamp, Seq: e.Seq, Records: int64(e.Items), Reason: "dropped by the operator",
	})
	r.opt.Observer.Lost(1, int64(e.Items), p.tenant, p.signal)
	r.discard(e)
}
