package window

import (
	"context"
	"slices"
	"time"

	"github.com/s3window/s3window/internal/flush"
	"github.com/s3window/s3window/internal/wal"
	"github.com/s3window/s3window/internal/window/memory"
	"github.com/s3window/s3window/internal/window/sealed"
)

// scan reads entries again that partitions left in the queue. One is on its way
// at a time, and serves all partitions that can go on.
type scan struct {
	from, end uint64 // it reads [from, end)
	last      bool   // it comes to where the reader is
	parts     map[key]*part
}

// catchUp begins the next scan, from the lowest cursor of the partitions that
// are behind and can go on.
func (r *Runtime) catchUp() {
	if r.scanning != nil || r.draining && !r.opt.Volatile || r.ctx.Err() != nil || r.scans.waits() {
		return
	}
	s := &scan{parts: map[key]*part{}}
	for _, p := range r.laggards() {
		if !r.goesOn(p) {
			continue
		}
		s.parts[p.key] = p
		if s.from == 0 || p.cursor.Seq < s.from {
			s.from = p.cursor.Seq
		}
	}
	if len(s.parts) == 0 {
		return
	}
	reach := r.opt.Queue.Reach(s.from, r.seen+1)
	s.end, s.last = reach.End, reach.End > r.seen
	for _, p := range s.parts {
		p.scan = s
	}
	r.scanning = s
	r.work(func(ctx context.Context) func() {
		next, err := r.scan(ctx, s, reach)
		return func() { r.scanned(s, next, err) }
	})
}

// laggards are the partitions that are behind, in the order in which they fell.
func (r *Runtime) laggards() []*part {
	r.behind = slices.DeleteFunc(r.behind, func(p *part) bool {
		p.lagging = p.behind()
		return !p.lagging
	})
	return r.behind
}

// goesOn says whether a partition that is behind can take entries: it gets on,
// and what it has sealed holds less than a quarter of the memory. One whose last
// flush went wrong tries one window first.
func (r *Runtime) goesOn(p *part) bool {
	if p.state != live || p.failing() || p.stuck() {
		return false
	}
	if len(p.queue) > 0 {
		return !p.unproven && p.held() <= r.budget.Limit()/4
	}
	if !p.unproven || p.open == nil || p.open.pin != nil {
		return true
	}
	r.seal(p, flush.Memory)
	return false
}

// scan reads what s says and hands it to the loop, stamp by stamp, as memory
// admits it. What it has read and not handed over is in the memory that is set
// aside for the queue, unless it is one large group. It returns the point of what
// is next in the queue.
func (r *Runtime) scan(ctx context.Context, s *scan, reach wal.Reach) (flush.Point, error) {
	var large memory.Share
	if reach.Bytes > wal.ScanBytes {
		var err error
		if large, err = r.admitted(ctx, reach.Bytes, reach.Entries, memory.Scan); err != nil {
			return flush.Point{}, err
		}
		defer large.Release()
	}
	got, err := r.opt.Queue.Scan(ctx, s.from, s.end, func(tenant, signal string) bool {
		_, ok := s.parts[keyOf(tenant, signal)]
		return ok
	})
	if err != nil {
		return flush.Point{}, err
	}
	for entries := got.Entries; len(entries) > 0; {
		n := 1
		for n < len(entries) && entries[n].Stamp == entries[0].Stamp {
			n++
		}
		hold := large.Split(large.Data(), large.Refs())
		if reach.Bytes <= wal.ScanBytes {
			if hold, err = r.admitted(ctx, sizeOf(entries[:n]), n, memory.Scan); err != nil {
				return flush.Point{}, err
			}
		}
		group := entries[:n]
		r.post(func() { r.takeAgain(s, group, hold) })
		entries = entries[n:]
	}
	return flush.Point{Time: got.Next.Time, Segment: got.Next.Segment}, nil
}

// admitted waits until n entries of together size bytes fit the memory.
func (r *Runtime) admitted(ctx context.Context, size int64, n int, who memory.Who) (memory.Share, error) {
	return r.budget.Acquire(ctx, size+int64(n)*sealed.EntryBytes, int64(n)*memory.RefBytes, who)
}

func sizeOf(entries []wal.Entry) (sum int64) {
	for i := range entries {
		sum += int64(len(entries[i].Payload))
	}
	return sum
}

// takeAgain hands entries of one stamp that a scan read to their partitions,
// but to those that have changed their mind.
func (r *Runtime) takeAgain(s *scan, entries []wal.Entry, hold memory.Share) {
	resize(&hold, entries)
	for i := range entries {
		e := &entries[i]
		p := s.parts[keyOf(e.Tenant, e.Signal)]
		in := entryOf(e, &hold)
		switch {
		case p.scan != s || e.Seq < p.cursor.Seq:
			in.Hold.Release()
			continue
		case in.Stamp < p.want.DropBefore:
			r.drop(p, &in)
		default:
			r.touch(p)
			r.admit(p, &in)
		}
		p.cursor = sealed.Position{Seq: e.Seq + 1, Point: flush.Point{Time: e.Stamp, Segment: e.Segment}}
	}
	r.taken()
}

// scanned is called when a scan has handed over what it read. next is the point
// of what is next in the queue.
func (r *Runtime) scanned(s *scan, next flush.Point, err error) {
	r.scanning = nil
	if err != nil {
		r.scanFailed(s, err)
		return
	}
	r.scans.tries = 0
	r.storageFault(sealed.ReadQueue, nil)
	for _, p := range s.parts {
		if p.scan == s {
			p.scan = nil
			r.cameTo(p, s, next)
		}
	}
	r.catchUp()
	r.dispatch()
}

// cameTo moves the partition's cursor behind what a scan read. next is the point
// of what is next in the queue.
func (r *Runtime) cameTo(p *part, s *scan, next flush.Point) {
	p.lastUse = time.Now()
	if s.last {
		p.cursor = sealed.Position{}
		r.passDue = min(r.passDue, r.clock.Safe.Time) // its seals are looked at
		r.watch(p)
		r.admitWaiting(p)
		return
	}
	if p.cursor.Seq >= s.end {
		return
	}
	p.cursor = sealed.Position{Seq: s.end, Point: next}
	r.pass(p, next)
	if w := p.open; w != nil && w.pin != nil {
		if reason, due := w.Due(flush.Clock{Safe: next, Now: r.clock.Now}); due {
			r.seal(p, reason)
		}
	}
}

// scanFailed has the partitions read again later.
func (r *Runtime) scanFailed(s *scan, err error) {
	for _, p := range s.parts {
		if p.scan == s {
			p.scan = nil
			p.leaveWaiting()
		}
	}
	if r.ctx.Err() != nil {
		return
	}
	r.storageRetried(sealed.ReadQueue, err)
	r.retry(&r.scans, r.catchUp)
}

// touch notes that the partition gets records of the stamp that is being taken.
func (r *Runtime) touch(p *part) {
	if !p.touched {
		p.touched = true
		r.touched = append(r.touched, p)
	}
}
