package window

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/s3window/s3window/internal/flush"
	"github.com/s3window/s3window/internal/partition"
	"github.com/s3window/s3window/internal/wal"
)

// transit are the groups that the reader has taken from the queue and the loop
// has not seen yet, in order: one that is handed over, and the next, which the
// reader takes before the loop is done with the first. While there is one, no
// stamp behind it is safe.
type transit struct {
	mu sync.Mutex // guards everything below
	at []flush.Point
}

// enter is called before a group is taken from the queue.
func (t *transit) enter(at flush.Point) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.at = append(t.at, at)
}

// arrive is called when the loop has seen the first group.
func (t *transit) arrive() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.at = slices.Delete(t.at, 0, 1)
}

// turnBack is called when the last group was not taken after all.
func (t *transit) turnBack() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.at = t.at[:len(t.at)-1]
}

// safe is the point of the WAL before which the loop has seen every record.
func (r *Runtime) safe() flush.Point {
	r.transit.mu.Lock()
	defer r.transit.mu.Unlock()
	if len(r.transit.at) > 0 {
		return r.transit.at[0]
	}
	s := r.opt.Queue.Safe()
	return flush.Point{Time: s.Time, Segment: s.Segment}
}

// read is the reader. It takes group after group as the memory budget admits
// it, and hands each to the loop whole, so that windows are cut between stamps.
func (r *Runtime) read(ctx context.Context) {
	for tries := 0; ; {
		err := r.readGroup(ctx)
		if err == nil {
			tries = 0
			continue
		}
		if ctx.Err() != nil || errors.Is(err, wal.ErrClosed) {
			break
		}
		r.post(func() { r.storageFault("read", err) })
		if !r.pause(ctx, tries) {
			break
		}
		tries++
	}
	r.post(func() { r.workers-- })
}

func (r *Runtime) readGroup(ctx context.Context) error {
	g, err := r.opt.Queue.Next(ctx)
	if err != nil {
		return err
	}
	charged := share{data: g.Bytes + int64(g.Entries)*hotBytes, refs: int64(g.Entries) * refBytes}
	if err := r.budget.acquire(ctx, charged, false); err != nil {
		return err
	}
	r.transit.enter(flush.Point{Time: g.Stamp, Segment: g.Segment})
	entries, err := r.opt.Queue.Read(ctx)
	if err != nil {
		r.transit.turnBack()
		r.budget.charge(share{data: -charged.data, refs: -charged.refs})
		return err
	}
	r.post(func() {
		r.accept(entries, charged)
		r.transit.arrive()
	})
	return nil
}

// accept takes the entries of a group. Their share of the budget is charged.
func (r *Runtime) accept(entries []wal.Entry, charged share) {
	need := share{refs: int64(len(entries)) * refBytes}
	for i := range entries {
		need.data += int64(len(entries[i].Payload)) + hotBytes
	}
	r.budget.charge(share{data: need.data - charged.data, refs: need.refs - charged.refs})
	r.storageFault("read", nil)
	if len(entries) == 0 {
		return
	}
	r.advance(flush.Point{Time: entries[0].Stamp, Segment: entries[0].Segment})
	r.touched = r.touched[:0]
	for i := range entries {
		r.take(&entries[i])
	}
	for _, p := range r.touched {
		p.touched = false
		r.grown(p)
	}
}

// grown takes notice of a partition that has all records of a stamp.
func (r *Runtime) grown(p *part) {
	if w := p.open; w != nil && w.pinned == nil && w.expected(p.ratio) >= r.size(w) {
		r.seal(p, flush.Size)
	}
	r.report(p)
}

// take hands one entry to its partition.
func (r *Runtime) take(e *wal.Entry) {
	p := r.part(key{e.Tenant, partition.Signal(e.Signal)})
	if !p.touched {
		p.touched = true
		r.touched = append(r.touched, p)
	}
	in := entry{
		ref: ref{
			seq: e.Seq, stamp: e.Stamp, segment: e.Segment,
			size: uint32(len(e.Payload)), items: uint32(e.Items),
		},
		writer: e.Writer, payload: e.Payload,
	}
	if in.payload == nil {
		in.payload = []byte{}
	}
	if p.known {
		r.admit(p, in)
		return
	}
	r.wait(p, in)
}

// wait keeps an entry until the partition's heads are read.
func (r *Runtime) wait(p *part, e entry) {
	if p.cold && e.payload != nil {
		r.budget.release(e.cost())
		e.payload = nil
	}
	if e.payload != nil {
		p.waitHeld += e.cost()
	}
	p.waiting = append(p.waiting, e)
	r.recover(p)
}

// pause waits before try number tries+1; false if ctx ended.
func (r *Runtime) pause(ctx context.Context, tries int) bool {
	t := time.NewTimer(r.opt.Retry.delay(tries))
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// persist repeats a call to the WAL's storage until it succeeds or ctx ends.
func (r *Runtime) persist(ctx context.Context, op string, call func() error) error {
	for tries := 0; ; tries++ {
		err := call()
		if err == nil && tries > 0 {
			r.post(func() { r.storageFault(op, nil) })
		}
		if err == nil || ctx.Err() != nil {
			return err
		}
		r.logger.Debug("Storage call is tried again", zap.String("operation", op), zap.Error(err))
		r.post(func() { r.storageFault(op, err) })
		if !r.pause(ctx, tries) {
			return err
		}
	}
}
