package commit

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/s3window/s3window/extension/leaseextension/lease"
	"github.com/s3window/s3window/internal/lake/laketest"
)

// runModel runs one seed and gives what is wrong in the end, by the bucket.
func runModel(t *testing.T, seed uint64, sc scenario, tracing bool) (w *world) {
	synctest.Test(t, func(*testing.T) {
		w = &world{
			scenario: sc, seed: seed, born: time.Now(), bucket: laketest.NewMemory(), tracing: tracing,
			stores: map[bool]*register{true: {records: map[string]lease.Record{}}, false: {records: map[string]lease.Record{}}},
			acked:  map[int]bool{}, mayLose: map[int]bool{}, trimmed: map[int]bool{},
		}
		w.run()
		w.judge()
	})
	return w
}

func (w *world) run() {
	r := w.rng("run")
	if w.kind == anyKind {
		w.kind = kind(1 + w.seed/uint64(len(hostileWorlds))%3)
	}
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
			for _, s := range w.stores {
				delete(s.records, headKey)
			}
		})
	}
	if at, after := t(60, 300), t(5, 100); w.rollHead {
		for _, s := range w.stores {
			w.at(at, func() { w.rollBack(s, after) })
		}
	}
	if at, after := t(60, 300), t(30, 150); w.bucketBack {
		w.at(at, func() { w.setBucketBack(after) })
	}
	if at := t(60, 300); w.copyWAL {
		w.at(at, w.copyFirstWAL)
	}
	if at, after := t(50, 200), t(30, 150); w.restoreWAL {
		w.at(at, func() { w.restoreFirstWAL(after) })
	}
}

func (w *world) rollBack(s *register, after time.Duration) {
	w.mu.Lock()
	old, ok := s.records[headKey]
	revision := s.revision
	w.mu.Unlock()
	time.Sleep(after)
	w.logf("the head is rolled back")
	w.mu.Lock()
	defer w.mu.Unlock()
	if !ok {
		return
	}
	if w.reuseRevisions {
		s.revision = revision
	} else {
		s.revision++
		old.Revision = fmt.Sprint(s.revision)
	}
	s.records[headKey] = old
}

// setBucketBack stops every replica, waits until nothing of theirs is on its
// way any more, and sets the bucket back to what it was before. What left a WAL
// since is lost.
func (w *world) setBucketBack(after time.Duration) {
	w.mu.Lock()
	old, trimmed := w.bucket.Clone(), maps.Clone(w.trimmed)
	w.mu.Unlock()
	time.Sleep(after)
	w.logf("everybody stops")
	w.mu.Lock()
	w.stopped = true
	procs := slices.Clone(w.procs)
	w.mu.Unlock()
	for _, p := range procs {
		w.mu.Lock()
		x := p.life
		w.mu.Unlock()
		if x != nil {
			x.crash()
		}
	}
	time.Sleep(200 * time.Second)
	w.logf("the bucket is set back")
	w.bucket.Restore(old)
	w.mu.Lock()
	for record := range w.trimmed {
		if !trimmed[record] {
			w.mayLose[record] = true
		}
	}
	w.stopped = false
	w.mu.Unlock()
	for _, p := range procs {
		w.at(w.now()+between(w.rng("again", p.n), time.Second, 9*time.Second), p.start)
	}
}

// copyFirstWAL copies the WAL of the first replica while it is owed much, and
// starts another replica on the copy.
func (w *world) copyFirstWAL() {
	much := func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return len(w.procs[0].wal.open()) > 6
	}
	for range 100 {
		if much() {
			break
		}
		time.Sleep(time.Second)
	}
	w.mu.Lock()
	q := &proc{world: w, n: 9, wal: w.procs[0].wal.clone()}
	w.procs = append(w.procs, q)
	w.mu.Unlock()
	w.logf("the WAL of P0 is copied to P9")
	q.start()
}

func (w *world) restoreFirstWAL(after time.Duration) {
	w.mu.Lock()
	p := w.procs[0]
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
