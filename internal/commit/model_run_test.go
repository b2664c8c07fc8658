package commit

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/s3window/s3window/extension/leaseextension"
	"github.com/s3window/s3window/internal/lake/laketest"
	"github.com/s3window/s3window/internal/partition"
)

// runModel runs one seed and gives what is wrong in the end, by the bucket.
func runModel(t *testing.T, seed uint64, sc scenario, tracing bool) (w *world) {
	synctest.Test(t, func(*testing.T) {
		w = &world{
			scenario: sc, seed: seed, born: time.Now(), bucket: laketest.NewMemory(), tracing: tracing,
			registry: map[string]leaseextension.Record{}, acked: map[int]bool{}, mayLose: map[int]bool{}, trimmed: map[int]bool{},
		}
		w.run()
		w.judge()
	})
	return w
}

func (w *world) run() {
	r := w.rng("run")
	for i := range 1 + r.IntN(3) {
		p := &proc{world: w, n: i, wal: &wal{}}
		w.procs = append(w.procs, p)
		w.at(between(r, 0, 5*time.Second), p.start)
	}
	w.running.Go(w.chaos)
	w.operators()
	time.Sleep(modelFault)
	w.mu.Lock()
	procs := slices.Clone(w.procs)
	for _, p := range procs {
		if p.life != nil {
			p.life.pausedTill = 0
		}
	}
	w.mu.Unlock()
	for _, p := range procs {
		p.start()
	}
	for w.now() < modelEnd && !w.idle() {
		time.Sleep(5 * time.Second)
	}
	for _, p := range procs {
		w.mu.Lock()
		x := p.life
		w.mu.Unlock()
		if x != nil {
			x.crash()
		}
	}
	w.running.Wait()
}

// at runs f at a time of the run.
func (w *world) at(t time.Duration, f func()) {
	w.running.Go(func() {
		time.Sleep(t - w.now())
		f()
	})
}

// chaos stops and kills replicas until the world calms down.
func (w *world) chaos() {
	for i := 1; w.now() < modelFault-11*time.Second; i++ {
		time.Sleep(10*time.Second + time.Duration(i)*time.Nanosecond)
		r := w.rng("chaos", i)
		w.mu.Lock()
		p := w.procs[r.IntN(len(w.procs))]
		x := p.life
		crash, pause, never := r.Float64() < 0.15, r.Float64() < 0.12, r.Float64() < 0.25
		down := between(r, 3*time.Second, 23*time.Second)
		if r.Float64() < 0.3 {
			down += 200 * time.Second
		}
		stop := between(r, 5*time.Second, 85*time.Second)
		alone := len(w.procs) == 1
		w.mu.Unlock()
		if x == nil {
			continue
		}
		switch {
		case w.crash && crash:
			w.mu.Lock()
			w.stats.Crashes++
			p.gone = w.never && never && !alone
			w.mu.Unlock()
			x.crash()
			w.at(w.now()+down, p.start)
		case w.pause && pause:
			w.logf("%s stalls for %v", x.name, stop)
			w.mu.Lock()
			x.pausedTill = w.now() + stop
			w.mu.Unlock()
		}
	}
}

// operators are the single events of a run.
func (w *world) operators() {
	r := w.rng("operators")
	t := func(from, span int) time.Duration {
		return between(r, time.Duration(from)*time.Second, time.Duration(from+span)*time.Second)
	}
	if at := t(50, 400); w.clock {
		back := t(100, 300)
		w.at(at, func() {
			w.logf("the clock jumps back by %v", back)
			w.mu.Lock()
			defer w.mu.Unlock()
			w.skew = -back
		})
	}
	if at := t(100, 300); w.deleteHead {
		w.at(at, func() {
			w.logf("the head is deleted")
			w.mu.Lock()
			defer w.mu.Unlock()
			delete(w.registry, headKey)
		})
	}
	if at, after := t(60, 300), t(5, 100); w.rollHead {
		w.at(at, func() { w.rollBack(after) })
	}
	if at := t(60, 300); w.copyWAL {
		w.at(at, w.copyFirstWAL)
	}
	if at, after := t(50, 200), t(30, 150); w.restoreWAL {
		w.at(at, func() { w.restoreFirstWAL(after) })
	}
}

func (w *world) rollBack(after time.Duration) {
	w.mu.Lock()
	old, ok := w.registry[headKey]
	revision := w.revision
	w.mu.Unlock()
	time.Sleep(after)
	w.logf("the head is rolled back")
	w.mu.Lock()
	defer w.mu.Unlock()
	if !ok {
		return
	}
	if w.reuseRevisions {
		w.revision = revision
	} else {
		w.revision++
		old.Revision = fmt.Sprint(w.revision)
	}
	w.registry[headKey] = old
}

func (w *world) copyFirstWAL() {
	w.mu.Lock()
	q := &proc{world: w, n: 9, wal: w.procs[0].wal.clone()}
	w.procs = append(w.procs, q)
	w.mu.Unlock()
	w.logf("the WAL of P0 is copied to P9")
	q.start()
}

func (w *world) restoreFirstWAL(after time.Duration) {
	p := w.procs[0]
	w.mu.Lock()
	old := p.wal.clone()
	w.mu.Unlock()
	time.Sleep(after)
	w.logf("the WAL of P0 is restored from an old copy")
	w.mu.Lock()
	x := p.life
	w.mu.Unlock()
	if x != nil {
		x.crash()
	}
	w.mu.Lock()
	for _, e := range p.wal.entries {
		if !slices.Contains(old.entries, e) {
			w.mayLose[e.record] = true
		}
	}
	p.wal = old
	w.mu.Unlock()
	w.at(w.now()+5*time.Second, p.start)
}

// idle says that nobody owes anything and every late message has arrived.
func (w *world) idle() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.procs {
		if !p.gone && (p.life == nil || !p.life.swept || len(p.wal.entries) > 0) {
			return false
		}
	}
	return w.now() > modelCalm
}

// judge says what is wrong by reading the bucket, and the WALs for what is
// still owed.
func (w *world) judge() {
	ws, bad := judgeLog(w.bucket, testRef.Prefix, testID)
	for _, b := range bad {
		w.complain("%s", b)
	}
	w.stats.Windows, w.stats.Records = len(ws), w.records
	seen, named := map[int]int{}, map[string]bool{}
	for _, v := range ws {
		for _, o := range v.Objects {
			named[o.Key] = true
		}
		for _, row := range v.rows {
			var record int
			var stamp int64
			if _, err := fmt.Sscanf(row, "%d %d", &record, &stamp); err != nil || stamp < v.Start || stamp >= v.End {
				w.complain("ROW: %q is in window %d [%d,%d)", row, v.K, v.Start, v.End)
			}
			seen[record]++
		}
	}
	owed, own := w.owed()
	for r := 1; r <= w.records; r++ {
		switch {
		case seen[r] > 1:
			w.complain("DOUBLED: record %d is in %d windows", r, seen[r])
		case seen[r] == 0 && !w.mayLose[r] && w.trimmed[r]:
			w.complain("TRIMMED: record %d is in no window", r)
		case seen[r] == 0 && !w.mayLose[r] && !owed[r]:
			w.complain("LOST: record %d", r)
		}
	}
	w.judgeOrphans(named, owed, own)
	w.judgeHead(ws)
}

// owed gives the records that are still in a WAL, and the writers of those
// that are in use.
func (w *world) owed() (owed map[int]bool, own map[string]bool) {
	owed, own = map[int]bool{}, map[string]bool{}
	for _, p := range w.procs {
		for _, e := range p.wal.entries {
			owed[e.record] = true
		}
		if p.gone {
			continue
		}
		for _, writer := range p.wal.writers {
			own[writer] = true
		}
		if n := len(p.wal.entries); n > 0 {
			w.complain("LIVENESS: P%d still owes %d records", p.n, n)
		}
	}
	return owed, own
}

// judgeOrphans looks for objects that doubled rows for readers that glob.
func (w *world) judgeOrphans(named map[string]bool, owed map[int]bool, own map[string]bool) {
	for _, key := range w.bucket.Keys(partition.DataPrefix(testRef.Prefix, testID)) {
		_, name, err := partition.ParseObjectKey(testRef.Prefix, key)
		if err != nil || named[key] || !own[name.Writer] {
			continue
		}
		content, _ := w.bucket.Content(key)
		needed := false
		for row := range strings.Lines(string(content)) {
			var record int
			_, _ = fmt.Sscanf(row, "%d", &record)
			needed = needed || owed[record] || w.mayLose[record]
		}
		if !needed {
			w.complain("ORPHAN: %s", key)
		}
	}
}

// judgeHead compares the head with the manifests up to its k. It may lag where
// the last committer died and nobody came after it.
func (w *world) judgeHead(ws []judgedWindow) {
	r, ok := w.registry[headKey]
	if !ok {
		return
	}
	var s State
	if err := json.Unmarshal(r.Value, &s); err != nil || s.K > uint64(len(ws)) {
		w.complain("HEAD: k %d beside %d manifests (%v)", s.K, len(ws), err)
		return
	}
	ends := map[string]int64{}
	for _, v := range ws[:s.K] {
		ends[v.Writer] = v.End
	}
	for name, writer := range s.Writers {
		if ends[name] != writer.End {
			w.complain("HEAD: writer %s up to %d, the manifests say %d", name, writer.End, ends[name])
		}
		delete(ends, name)
	}
	for name, end := range ends {
		if end > s.Pruned {
			w.complain("HEAD: writer %s is gone with end %d above pruned %d", name, end, s.Pruned)
		}
	}
}
