package window

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"

	"go.uber.org/zap"

	"github.com/s3window/s3window/internal/flush"
	"github.com/s3window/s3window/internal/wal"
	"github.com/s3window/s3window/internal/window/memory"
	"github.com/s3window/s3window/internal/window/sealed"
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

// safe is the point of the queue before which the loop has seen every record.
func (r *Runtime) safe() flush.Point {
	r.transit.mu.Lock()
	defer r.transit.mu.Unlock()
	if len(r.transit.at) > 0 {
		return r.transit.at[0]
	}
	s := r.opt.Queue.Safe()
	return flush.Point{Time: s.Time, Segment: s.Segment}
}

// unread says that the queue has entries that the loop has not seen.
func (r *Runtime) unread() bool {
	r.transit.mu.Lock()
	defer r.transit.mu.Unlock()
	return len(r.transit.at) > 0 || r.opt.Queue.Reach(r.seen+1, math.MaxUint64).Entries > 0
}

// readAll is the reader. It takes group after group as the memory budget admits
// it, and hands each to the loop whole, so that windows are cut between stamps.
func (r *Runtime) readAll(ctx context.Context) {
	for tries := 0; ; {
		err := r.readGroup(ctx)
		if err == nil {
			tries = 0
			continue
		}
		if ctx.Err() != nil || errors.Is(err, wal.ErrClosed) {
			break
		}
		r.post(func() { r.storageRetried(sealed.ReadQueue, err) })
		if !sealed.Pause(ctx, r.opt.Retry.delay(tries)) {
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
	hold, err := r.admitted(ctx, g.Bytes, g.Entries, memory.Reader)
	if err != nil {
		return err
	}
	r.transit.enter(flush.Point{Time: g.Stamp, Segment: g.Segment})
	entries, err := r.opt.Queue.Read(ctx)
	if err != nil {
		r.transit.turnBack()
		hold.Release()
		return err
	}
	r.post(func() {
		r.accept(g, entries, hold)
		r.transit.arrive()
	})
	return nil
}

// accept takes the entries of a group, which are held in hold.
func (r *Runtime) accept(g wal.Group, entries []wal.Entry, hold memory.Share) {
	r.storageFault(sealed.ReadQueue, nil)
	r.seen = max(r.seen, g.Last)
	resize(&hold, entries)
	if len(entries) == 0 {
		return
	}
	r.clock = r.at(flush.Point{Time: g.Stamp, Segment: g.Segment})
	r.advance()
	for i := range entries {
		r.take(&entries[i], &hold)
	}
	r.keepShare()
	r.taken()
}

// resize holds what the entries cost, which was an upper bound before.
func resize(hold *memory.Share, entries []wal.Entry) {
	n := int64(len(entries))
	hold.Resize(sizeOf(entries)+n*sealed.EntryBytes, n*memory.RefBytes)
}

// taken is called when all records of a stamp were taken.
func (r *Runtime) taken() {
	for _, p := range r.touched {
		p.touched = false
		r.grown(p)
	}
	r.touched = r.touched[:0]
}

// take hands one entry to its partition.
func (r *Runtime) take(e *wal.Entry, hold *memory.Share) {
	p := r.part(keyOf(e.Tenant, e.Signal))
	in := entryOf(e, hold)
	switch {
	case in.Stamp < p.want.DropBefore:
		r.drop(p, &in)
	case p.behind() && !p.joining():
		in.Hold.Release() // a scan brings it
	case p.want.Parked:
		r.fallBehind(p, in.Position())
		in.Hold.Release()
		r.logger.Warn("Queued records of a tenant are left in the queue, as the configuration says",
			zap.String("tenant", p.tenant), zap.String("signal", string(p.signal)))
	case p.state == live && !p.behind():
		r.touch(p)
		r.admit(p, &in)
	default:
		r.touch(p)
		p.waiting = append(p.waiting, in)
		r.recover(p)
	}
}

// entryOf returns the entry with the part of hold that it is held in.
func entryOf(e *wal.Entry, hold *memory.Share) sealed.Entry {
	in := sealed.Entry{
		Ref: sealed.Ref{
			Seq: e.Seq, Stamp: e.Stamp, Segment: e.Segment, Size: uint32(len(e.Payload)), Items: uint32(e.Items),
		},
		Writer: e.Writer, Payload: e.Payload,
	}
	if in.Payload == nil {
		in.Payload = []byte{}
	}
	in.Hold = hold.Split(in.Cost(), memory.RefBytes)
	return in
}
