package commit

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/partition"
)

// replay makes the windows of what the WAL holds. It takes its time until the
// head can be read, and returns false once the life is dead. Nothing is sealed
// or uploaded before.
func (x *life) replay() bool {
	w := x.world
	w.mu.Lock()
	x.ready, x.queue = false, nil
	w.mu.Unlock()
	var ends map[string]int64
	for err := errNoAnswer; err != nil; {
		if ends, err = x.ends(); err == nil {
			break
		}
		var blocked *Blocked
		if errors.As(err, &blocked) {
			w.complain("BLOCKED: %s", blocked.Why)
		}
		x.logf("replay: %v", err)
		if !x.sleep("replay-retry", 2*time.Second, 6*time.Second) {
			return false
		}
	}
	x.logf("replays from %v", ends)
	if !x.dropCommitted(ends) || !x.mendSeals(ends) {
		return false
	}
	sweep := x.rng("sweep", "").Float64() < 0.5
	w.mu.Lock()
	defer w.mu.Unlock()
	x.chain = ends
	seals := slices.Clone(x.wal.seals)
	slices.SortStableFunc(seals, func(a, b walSeal) int { return cmp.Compare(a.start, b.start) })
	for _, s := range seals {
		x.add(s, x.wal.in(s))
	}
	x.ready, x.resync = true, false
	if sweep {
		x.startSweep()
	}
	return true
}

// in gives the entries that a seal covers.
func (d *wal) in(s walSeal) []walEntry {
	var rows []walEntry
	for _, e := range d.entries {
		if s.holds(e) {
			rows = append(rows, e)
		}
	}
	return rows
}

// ends reads where the WAL's writers are committed up to.
func (x *life) ends() (map[string]int64, error) {
	w := x.world
	ends := map[string]int64{}
	if w.broken == "no head read" {
		return ends, nil
	}
	w.mu.Lock()
	x.reading = true
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		x.reading = false
		w.mu.Unlock()
	}()
	if _, err := x.log.Read(x.ctx); err != nil {
		return nil, err
	}
	w.mu.Lock()
	oldest := map[string]int64{}
	var writers []string
	see := func(writer string, stamp int64) {
		if _, ok := oldest[writer]; !ok {
			writers, oldest[writer] = append(writers, writer), stamp
		}
		oldest[writer] = min(oldest[writer], stamp)
	}
	for _, e := range x.wal.entries {
		see(e.writer, e.stamp)
	}
	for _, s := range x.wal.seals {
		see(s.writer, s.start)
	}
	w.mu.Unlock()
	for _, writer := range writers {
		end, err := x.log.Resolve(x.ctx, writer, oldest[writer])
		if err != nil {
			return nil, err
		}
		ends[writer] = end
	}
	return ends, nil
}

// dropCommitted takes the entries that are committed out of the WAL.
func (x *life) dropCommitted(ends map[string]int64) bool {
	x.world.mu.Lock()
	var rows []walEntry
	for _, e := range x.wal.entries {
		if e.stamp < ends[e.writer] {
			rows = append(rows, e)
		}
	}
	x.world.mu.Unlock()
	for chunk := range slices.Chunk(rows, 3) {
		if !x.drop(chunk) {
			return false
		}
	}
	return true
}

// mendSeals takes the seals out whose windows are committed, and moves the
// start of those that another process's commit reaches into.
func (x *life) mendSeals(ends map[string]int64) bool {
	x.world.mu.Lock()
	seals := slices.Clone(x.wal.seals)
	x.world.mu.Unlock()
	for _, s := range seals {
		if s.start >= ends[s.writer] {
			continue
		}
		ok := x.disk("replay", func(d *wal) {
			d.seals = slices.DeleteFunc(d.seals, func(o walSeal) bool { return o == s })
			if rest := d.in(s); len(rest) > 0 && x.world.broken != "the rest of a void seal goes last" {
				d.seals = append(d.seals, walSeal{s.writer, rest[0].stamp, s.end, s.parts})
			}
		})
		if !ok {
			return false
		}
	}
	return true
}

// sweep runs the last sweep of a life that owes nothing any more.
func (x *life) sweep() {
	w := x.world
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.now() > modelCalm && x.ready && !x.resync && !x.swept && len(x.wal.entries) == 0 && len(x.wal.seals) == 0 {
		x.startSweep()
	}
}

// startSweep needs world.mu held.
func (x *life) startSweep() {
	if x.sweeping {
		return
	}
	x.sweeping = true
	w := x.world
	last := w.now() > modelCalm && len(x.wal.entries) == 0
	writers := slices.Clone(x.wal.writers)
	x.work.Go(func() {
		deleted, err := x.sweepOnce(writers)
		x.logf("sweeps %v: %v, %v", writers, deleted, err)
		w.mu.Lock()
		defer w.mu.Unlock()
		w.stats.Swept += len(deleted)
		x.sweeping = false
		x.swept = x.swept || last && err == nil
	})
}

func (x *life) sweepOnce(writers []string) ([]string, error) {
	if x.world.broken != "sweep what is not sealed here" {
		return x.log.Sweep(x.ctx, writers...)
	}
	named := map[string]bool{}
	if err := x.lake.Manifests(x.ctx, testID, func(_ uint64, m lake.Manifest, _ string) error {
		for _, o := range m.Objects {
			named[o.Key] = true
		}
		return nil
	}); err != nil {
		return nil, err
	}
	x.world.mu.Lock()
	seals := slices.Clone(x.wal.seals)
	x.world.mu.Unlock()
	var keys []string
	err := x.lake.Bucket().List(x.ctx, partition.DataPrefix(testRef.Prefix, testID), "", func(i lake.Info) error {
		_, n, err := partition.ParseObjectKey(testRef.Prefix, i.Key)
		sealed := slices.ContainsFunc(seals, func(s walSeal) bool {
			return s.writer == n.Writer && s.start == n.Start && s.end == n.End
		})
		if err == nil && slices.Contains(writers, n.Writer) && !named[i.Key] && !sealed {
			keys = append(keys, i.Key)
		}
		return err
	})
	for _, k := range keys {
		_ = x.lake.Delete(context.WithoutCancel(x.ctx), k)
	}
	return keys, err
}
