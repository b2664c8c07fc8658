package commit

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/s3window/s3window/extension/leaseextension"
	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/partition"
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

// simWindow is a sealed window on its way.
type simWindow struct {
	seal      walSeal
	after     int64
	rows      []walEntry
	objects   []lake.Object
	uploading bool
	uploaded  bool
}

// life is one life of a replica: the reference of what the window side does.
type life struct {
	*proc
	name   string
	writer string
	ctx    context.Context
	kill   context.CancelFunc
	leases *leaseextension.Participant
	lake   *lake.Lake
	log    *Log
	work   sync.WaitGroup

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
	if p.life != nil || p.gone {
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
	x.writer = fmt.Sprintf("w%c%caaaaaaaaaa", 'a'+p.n, 'a'+p.lives%26)
	if w.broken == "same writer after a restart" {
		x.writer = fmt.Sprintf("w%caaaaaaaaaaa", 'a'+p.n)
	}
	earlier := slices.Clone(p.wal.writers)
	p.wal.writers = append(p.wal.writers, x.writer)
	x.ctx, x.kill = context.WithCancel(context.Background())
	w.mu.Unlock()

	holder := func(writer string) string { return "gw/" + writer }
	x.leases = leaseextension.NewLeases(netKV{x}, leaseextension.Options{Holder: holder(x.writer), TTL: modelTTL})
	x.lake = lake.New(netBucket{x}, testRef, lake.WithReaders(4))
	x.log = New(x.lake, x.leases, testID, Options{
		Holder: holder(x.writer),
		Predecessors: func(h string) bool {
			return slices.ContainsFunc(earlier, func(e string) bool { return holder(e) == h })
		},
		Timeout: 13 * time.Second, Margin: 5 * time.Second, Retention: w.retention(), Step: x.step,
	})
	w.logf("%s starts as %s", x.name, x.writer)
	x.work.Go(x.accept)
	x.work.Go(x.flush)
}

func (w *world) retention() time.Duration {
	if w.prune {
		return 150 * time.Second
	}
	return 0
}

func (x *life) step(label string) {
	x.world.mu.Lock()
	defer x.world.mu.Unlock()
	switch label {
	case "commit:rebuild":
		x.world.stats.Rebuilt++
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

// align waits for the next point of the life's grid.
func (x *life) align(ctx context.Context) error {
	offset := time.Duration(x.n*137+x.lives*29)*time.Millisecond%time.Second + time.Duration(x.n*101+x.lives*7)
	d := (x.world.now() - offset) % kvGrid
	timer := time.NewTimer(kvGrid - d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// rng gives the source for the next call of this kind on this key.
func (x *life) rng(kind, key string) *rand.Rand {
	x.world.mu.Lock()
	n := x.calls[kind+key]
	x.calls[kind+key]++
	x.world.mu.Unlock()
	return x.world.rng(x.name, kind, key, n)
}

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

// accept takes records in: they are owed from then on.
func (x *life) accept() {
	w := x.world
	for x.sleep("accept", 500*time.Millisecond, 16*time.Second) && w.now() < modelFault-50*time.Second {
		n := 1
		if w.group {
			n += x.rng("group", "").IntN(3)
		}
		x.disk("accept", func(d *wal) {
			d.last = max(time.Now().Add(w.skew).UnixMicro(), d.last+1)
			for range n {
				w.records++
				w.acked[w.records] = true
				d.entries = append(d.entries, walEntry{x.writer, d.last, w.records})
			}
		})
	}
}

// flush moves what is owed into committed windows.
func (x *life) flush() {
	if !x.replay() {
		return
	}
	for x.sleep("flush", 500*time.Millisecond, 3*time.Second) {
		if x.mayReplay() && !x.replay() {
			return
		}
		x.seal()
		x.upload()
		x.commit()
		x.sweep()
	}
}

// mayReplay says that the windows are void and none is being worked on.
func (x *life) mayReplay() bool {
	x.world.mu.Lock()
	defer x.world.mu.Unlock()
	if !x.resync || x.committing || x.sweeping {
		return false
	}
	return !slices.ContainsFunc(x.queue, func(v *simWindow) bool { return v.uploading })
}

// seal closes a window at the end of a group of records: durable before
// anything of it reaches the bucket.
//
// Crash before this: open entries. Crash after it: a seal, rebuilt as it says.
func (x *life) seal() {
	w := x.world
	r := x.rng("seal", "")
	now := r.Float64() < 0.1 || !w.hostile()
	w.mu.Lock()
	open := x.wal.open()
	w.mu.Unlock()
	if !x.ready || x.resync || !now || len(open) == 0 {
		return
	}
	n := 0
	for n < len(open) && open[n].writer == open[0].writer {
		n++
	}
	n = 1 + r.IntN(n)
	for n < len(open) && open[n].writer == open[0].writer && open[n].stamp == open[n-1].stamp && w.broken != "cut inside a stamp" {
		n++
	}
	s := walSeal{open[0].writer, open[0].stamp, open[n-1].stamp + 1, x.parts()}
	if x.disk("seal", func(d *wal) { d.seals = append(d.seals, s) }) {
		w.logf("%s seals %s [%d,%d)", x.name, s.writer, s.start, s.end)
		w.mu.Lock()
		x.add(s, open[:n])
		w.mu.Unlock()
	}
}

func (x *life) parts() int { return 1 + x.enc%2 }

// add queues a sealed window. It needs world.mu held.
func (x *life) add(s walSeal, rows []walEntry) {
	x.queue = append(x.queue, &simWindow{seal: s, after: x.chain[s.writer], rows: slices.Clone(rows)})
	x.chain[s.writer] = s.end
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

// upload starts the uploads of the first windows of the queue.
func (x *life) upload() {
	w := x.world
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, v := range x.queue {
		if i < 3 && !v.uploading && !v.uploaded && !x.resync {
			v.uploading = true
			x.work.Go(func() { x.uploadWindow(v) })
		}
	}
}

func (x *life) uploadWindow(v *simWindow) {
	w := x.world
	parts := v.seal.parts
	if w.broken == "data without If-None-Match" {
		parts = x.parts()
	}
	parts = min(parts, len(v.rows))
	var objects []lake.Object
	for i := 0; i < parts; {
		rows := v.rows[len(v.rows)*i/parts : len(v.rows)*(i+1)/parts]
		name := partition.ObjectName{Start: v.seal.start, End: v.seal.end, Writer: v.seal.writer, Ext: "jsonl"}
		if parts > 1 {
			name.Part = i + 1
		}
		key := partition.ObjectKey(testRef.Prefix, testID, partition.AlignHour, name)
		var content []byte
		for _, e := range rows {
			content = fmt.Appendf(content, "%d %d enc%d\n", e.record, e.stamp, x.enc)
		}
		meta := lake.ObjectMeta{Records: int64(len(rows)), Encoder: fmt.Sprintf("model/%d", x.enc)}
		o, err := x.lake.PutObject(x.ctx, key, lake.NewBody("text/plain", content), meta)
		if err != nil {
			if !x.sleep("retry"+key, time.Second, 5*time.Second) {
				return
			}
			continue
		}
		objects = append(objects, o)
		i++
	}
	if w.broken == "trim before commit" {
		x.trim(v)
	}
	w.mu.Lock()
	v.objects, v.uploading, v.uploaded = objects, false, true
	w.mu.Unlock()
}

// commit starts the commit of the uploaded windows at the front of the queue.
func (x *life) commit() {
	w := x.world
	w.mu.Lock()
	defer w.mu.Unlock()
	if x.committing || x.resync || !x.ready {
		return
	}
	queue := x.queue
	if w.broken == "windows out of order" {
		queue = slices.Clone(queue)
		slices.SortStableFunc(queue, func(a, b *simWindow) int { return -compareBool(a.uploaded, b.uploaded) })
	}
	var vs []*simWindow
	for _, v := range queue {
		if !v.uploaded || len(vs) == 3 {
			break
		}
		vs = append(vs, v)
	}
	if len(vs) > 0 {
		x.committing = true
		x.work.Go(func() { x.commitWindows(vs) })
	}
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

func (x *life) commitWindows(vs []*simWindow) {
	w := x.world
	n, err := x.log.Commit(x.ctx, x.windows(vs))
	w.logf("%s commit of %d windows: %d, %v", x.name, len(vs), n, err)
	for _, v := range vs[:n] {
		if !x.trim(v) {
			return
		}
		w.mu.Lock()
		x.queue = slices.DeleteFunc(x.queue, func(q *simWindow) bool { return q == v })
		w.mu.Unlock()
	}
	var overlap *Overlap
	var blocked *Blocked
	if errors.As(err, &blocked) {
		w.complain("BLOCKED: %s", blocked.Why)
	}
	if errors.As(err, &overlap) {
		w.mu.Lock()
		w.stats.Overlaps++
		x.resync = true
		w.mu.Unlock()
	}
	if err != nil && !x.sleep("commit-retry", 2*time.Second, 6*time.Second) {
		return
	}
	w.mu.Lock()
	x.committing = false
	w.mu.Unlock()
}

func (x *life) windows(vs []*simWindow) []Window {
	var ws []Window
	for _, v := range vs {
		o := Window{
			ID: testID, Writer: v.seal.writer, After: v.after, Start: v.seal.start, End: v.seal.end, Reason: "age",
			Format: "jsonl", Compression: "none", Schema: 1, Objects: v.objects, Records: int64(len(v.rows)),
		}
		for _, b := range v.objects {
			o.Bytes += b.Bytes
		}
		if x.world.broken == "windows out of order" {
			if ends, err := x.log.Read(x.ctx); err == nil { // forges what the rule checks
				if end, _ := ends.End(o.Writer); end <= o.Start {
					o.After = end
				}
			}
			ws = append(ws, o)
			break
		}
		ws = append(ws, o)
	}
	return ws
}

// trim takes a committed window's entries out of the WAL, in pieces, and then
// its seal.
//
// Crash before this or in its middle: the rest is dropped at replay.
// Crash after it: nothing is left of the window but the bucket's copy.
func (x *life) trim(v *simWindow) bool {
	for len(v.rows) > 0 {
		n := min(2, len(v.rows))
		if !x.drop(v.rows[:n]) {
			return false
		}
		v.rows = v.rows[n:]
	}
	return x.disk("trim", func(d *wal) {
		d.seals = slices.DeleteFunc(d.seals, func(s walSeal) bool { return s == v.seal })
	})
}

func (x *life) drop(rows []walEntry) bool {
	return x.disk("trim", func(d *wal) {
		d.entries = slices.DeleteFunc(d.entries, func(e walEntry) bool {
			hit := slices.Contains(rows, e)
			if hit {
				x.world.trimmed[e.record] = true
			}
			return hit
		})
	})
}
