package window

import (
	"context"
	"errors"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/s3window/s3window/internal/commit"
	"github.com/s3window/s3window/internal/window/sealed"
)

const (
	// maxTurn is how many windows are committed in one turn at most.
	maxTurn = 16
	// blockedTries has the longest pause before a log that an operator has to
	// look at is tried again.
	blockedTries = 64
)

// settle commits the partition's uploaded windows in order, unless that is
// under way.
func (r *Runtime) settle(p *part) {
	if p.settling > 0 || p.state != live || r.ctx.Err() != nil || p.turn.waits() {
		return
	}
	ws := p.ready()
	if len(ws) == 0 {
		return
	}
	p.settling = len(ws)
	ws[0].Damaged = append(ws[0].Damaged, r.opt.Damage.take(p.key)...)
	after := p.queue[0].to.ends[ws[0].Writer]
	r.work(func(ctx context.Context) func() {
		through, err := r.flusher.Commit(ctx, ws, after)
		return func() { r.settled(p, through, err) }
	})
}

// ready are the windows at the head of the queue that can be committed in one
// turn: uploaded, and of one commit log and writer.
func (p *part) ready() []*sealed.Uploaded {
	var ws []*sealed.Uploaded
	for _, f := range p.queue {
		if len(ws) == maxTurn || f.uploaded == nil || f.to != p.queue[0].to || f.window.Writer != p.queue[0].window.Writer {
			break
		}
		ws = append(ws, f.uploaded)
	}
	return ws
}

// settled takes the outcome of a turn.
func (r *Runtime) settled(p *part, through []*sealed.Committed, err error) {
	p.settling = 0
	for i, c := range through {
		r.committed(p, p.queue[i].to, c)
	}
	p.queue = p.queue[len(through):]
	r.holdOpen(p)
	if len(through) > 0 {
		p.heads.tries = 0
	}
	switch {
	case p.state == restarting:
		r.restart(p)
	case err == nil:
		p.turn.tries = 0
		r.mend(p, sealed.Commit)
		r.settle(p)
		r.sweep(p)
		r.catchUp()
	default:
		r.commitFailed(p, err)
	}
	r.dispatch()
}

// commitFailed decides how the partition goes on after a turn that went wrong.
func (r *Runtime) commitFailed(p *part, err error) {
	var overlap *commit.Overlap
	if errors.As(err, &overlap) {
		r.opt.Observer.Fenced(p.tenant, p.signal)
		r.logger.Warn("Records of this queue were committed by another process: their windows are decided again",
			zap.String("tenant", p.tenant), zap.String("signal", string(p.signal)), zap.String("writer", overlap.Writer),
			zap.Int64("committed_to", overlap.End))
		p.sweepers = append(p.sweepers, overlap.Writer)
		r.restart(p)
		return
	}
	if r.ctx.Err() != nil {
		return
	}
	step := stepOf(err)
	r.fail(p, step, err)
	r.opt.Observer.Retried(step, p.tenant, p.signal)
	if errors.As(err, new(*commit.Blocked)) {
		p.turn.tries = blockedTries
	}
	r.retry(&p.turn, func() { r.settle(p) })
}

// sweep deletes the objects that a restart of the partition left behind, once
// its windows are committed again: those of this process's own writer, since
// only of them it is known that no other sink's commit log names them. What it
// does not delete stays and is reported by verify.
func (r *Runtime) sweep(p *part) {
	if len(p.sweepers) == 0 || len(p.queue) > 0 {
		return
	}
	writers := slices.DeleteFunc(p.sweepers, func(writer string) bool { return writer != r.opt.Queue.Writer() })
	p.sweepers = nil
	if len(writers) == 0 {
		return
	}
	for _, d := range p.dests {
		r.work(func(ctx context.Context) func() {
			keys, err := d.Log.Sweep(ctx, writers...)
			return func() {
				if len(keys) > 0 || err != nil {
					r.logger.Info("Objects of void windows deleted", zap.String("tenant", p.tenant),
						zap.String("signal", string(p.signal)), zap.Strings("object_keys", keys), zap.Error(err))
				}
			}
		})
	}
}

// committed tells of a window that is real and out of the queue.
func (r *Runtime) committed(p *part, to *destination, c *sealed.Committed) {
	if !c.Empty() {
		to.ends[c.Writer] = max(to.ends[c.Writer], c.End)
	}
	c.Release()
	r.budget.Windows(-1)
	p.lastUse = time.Now()
	r.observe(c)
}
