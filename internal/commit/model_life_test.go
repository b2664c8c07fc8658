package commit

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/s3window/s3window/extension/leaseextension/lease"
	"github.com/s3window/s3window/internal/lake"
)

// walEntry is one record in a WAL; those of one group share a stamp.
type walEntry struct {
	writer string
	stamp  int64
	record int
}

// walSeal is a sealed window: all that decides its keys and its rows.
type walSeal struct {
	writer     string
	start, end int64
	parts      int // pinned
}

// wal is what a replica's disk holds.
type wal struct {
	entries []walEntry
	seals   []walSeal
	last    int64
	writers []string // of every life
}

func (d *wal) clone() *wal {
	return &wal{slices.Clone(d.entries), slices.Clone(d.seals), d.last, slices.Clone(d.writers)}
}

// proc is one replica: its WAL, and its lives one after another.
type proc struct {
	world *world
	n     int
	wal   *wal
	lives int
	life  *life // nil while down
	gone  bool  // never comes back
	enc   int   // version of the encoder
}

// life is one life of a replica: the reference of what the window side does.
type life struct {
	*proc
	name   string
	writer string
	ctx    context.Context
	kill   context.CancelFunc
	leases *lease.Participant
	lake   *lake.Lake
	log    *Log
	work   sync.WaitGroup

	number  int  // of this life
	encoder int  // version of the encoder
	turns   bool // on a lease store beside the bucket

	// world.mu guards everything declared below.
	dead       bool
	pausedTill time.Duration
	calls      map[string]int
	ready      bool
	reading    bool
	resync     bool
	committing bool
	sweeping   bool
	swept      bool
	chain      map[string]int64
	queue      []*simWindow
}

func (p *proc) start() {
	w := p.world
	w.mu.Lock()
	if p.life != nil || p.gone || w.stopped {
		w.mu.Unlock()
		return
	}
	p.lives++
	x := &life{proc: p, name: fmt.Sprintf("P%d.%d", p.n, p.lives), calls: map[string]int{}, chain: map[string]int64{}}
	p.life = x
	r := w.rng("start", x.name)
	if w.encoder && r.Float64() < 0.5 {
		p.enc++
	}
	x.number, x.encoder = p.lives, p.enc
	x.turns = w.kind == takesTurns || w.kind == mixed && p.n%2 == 0
	survey := r.Float64() < 0.5
	x.writer = fmt.Sprintf("w%c%caaaaaaaaaa", 'a'+p.n, 'a'+p.lives%26)
	if w.broken == "same writer after a restart" {
		x.writer = fmt.Sprintf("w%caaaaaaaaaaa", 'a'+p.n)
	}
	earlier := slices.Clone(p.wal.writers)
	p.wal.writers = append(p.wal.writers, x.writer)
	x.ctx, x.kill = context.WithCancel(context.Background())
	w.mu.Unlock()

	holder := func(writer string) string { return "gw/" + writer }
	x.leases = lease.NewParticipant(netKV{x}, lease.Options{Holder: holder(x.writer), TTL: modelTTL, Jitter: x.jitter})
	x.lake = lake.New(netBucket{x}, testRef)
	o := Options{
		Turns: x.turns, Holder: holder(x.writer),
		Predecessors: func(h string) bool {
			return slices.ContainsFunc(earlier, func(e string) bool { return holder(e) == h })
		},
		Timeout: modelTimeout, Retention: w.retention(), Step: x.step, scale: scale{span: 4, save: 8, writers: 6},
	}
	if survey {
		o.Survey = NewSurvey(x.lake, testID.Sink)
	}
	x.log = New(x.lake, x.leases, testID, o)
	w.logf("%s starts as %s, turns %v", x.name, x.writer, x.turns)
	x.work.Go(x.accept)
	x.work.Go(x.flush)
}

func (w *world) retention() time.Duration {
	if w.prune {
		return 150 * time.Second
	}
	return 0
}

// step also lets a renewal that waits go first, so that the scheduler does not
// decide whether it meets a lease that is being given up.
func (x *life) step(label string) {
	if label == "commit:release" {
		time.Sleep(time.Microsecond)
	}
	x.world.mu.Lock()
	defer x.world.mu.Unlock()
	switch label {
	case "commit:list":
		x.world.stats.Lists++
	case "commit:read-manifests":
		x.world.stats.Leaps++
	case "commit:acquire":
		x.world.stats.Turns++
	case "commit:scan":
		x.world.stats.Scans++
	}
}

// crash ends the life at once. What it has sent is still on its way.
func (x *life) crash() {
	w := x.world
	w.mu.Lock()
	if x.dead {
		w.mu.Unlock()
		return
	}
	x.dead = true
	x.proc.life = nil
	w.mu.Unlock()
	w.logf("%s dies", x.name)
	x.kill()
	w.running.Go(func() { x.leases.Close(); x.work.Wait() })
}

func (x *life) isDead() bool {
	x.world.mu.Lock()
	defer x.world.mu.Unlock()
	return x.dead
}

// logf notes what the life does. What one does while it dies is nobody's business,
// and has no order.
func (x *life) logf(format string, args ...any) {
	if !x.isDead() {
		x.world.logf(x.name+" "+format, args...)
	}
}

// gate holds the life up while it is paused, as SIGSTOP does. Those who are
// held wake up one after another, in an order that the label decides.
func (x *life) gate(label string) {
	for {
		x.world.mu.Lock()
		d := x.pausedTill - x.world.now()
		dead := x.dead
		x.world.mu.Unlock()
		if d <= 0 || dead {
			return
		}
		time.Sleep(d + between(x.world.rng(label), 0, time.Millisecond))
	}
}

// rng gives the source for what the life does now: calls of one kind on one key
// at one moment meet the same, so that their order decides nothing.
func (x *life) rng(kind, key string) *rand.Rand {
	return x.world.rng(x.name, kind, key, x.world.now())
}

// jitter is the lease's random source.
func (x *life) jitter(n time.Duration) time.Duration { return between(x.rng("jitter", ""), 0, n) }

// sleep pauses a loop of the life; false means that it is dead.
func (x *life) sleep(loop string, a, b time.Duration) bool {
	timer := time.NewTimer(between(x.rng("sleep", loop), a, b))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-x.ctx.Done():
	}
	x.gate(loop)
	return !x.isDead()
}

// disk is one atomic, durable operation on the WAL's storage. It returns false
// without doing anything once the life is dead.
func (x *life) disk(who string, f func(d *wal)) bool {
	x.gate(who)
	w := x.world
	w.mu.Lock()
	ok := !x.dead
	if ok {
		f(x.wal)
	}
	w.mu.Unlock()
	return ok && x.sleep("disk "+who, time.Millisecond, 30*time.Millisecond)
}

// open gives the entries that no seal covers, those of one writer together.
func (d *wal) open() []walEntry {
	var open []walEntry
	for _, e := range d.entries {
		if !slices.ContainsFunc(d.seals, func(s walSeal) bool { return s.holds(e) }) {
			open = append(open, e)
		}
	}
	return open
}

func (s walSeal) holds(e walEntry) bool {
	return e.writer == s.writer && s.start <= e.stamp && e.stamp < s.end
}
