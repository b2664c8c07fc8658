package window

import (
	"math"
	"slices"
	"time"

	"github.com/s3window/s3window/internal/flush"
	"github.com/s3window/s3window/internal/partition"
)

// key names a partition within a Runtime, whose sink is one.
type key struct {
	tenant string
	signal partition.Signal
}

// startRatio is the ratio of encoded to raw bytes that a partition is expected
// to have before its first window.
const startRatio = 0.2

// part is what the loop knows of one partition.
type part struct {
	key

	// known says that its heads were read: nothing is put into a window before.
	// Until then its entries wait.
	known      bool
	reading    bool
	waiting    []entry
	waitHeld   int64 // data of the budget that waiting holds
	dests      map[origin]*destination
	pins       []*pin // sealed by an earlier process and not rebuilt yet, by start
	open       *openWindow
	queue      []*sealedWindow // in the order of commit
	settling   bool
	heads      backoff // of reading the heads
	flushes    backoff // of seal, encode and upload
	turn       backoff // of committing
	slow       int     // flushes that take longer than patience
	queued     bool    // stands in a line for the pool
	owing      bool    // stands in Runtime.owing
	touched    bool    // by the group that is being taken
	restarting bool
	drop       []uint64            // seals to delete when it restarts
	sweepers   []string            // writers that may have left objects of void windows
	taken      map[bounds]struct{} // bounds of objects that are not what a window with them would hold

	ratio   float64           // of encoded to raw bytes, smoothed
	faults  map[string]string // what does not go through, by step, in the store's words
	since   time.Time         // of the first of them, or of the reading that is under way
	cold    bool              // new entries are kept as references only
	lastUse time.Time
}

// bounds are what tells the objects of a partition's windows apart.
type bounds struct {
	writer     string
	start, end int64
}

// committed says below which stamp all entries of writer are in committed
// windows.
func (p *part) committed(writer string) int64 {
	var end int64
	for _, d := range p.dests {
		end = max(end, d.ends[writer])
	}
	return end
}

// idle says that nothing of the partition is owed.
func (p *part) idle() bool {
	return p.known && !p.reading && !p.restarting && len(p.waiting) == 0 && p.open == nil && len(p.queue) == 0 && len(p.pins) == 0
}

// busy says that goroutines work on windows of the partition.
func (p *part) busy() bool {
	if p.settling || p.reading || p.open != nil && *p.open.staging > 0 {
		return true
	}
	return slices.ContainsFunc(p.queue, func(w *sealedWindow) bool { return w.progress == uploading || *w.staging > 0 })
}

// oldest is the stamp of the oldest entry that is owed; ok is false if none is.
func (p *part) oldest() (stamp int64, ok bool) {
	switch {
	case len(p.queue) > 0:
		return p.queue[0].first.Time, true
	case p.open != nil:
		return p.open.first.Time, true
	case len(p.waiting) > 0:
		return p.waiting[0].stamp, true
	}
	return 0, false
}

// enough is the raw size of a window that tells the whole ratio: a small
// object is mostly its footer.
const enough = 1 << 20

// learn takes the encoded and raw size of a window into the expectation.
func (p *part) learn(encoded, raw int64) {
	if raw > 0 {
		a := 0.5 * min(1, float64(raw)/enough)
		p.ratio = (1-a)*p.ratio + a*float64(encoded)/float64(raw)
	}
}

// admit puts e into the partition's open window, sealing that first where e
// must not share it. The heads are known.
func (r *Runtime) admit(p *part, e entry) {
	if e.stamp < p.committed(e.writer) {
		r.discard(e)
		return
	}
	if p.cold && e.payload != nil {
		r.budget.release(e.cost())
		e.payload = nil
	}
	if p.open != nil {
		if reason := r.cut(p, e); reason != "" {
			r.sealBefore(p, reason, p.nextOf(e))
		}
	}
	if p.open == nil {
		r.open(p, e)
	}
	u, freed := p.open.add(e)
	r.budget.release(freed)
	if u.full && u.hot() {
		r.stage(p, u)
	}
}

// cut says whether and why the open window ends before e.
func (r *Runtime) cut(p *part, e entry) flush.Reason {
	w := p.open
	switch {
	case w.pinned != nil:
		if !w.pinned.holds(e.writer, e.stamp) {
			return w.pinned.Reason
		}
		return ""
	case e.stamp == w.last && e.writer == w.writer:
		return "" // a window is cut only between stamps
	case e.writer != w.writer, w.target.Align.Period(e.stamp) != w.period(), p.pinFor(e) != nil:
		return flush.Boundary
	case e.segment > w.first.Segment: // entries that waited for the heads come without advance
		return flush.Rotation
	case e.stamp-w.first.Time >= w.target.Limits.MaxAge.Microseconds():
		return flush.Age
	case w.expected(p.ratio) >= r.size(w):
		return flush.Size
	}
	return ""
}

// nextOf is the stamp that the open window must end at or before if e follows.
func (p *part) nextOf(e entry) int64 {
	if e.writer != p.open.writer {
		return math.MaxInt64
	}
	return e.stamp
}

func (p *part) pinFor(e entry) *pin {
	for _, q := range p.pins {
		if q.holds(e.writer, e.stamp) {
			return q
		}
	}
	return nil
}

// open opens the window that e begins.
func (r *Runtime) open(p *part, e entry) {
	w := &openWindow{
		writer: e.writer, first: flush.Point{Time: e.stamp, Segment: e.segment}, last: e.stamp, staging: new(int),
	}
	if w.pinned = p.pinFor(e); w.pinned != nil {
		p.pins = slices.DeleteFunc(p.pins, func(q *pin) bool { return q == w.pinned })
		w.target = Target{Lake: w.pinned.Lake, Align: w.pinned.Align, Spec: w.pinned.Spec}
		w.dest = p.dests[origin{w.pinned.Sink, w.pinned.Lake}]
	} else {
		w.target = r.opt.Target(p.tenant, p.signal)
		if w.target.Limits == (flush.Config{}) {
			w.target.Limits = r.opt.Policy
		}
		// A unit that was dropped must fit the memory to be read back.
		w.target.Spec.RowGroupBytes = min(w.target.Spec.RowGroupBytes, r.budget.limit/8)
		w.target.Spec = r.shared(w.target.Spec)
		w.dest = p.dests[origin{r.opt.Sink, w.target.Lake}]
	}
	w.encoder = r.encoder(w.target.Spec)
	r.budget.windows(1)
	p.open = w
}

// report tells the policy of the open window as it is after an event.
func (r *Runtime) report(p *part) {
	w := p.open
	if w == nil || w.pinned != nil {
		return
	}
	r.policy.Put(flush.Window[key]{
		Key: p.key, First: w.first, Expected: w.expected(p.ratio), Held: w.sum(), Raw: w.raw, Limits: w.target.Limits,
	})
}

// discard forgets an entry that is committed already, and has it trimmed.
func (r *Runtime) discard(e entry) {
	if e.payload != nil {
		r.budget.release(e.cost())
	}
	r.budget.releaseRefs(1)
	r.discards = append(r.discards, e.seq)
}
