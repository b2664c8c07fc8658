package window

import (
	"fmt"
	"time"

	"github.com/s3window/s3window/internal/partition"
	"github.com/s3window/s3window/internal/window/sealed"
)

// key names a partition within a Runtime, whose sink is one.
type key struct {
	tenant string
	signal partition.Signal
}

func keyOf(tenant, signal string) key { return key{tenant, partition.Signal(signal)} }

// state is what a partition waits for. enter alone changes it.
type state int

const (
	unread     state = iota // its heads are to be read: its entries wait
	reading                 // a goroutine reads its heads
	live                    // its entries form windows
	restarting              // it waits for goroutines to end, to be unread then
)

func (s state) String() string {
	return [...]string{"unread", "reading", "live", "restarting"}[s]
}

// leads says that to may follow s.
func (s state) leads(to state) bool {
	switch s {
	case unread:
		return to == reading
	case reading:
		return to == live || to == unread
	case live:
		return to == restarting
	default:
		return to == unread
	}
}

// part is what the loop knows of one partition.
type part struct {
	key
	state state
	want  Backlog

	waiting []sealed.Entry  // that wait for its heads, or for the entries before them
	cursor  sealed.Position // of its first entry that is in the queue only; zero: it follows the reader
	scan    *scan           // that brings its entries from the cursor on; nil for none
	pins    []*pin          // sealed by an earlier process and not rebuilt yet, by start
	open    *openWindow
	queue   []*flushing // in the order of commit
	dests   map[origin]*destination

	settling int // so many of queue, from the first, a goroutine commits
	heads    backoff
	flushes  backoff // of seal, encode and upload
	turn     backoff // of committing
	slow     int     // flushes that take longer than patience
	queued   bool    // stands in a line for the pool
	owing    bool    // stands in Runtime.owing
	lagging  bool    // stands in Runtime.behind
	touched  bool    // by the stamp that is being taken
	dropping bool    // it was said that its entries are dropped

	drop     []uint64            // seals to delete when its heads are read
	sweepers []string            // writers that may have left objects of void windows
	taken    map[bounds]struct{} // bounds of objects that are not what a window with them would hold

	ratio    float64                // of encoded to raw bytes, smoothed; 0: it is guessed
	measured int64                  // raw size of the largest part of a window that says so
	sampled  int64                  // the same of a part that is or was encoded just to know it
	faults   map[sealed.Step]string // what does not go through, in the store's words
	since    time.Time              // of the first of them, or of the reading that is under way
	unproven bool                   // a flush went wrong since the last one that went through
	lastUse  time.Time
}

// bounds are what tells the objects of a partition's windows apart.
type bounds struct {
	writer     string
	start, end int64
}

// pin is a seal of an earlier process, and its id in the queue's storage.
type pin struct {
	id uint64
	sealed.Seal
}

// part returns the partition under k, made if it is new.
func (r *Runtime) part(k key) *part {
	p, ok := r.parts[k]
	if !ok {
		p = &part{key: k, want: r.opt.Backlog(k.tenant)}
		r.parts[k] = p
	}
	p.lastUse = time.Now()
	return p
}

// enter moves the partition to another state.
func (r *Runtime) enter(p *part, to state) {
	if !p.state.leads(to) {
		panic(fmt.Sprintf("partition %s/%s goes from %s to %s", p.tenant, p.signal, p.state, to))
	}
	p.state = to
	p.scan = nil // what a scan brings is not for another state
	switch to {
	case reading:
		if !p.failing() {
			p.since = time.Now()
		}
	case live:
		p.flushes, p.turn = backoff{}, backoff{}
	case restarting:
		for _, f := range p.queue {
			f.cancel()
		}
	case unread:
	}
}

// behind says that entries of the partition are in the queue only, from its
// cursor on: neither they nor references to them are in memory.
func (p *part) behind() bool { return p.cursor.Seq != 0 }

// joining says that a scan brings all of them, so that what the reader brings
// follows.
func (p *part) joining() bool { return p.scan != nil && p.scan.last }

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
	return p.state == live && !p.behind() && len(p.waiting) == 0 && p.open == nil && len(p.queue) == 0 && len(p.pins) == 0
}

// busy says that goroutines work on windows of the partition.
func (p *part) busy() bool {
	if p.settling > 0 || p.open != nil && p.open.busy() {
		return true
	}
	for _, f := range p.queue {
		if f.flying() || f.window.Busy() {
			return true
		}
	}
	return false
}

// oldest is the first entry that is owed; false if none is.
func (p *part) oldest() (first sealed.Position, ok bool) {
	switch { // in the order of the queue
	case len(p.queue) > 0:
		return p.queue[0].window.First, true
	case p.open != nil:
		return p.open.first, true
	case p.behind():
		return p.cursor, true
	case len(p.waiting) > 0:
		return p.waiting[0].Position(), true
	}
	return sealed.Position{}, false
}
