package commit

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/lake/laketest"
)

// faultRun is one run of a replica with two windows to commit, of which one
// operation goes wrong.
type faultRun struct {
	*rig
	tape *tape
	wal  *wal
	rows []string
}

// newFaultRun prepares a log with a window of another replica in it, so that
// there is a chain to keep.
func newFaultRun(t *testing.T, turns bool, target int, kind string) *faultRun {
	r := newRig(t)
	r.turns = turns
	r.commit(r.process("zz"), r.win("zzzzzzzzzzzzz", 0, 1, 2))
	f := &faultRun{
		rig: r, tape: &tape{target: target, kind: kind}, rows: []string{"1 10", "2 10", "3 20", "4 30", "zzzzzzzzzzzzz 1"},
		wal: &wal{writers: []string{writerA}, entries: []walEntry{{writerA, 10, 1}, {writerA, 10, 2}, {writerA, 20, 3}, {writerA, 30, 4}}},
	}
	r.kv.set(func(_ int, op kvOp) laketest.Fault { return f.tape.next("kv " + op.Kind) })
	r.bucket.Script(func(op laketest.Op) laketest.Fault { return f.tape.next("bucket " + op.Kind) })
	return f
}

// recover starts a new process on the WAL, without faults, and expects it to
// finish; it returns how many writes that took.
func (f *faultRun) recover() (kvPuts, bucketPuts int) {
	f.tape.target, f.tape.kind = -1, ""
	f.kv.set(nil)
	f.bucket.Script(nil)
	require.NoError(f.t, newReplica(f.rig, f.wal, "r", f.tape).live(f.t.Context()))
	for _, op := range f.bucket.Ops() {
		switch op.Kind {
		case laketest.PutIfAbsent, laketest.Replace, laketest.Delete:
			bucketPuts++
		}
	}
	return f.kv.count("put"), bucketPuts
}

// check judges by the bucket, and by the WAL that nothing is owed.
func (f *faultRun) check() {
	f.t.Helper()
	var rows []string
	windows := f.judged()
	for _, w := range windows {
		rows = append(rows, w.rows...)
	}
	slices.Sort(rows)
	want := slices.Sorted(slices.Values(f.rows))
	require.Equal(f.t, want, rows, "I1: every record in exactly one committed window")
	require.Empty(f.t, f.wal.entries)
	require.Empty(f.t, f.wal.seals)
	require.Len(f.t, f.bucket.Keys(testRef.Prefix+"/tenant="), len(f.objects()), "I2: no object but those of the manifests")
}

func (f *faultRun) objects() map[string]bool {
	named := map[string]bool{}
	require.NoError(f.t, f.lake.Manifests(f.t.Context(), testID, func(_ uint64, m lake.Manifest, _ string) error {
		for _, o := range m.Objects {
			named[o.Key] = true
		}
		return nil
	}))
	return named
}

// TestFaultEnumeration breaks every durable operation and every label of a
// clean run in every way, one at a time, then recovers from what is left.
func TestFaultEnumeration(t *testing.T) {
	for _, c := range []struct {
		name     string
		turns    bool
		kvPuts   int // of a clean run
		runs     int // at least
		contains []string
	}{
		{"without turns", false, 0, 60, []string{"commit:read-head done", "commit:read-manifests done", "commit:put-manifest", "commit:put-manifest done"}},
		{"with turns", true, 2, 70, []string{"commit:acquire", "commit:acquire done", "commit:put-manifest", "commit:put-manifest done", "commit:release done"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var labels []string
			synctest.Test(t, func(t *testing.T) {
				f := newFaultRun(t, c.turns, -1, "")
				require.NoError(t, newReplica(f.rig, f.wal, "r", f.tape).live(t.Context()))
				labels = f.tape.labels
				require.Equal(t, c.kvPuts, f.kv.count("put"), "two windows in one turn")
				f.check()
			})
			runs := 0
			for n, label := range labels {
				for _, kind := range []string{failBefore, failAfter, delay, crashAt} {
					step := strings.HasPrefix(label, "step ")
					if step != (kind == crashAt) {
						continue
					}
					runs++
					t.Run(fmt.Sprintf("%02d %s/%s", n, label, kind), func(t *testing.T) {
						synctest.Test(t, func(t *testing.T) { enumerate(t, c.turns, n, label, kind) })
					})
				}
			}
			require.GreaterOrEqual(t, runs, c.runs)
			for _, point := range c.contains {
				require.Contains(t, labels, "step "+point)
			}
		})
	}
}

func enumerate(t *testing.T, turns bool, n int, label, kind string) {
	f := newFaultRun(t, turns, n, kind)
	first := newReplica(f.rig, f.wal, "r", f.tape)
	f.tape.stall = func() {
		first.standStill(func() { f.other() })
	}
	err := first.live(t.Context())
	require.Greater(t, len(f.tape.labels), n, "the run came to the operation")
	require.Equal(t, label, f.tape.labels[n])
	if kind == crashAt {
		require.Error(t, err)
	}
	if kind == delay {
		f.rows = append(f.rows, "9 15")
	}
	// Twice in the lease's own time: whatever was held is free by then.
	kvPuts, bucketPuts := f.recover()
	f.check()
	require.LessOrEqual(t, kvPuts, 2*2, "KV writes of the recovery")
	require.LessOrEqual(t, bucketPuts, 4+2, "bucket writes of the recovery")

	before := f.bucket.Keys("")
	kvPuts, bucketPuts = f.recover()
	require.Zero(t, kvPuts, "I6: recovering twice equals recovering once")
	require.Zero(t, bucketPuts, "I6")
	require.Equal(t, before, f.bucket.Keys(""))
	f.check()
}

// other has another replica commit a window while the first stands still.
func (f *faultRun) other() {
	f.tape.mu.Lock()
	f.tape.off = true
	f.tape.mu.Unlock()
	defer func() {
		f.tape.mu.Lock()
		f.tape.off = false
		f.tape.mu.Unlock()
	}()
	d := &wal{writers: []string{writerB}, entries: []walEntry{{writerB, 15, 9}}}
	require.NoError(f.t, newReplica(f.rig, d, "o", f.tape).live(f.t.Context()))
	require.Empty(f.t, d.entries)
}
