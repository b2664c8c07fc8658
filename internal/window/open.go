package window

import (
	"maps"
	"math"
	"slices"
	"time"

	"github.com/s3window/s3window/internal/encode"
	"github.com/s3window/s3window/internal/flush"
	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/window/memory"
	"github.com/s3window/s3window/internal/window/sealed"
)

// openWindow takes records until it is sealed. What the rules look at is up to
// date whenever the loop asks them.
type openWindow struct {
	flush.Window
	to      *destination
	target  Target
	encoder *encode.Encoder
	pin     *pin // it rebuilds a window that an earlier process sealed; nil for none

	first   sealed.Position
	units   []*sealed.Unit
	entries int
	refs    memory.Share // that references are held in

	data                     int64 // that the units hold, bytes
	encodedRaw, encodedBytes int64 // encodedRaw of Raw are encoded, to encodedBytes
}

// destination is the commit log that windows of a partition go to.
type destination struct {
	origin
	sealed.Destination
	ends   map[string]int64 // per writer up to where the log has its records
	sealed map[string]int64 // per writer up to where windows are sealed for the log
}

func newDestination(o origin, l *lake.Lake, log Log) *destination {
	return &destination{
		origin: o, Destination: sealed.Destination{Lake: l, Log: log}, ends: map[string]int64{}, sealed: map[string]int64{},
	}
}

// after is the end of the writer's last window, committed or sealed.
func (d *destination) after(writer string) int64 {
	return max(d.ends[writer], d.sealed[writer])
}

// admit puts e into the partition's open window, sealing that first where a
// rule says so. The partition is live, and e is its next entry.
func (r *Runtime) admit(p *part, e *sealed.Entry) {
	if e.Stamp < p.committed(e.Writer) {
		r.discard(e)
		return
	}
	if w := p.open; w != nil {
		next := flush.Next{Writer: e.Writer, Point: e.Position().Point, Sealed: w.pin == nil && p.pinFor(e) != nil}
		if reason, ends := w.Before(next, r.clock); ends {
			r.sealBefore(p, reason, p.mayEnd(e))
		}
	}
	if p.open == nil {
		r.open(p, e)
	}
	u := p.open.add(e)
	p.open.expect(p.ratio)
	r.sample(p)
	if u.Full() && u.Hot() {
		r.stage(p, u)
	}
}

// mayEnd is the stamp that the open window must end at or before if e follows.
func (p *part) mayEnd(e *sealed.Entry) int64 {
	if e.Writer != p.open.Writer {
		return math.MaxInt64
	}
	return e.Stamp
}

func (p *part) pinFor(e *sealed.Entry) *pin {
	for _, q := range p.pins {
		if q.Holds(e.Writer, e.Stamp) {
			return q
		}
	}
	return nil
}

// open opens the window that e begins.
func (r *Runtime) open(p *part, e *sealed.Entry) {
	w := &openWindow{first: e.Position()}
	w.Window = flush.Window{Writer: e.Writer, First: w.first.Point, Last: e.Stamp}
	if q := p.pinFor(e); q != nil {
		p.pins = slices.DeleteFunc(p.pins, func(other *pin) bool { return other == q })
		w.pin = q
		w.Rebuilt = &flush.Bounds{Start: q.Start, End: q.End, Reason: q.Reason}
		w.target = Target{Lake: q.Lake, Align: q.Align, Spec: q.Spec}
		w.to = p.dests[origin{q.Sink, q.Lake}]
	} else {
		w.target = r.target(p)
		w.to = p.dests[origin{r.opt.Sink, w.target.Lake}]
	}
	w.Limits, w.Until = w.target.Limits, w.target.Align.Until(e.Stamp)
	w.encoder = r.encoder(w.target.Spec)
	r.budget.Windows(1)
	p.open = w
	r.watch(p)
}

// watch has the clock's rules asked for the open window, unless the partition
// is behind: then its records come from another time than the reader's.
func (r *Runtime) watch(p *part) {
	if p.open != nil && !p.behind() {
		r.policy.Add(p.key, &p.open.Window)
		r.holdOpen(p)
	}
}

// add appends an entry and returns the unit that it went to.
func (w *openWindow) add(e *sealed.Entry) *sealed.Unit {
	if n := len(w.units); n == 0 || w.units[n-1].Full() {
		w.units = append(w.units, &sealed.Unit{})
	}
	u := w.units[len(w.units)-1]
	before := u.Held()
	w.Last = e.Stamp
	w.Raw += int64(e.Size)
	w.entries++
	u.Add(e, &w.target.Spec, &w.refs)
	w.data += u.Held() - before
	return u
}

// measure adds up what the units hold and are, after one of them changed.
func (w *openWindow) measure(ratio float64) {
	w.data, w.encodedRaw, w.encodedBytes = 0, 0, 0
	for _, u := range w.units {
		w.data += u.Held()
		if size, ok := u.Encoded(); ok {
			w.encodedBytes += size
			w.encodedRaw += u.Raw()
		}
	}
	w.expect(ratio)
}

// expect brings up to date what the rules ask of the window's size. A record
// that is not encoded counts as ratio of its size; 0 is what is guessed.
func (w *openWindow) expect(ratio float64) {
	if ratio == 0 {
		ratio = guess(&w.target.Spec)
	}
	w.Held = w.data + w.refs.Refs() + memory.WindowBytes
	w.Expected = w.encodedBytes + int64(float64(w.Raw-w.encodedRaw)*ratio)
}

// busy says that a goroutine encodes one of the window's units.
func (w *openWindow) busy() bool {
	return slices.ContainsFunc(w.units, (*sealed.Unit).Busy)
}

// cool drops what the window holds beyond its references.
func (w *openWindow) cool(ratio float64) (freed int64) {
	for _, u := range w.units {
		freed += u.Cool()
	}
	w.measure(ratio)
	return freed
}

// stage has a full unit of the open window encoded, so that a record that is
// held costs its encoded size from then on.
func (r *Runtime) stage(p *part, u *sealed.Unit) {
	w := p.open
	if w.encoder == nil {
		return
	}
	cost := u.Held()
	r.staging += cost
	r.work(r.flusher.Staging(w.encoder, u, func(err error) {
		r.staging -= cost
		if size, ok := u.Encoded(); err == nil && ok {
			p.learn(size, u.Raw())
			sealed.CoolBulky([]*sealed.Unit{u})
		}
		w.measure(p.ratio)
		r.staged(p)
	}))
}

// staged goes on with a partition after one of its units was encoded.
func (r *Runtime) staged(p *part) {
	if p.state == restarting {
		r.restart(p)
		return
	}
	r.line(p)
}

// grown seals the partition's open window if it is full. All records of a stamp
// are in it.
func (r *Runtime) grown(p *part) {
	if p.open != nil && p.open.Full() {
		r.seal(p, flush.Size)
	}
}

// seal ends the partition's open window behind its last record.
func (r *Runtime) seal(p *part, reason flush.Reason) {
	next := p.open.Last + 1
	if len(p.taken) > 0 && !p.behind() {
		next = max(next, r.clock.Safe.Time)
	}
	r.sealBefore(p, reason, next)
}

// sealBefore ends the partition's open window at or before next, the stamp that
// its next record has at least. If the bucket has an object under these bounds
// that holds something else, the window ends a little later; it stays open if
// it cannot.
func (r *Runtime) sealBefore(p *part, reason flush.Reason, next int64) {
	w := p.open
	end := w.Last + 1
	if w.pin != nil {
		end = w.pin.End
	} else {
		for p.isTaken(w, end) && end < next {
			end++
		}
		if p.isTaken(w, end) {
			return
		}
	}
	p.open = nil
	r.clock.Room--
	r.policy.Remove(p.key)
	p.queue = append(p.queue, w.seal(p, reason, end))
	w.to.sealed[w.Writer] = end
	r.stands(p)
	r.line(p)
}

func (p *part) isTaken(w *openWindow, end int64) bool {
	_, ok := p.taken[bounds{w.Writer, w.First.Time, end}]
	return ok
}

// seal returns the window with its bounds decided.
func (w *openWindow) seal(p *part, reason flush.Reason, end int64) *flushing {
	s := &sealed.Window{
		Seal: sealed.Seal{
			Version: sealed.SealVersion, Sink: w.to.sink, Tenant: p.tenant, Signal: p.signal,
			Writer: w.Writer, After: w.to.after(w.Writer), Start: w.First.Time, End: end, Reason: reason,
			Lake: w.target.Lake, Align: w.target.Align, Spec: w.target.Spec,
		},
		To: w.to.Destination, Units: w.units, Raw: w.Raw, First: w.first, Entries: w.entries, Refs: w.refs,
		Encoder: w.encoder, SealedAt: time.Now(),
	}
	f := &flushing{window: s, to: w.to}
	if w.pin != nil {
		s.Seal = w.pin.Seal
		f.durable = sealed.Rebuilt(s, w.pin.id)
	}
	return f
}

// discard forgets an entry that is committed already, and has it trimmed.
func (r *Runtime) discard(e *sealed.Entry) {
	e.Hold.Release()
	r.discards = append(r.discards, e.Seq)
}

// writersOf are the writers that a log is asked about: those of earlier
// processes from number first on, and this one's. A head forgets a writer if
// others come and go.
func (r *Runtime) writersOf(p *part, first int) []string {
	ids := map[string]struct{}{r.opt.Queue.Writer(): {}}
	for _, w := range r.writers[min(first, len(r.writers)):] {
		ids[w.id] = struct{}{}
	}
	for _, q := range p.pins {
		ids[q.Writer] = struct{}{}
	}
	return slices.Sorted(maps.Keys(ids))
}
