package window

import (
	"context"
	"errors"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/s3window/s3window/internal/commit"
	"github.com/s3window/s3window/internal/encode"
)

const (
	// maxTurn is how many windows are committed under one lease at most.
	maxTurn = 16
	// blockedTries has the longest pause before a log that an operator has to
	// look at is tried again.
	blockedTries = 64
)

// settle commits the partition's uploaded windows in order, unless that is
// under way.
func (r *Runtime) settle(p *part) {
	if p.settling || p.restarting || r.ctx.Err() != nil || len(p.queue) == 0 || p.turn.notYet.After(time.Now()) {
		return
	}
	ws := p.ready()
	if len(ws) == 0 {
		return
	}
	p.settling = true
	ws[0].damaged = append(ws[0].damaged, r.opt.Damage.take(p.key)...)
	for _, w := range ws {
		w.progress = settling
	}
	after := ws[0].dest.ends[ws[0].Writer]
	r.work(func(ctx context.Context) func() {
		n, err := r.commit(ctx, ws, after)
		return func() { r.settled(p, ws, n, err) }
	})
}

// ready are the windows at the head of the queue that can be committed in one
// turn: uploaded, and of one commit log and writer.
func (p *part) ready() []*sealedWindow {
	n := 0
	for n < len(p.queue) && n < maxTurn {
		w := p.queue[n]
		if w.progress != uploaded || w.dest != p.queue[0].dest || w.Writer != p.queue[0].Writer {
			break
		}
		n++
	}
	return p.queue[:n:n]
}

// commit does the steps that are done in turns, then takes the windows'
// entries out of the WAL, and says how many are through.
func (r *Runtime) commit(ctx context.Context, ws []*sealedWindow, after int64) (int, error) {
	cs := make([]commit.Window, 0, len(ws))
	for _, w := range ws {
		if w.empty() {
			continue
		}
		cs = append(cs, w.entry(after))
		after = w.End
	}
	var n int
	var err error
	if len(cs) > 0 {
		n, err = r.turn(ctx, ws[0].dest.log, cs)
	}
	through := 0
	for _, w := range ws {
		if !w.empty() {
			if n == 0 {
				break
			}
			n--
		}
		if e := r.trim(ctx, w); e != nil {
			return through, e
		}
		through++
	}
	return through, err
}

// turn commits windows when one of the places for that is free: each costs a
// handful of requests, and ten thousand partitions may come at once.
func (r *Runtime) turn(ctx context.Context, log Log, cs []commit.Window) (int, error) {
	select {
	case r.turns <- struct{}{}:
		defer func() { <-r.turns }()
		return log.Commit(ctx, cs)
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// empty says that the window has nothing to commit: its entries hold no
// records. They are trimmed all the same.
func (w *sealedWindow) empty() bool {
	return w.result.records == 0 && len(w.result.lost) == 0 && len(w.damaged) == 0
}

// entry is what the commit log will say of the window.
func (w *sealedWindow) entry(after int64) commit.Window {
	return commit.Window{
		ID: w.id(), Writer: w.Writer, After: after, Start: w.Start, End: w.End, Reason: string(w.Reason),
		Format: w.Spec.Format, Compression: w.Spec.Codec, Schema: encode.SchemaVersion(),
		Objects: w.result.objects, Records: w.result.records, Bytes: w.result.bytes, RawBytes: w.raw,
		MinTime: w.result.minTime, MaxTime: w.result.maxTime, Lost: slices.Concat(w.result.lost, w.damaged),
	}
}

// trim takes the window's entries out of the WAL, then its seal, in this order.
//
// Crash before this, or in its middle: the window is committed, so what is left
// of its entries is dropped when they are read. Crash before the seal is gone:
// the next process finds it empty or committed, and deletes it.
func (r *Runtime) trim(ctx context.Context, w *sealedWindow) error {
	if err := r.persist(ctx, "trim", func() error { return r.opt.Queue.Trim(ctx, w.seqs()) }); err != nil {
		return err
	}
	return r.persist(ctx, "delete seal", func() error { return r.opt.Queue.DeleteSeal(ctx, w.sealID) })
}

// settled takes the outcome of a turn.
func (r *Runtime) settled(p *part, ws []*sealedWindow, n int, err error) {
	p.settling = false
	for _, w := range ws[:n] {
		r.committed(p, w)
	}
	p.queue = p.queue[n:]
	for _, w := range ws[n:] {
		w.progress = uploaded
	}
	if n > 0 {
		p.heads.tries = 0
	}
	var overlap *commit.Overlap
	switch {
	case p.restarting:
		r.restart(p)
	case errors.As(err, &overlap):
		r.opt.Observer.Fenced(p.tenant, p.signal)
		r.logger.Warn("Records of this WAL were committed by another process: their windows are decided anew",
			zap.String("tenant", p.tenant), zap.String("signal", string(p.signal)), zap.String("writer", overlap.Writer),
			zap.Int64("committed_to", overlap.End))
		p.sweepers = append(p.sweepers, overlap.Writer)
		r.restart(p)
	case err != nil && r.ctx.Err() == nil:
		r.fail(p, "commit", err)
		r.opt.Observer.Retried("commit", p.tenant, p.signal)
		if errors.As(err, new(*commit.Blocked)) {
			p.turn.tries = blockedTries
		}
		r.retry(&p.turn, func() { r.settle(p) })
	case err == nil:
		p.turn.tries = 0
		r.mend(p, "commit")
		r.settle(p)
		r.sweep(p)
	}
	r.dispatch()
}

// sweep deletes the objects that a restart of the partition left behind, once
// its windows are committed anew: those of this process's own writer, since
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
			keys, err := d.log.Sweep(ctx, writers...)
			return func() {
				if len(keys) > 0 || err != nil {
					r.logger.Info("Objects of void windows deleted", zap.String("tenant", p.tenant),
						zap.String("signal", string(p.signal)), zap.Strings("object_keys", keys), zap.Error(err))
				}
			}
		})
	}
}

// committed tells of a window that is real and out of the WAL.
func (r *Runtime) committed(p *part, w *sealedWindow) {
	if !w.empty() {
		w.dest.ends[w.Writer] = max(w.dest.ends[w.Writer], w.End)
	}
	r.budget.releaseRefs(w.entries)
	r.budget.windows(-1)
	p.lastUse = time.Now()
	r.observe(w)
}
