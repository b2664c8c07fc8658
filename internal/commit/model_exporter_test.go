package commit

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/lake/laketest"
	"github.com/s3window/s3window/internal/partition"
)

// simWindow is a sealed window on its way.
type simWindow struct {
	seal      walSeal
	after     int64
	rows      []walEntry
	objects   []lake.Object
	uploading bool
	uploaded  bool
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
		x.logf("seals %s [%d,%d)", s.writer, s.start, s.end)
		w.mu.Lock()
		x.add(s, open[:n])
		w.mu.Unlock()
	}
}

func (x *life) parts() int { return 1 + x.encoder%2 }

// add queues a sealed window. It needs world.mu held.
func (x *life) add(s walSeal, rows []walEntry) {
	x.queue = append(x.queue, &simWindow{seal: s, after: x.chain[s.writer], rows: slices.Clone(rows)})
	x.chain[s.writer] = s.end
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
	if w.broken == "parts are not pinned" {
		parts = 2 + x.encoder%2
	}
	parts = min(parts, len(v.rows))
	var objects []lake.Object
	for i := 0; i < parts; {
		rows := v.rows[len(v.rows)*i/parts : len(v.rows)*(i+1)/parts]
		name := partition.ObjectName{Start: v.seal.start, End: v.seal.end, Writer: v.seal.writer, Ext: "jsonl"}
		if parts > 1 {
			name.Part = i + 1
		}
		key := laketest.ObjectKey(testRef.Prefix, testID, name)
		var content []byte
		for _, e := range rows {
			content = fmt.Appendf(content, "%d %d enc%d\n", e.record, e.stamp, x.encoder)
		}
		meta := lake.ObjectMeta{Records: int64(len(rows)), Encoder: fmt.Sprintf("model/%d", x.encoder)}
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
	x.logf("commit of %d windows: %d, %v", len(vs), n, err)
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
