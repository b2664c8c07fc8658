package commit

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/extension/leaseextension/lease"
	"github.com/s3window/s3window/extension/leaseextension/lease/memory"
	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/lake/laketest"
)

// dieAt runs a replica that dies at the nth occurrence of a label, counted
// from 1, after the operation of that label took effect.
func (f *faultRun) dieAt(label string, nth int) {
	f.t.Helper()
	dry := newFaultRun(f.t, f.turns, -1, "")
	require.NoError(f.t, newReplica(dry.rig, dry.wal, "r", dry.tape).live(f.t.Context()))
	for i, l := range dry.tape.labels {
		if l != label {
			continue
		}
		if nth--; nth == 0 {
			f.tape.target, f.tape.kind = i, failAfter
			if strings.HasPrefix(l, "step ") {
				f.tape.kind = crashAt
			}
			require.Error(f.t, newReplica(f.rig, f.wal, "r", f.tape).live(f.t.Context()))
			return
		}
	}
	f.t.Fatalf("a run has no %q", label)
}

// failing has the puts of manifests fail.
func (f *faultRun) failing(fault laketest.Fault) {
	f.bucket.Script(func(op laketest.Op) laketest.Fault {
		if op.Kind == laketest.PutIfAbsent && isManifest(op.Key) {
			return fault
		}
		return laketest.Fault{}
	})
}

// failureRow is a row of the table "Failure by failure" in DESIGN.md.
type failureRow struct {
	name string
	run  func(t *testing.T, f *faultRun)
}

// everyFailure are the rows that do not depend on turns.
var everyFailure = []failureRow{
	{"killed after the seal", func(t *testing.T, f *faultRun) {
		f.dieAt("disk seal", 1)
		require.Len(t, f.wal.seals, 1)
		require.Len(t, f.wal.entries, 4)
		f.recover()
	}},
	{"killed between two uploads", func(t *testing.T, f *faultRun) {
		f.bucket.Script(func(op laketest.Op) laketest.Fault {
			if op.Kind == laketest.PutIfAbsent && op.N > 4 {
				return laketest.Fault{Before: errFault}
			}
			return laketest.Fault{}
		})
		require.ErrorIs(t, newReplica(f.rig, f.wal, "r", f.tape).live(t.Context()), errFault)
		uploaded := len(f.bucket.Keys(testRef.Prefix + "/tenant="))
		require.Greater(t, uploaded, 1, "one is of the log before")
		require.Less(t, uploaded, 5)
		f.recover()
	}},
	{"killed after the manifest", func(t *testing.T, f *faultRun) {
		f.dieAt("step commit:put-manifest done", 1)
		require.Len(t, f.judged(), 2)
		require.Len(t, f.wal.entries, 4)
		f.recover()
		require.Len(t, f.judged(), 3)
	}},
	{"killed after the manifest, and another process commits", func(t *testing.T, f *faultRun) {
		f.dieAt("step commit:put-manifest done", 1)
		f.other()
		require.Len(t, f.judged(), 3)
		f.rows = append(f.rows, "9 15")
		f.recover()
	}},
	{"killed in the middle of the trim", func(t *testing.T, f *faultRun) {
		f.dieAt("disk trim", 2)
		require.Len(t, f.wal.entries, 2)
		require.Len(t, f.wal.seals, 2)
		f.recover()
	}},
	{"the manifest's answer is lost", func(t *testing.T, f *faultRun) {
		f.failing(laketest.Fault{After: errFault})
		require.NoError(t, newReplica(f.rig, f.wal, "r", f.tape).live(t.Context()))
		require.Len(t, f.judged(), 3)
	}},
	{"the manifest's answer is lost, and nothing can be read back", func(t *testing.T, f *faultRun) {
		f.bucket.Script(func(op laketest.Op) laketest.Fault {
			if isManifest(op.Key) && op.Kind != laketest.List {
				return laketest.Fault{After: errFault}
			}
			return laketest.Fault{}
		})
		x := newReplica(f.rig, f.wal, "r", f.tape)
		require.ErrorIs(t, x.live(t.Context()), errFault)
		f.recover()
	}},
	{"a process stands still while others commit", func(t *testing.T, f *faultRun) {
		x := newReplica(f.rig, f.wal, "r", f.tape)
		stalled := false
		step := x.log.opts.Step
		x.log.opts.Step = func(label string) {
			step(label)
			if label == "commit:put-manifest" && !stalled {
				stalled = true
				x.standStill(f.other)
			}
		}
		require.ErrorIs(t, x.live(t.Context()), context.DeadlineExceeded)
		f.rows = append(f.rows, "9 15")
		require.Len(t, f.judged(), 2)
		f.recover()
		require.Len(t, f.judged(), 4)
	}},
	{"two processes have copies of one WAL", func(t *testing.T, f *faultRun) {
		other := f.wal.clone()
		require.NoError(t, newReplica(f.rig, other, "q", f.tape).live(t.Context()))
		require.Empty(t, other.entries)
		f.recover()
	}},
	{"a WAL is set back", func(t *testing.T, f *faultRun) {
		old := f.wal.clone()
		f.recover()
		f.wal = old
		f.recover()
		require.Len(t, f.judged(), 3)
	}},
	{"the head is lost", func(t *testing.T, f *faultRun) {
		f.dieAt("step commit:put-manifest done", 2)
		_, err := f.kv.Store.Get(t.Context(), headKey)
		require.Equal(t, f.turns, err == nil)
		if f.turns {
			f.setHead(nil)
		}
		f.recover()
	}},
	{"the head is set back", func(t *testing.T, f *faultRun) {
		f.dieAt("step commit:put-manifest done", 2)
		f.setHead(&State{})
		f.recover()
	}},
	{"the bucket is set back", func(t *testing.T, f *faultRun) {
		old := f.bucket.Clone()
		lost := f.process("lost")
		f.commit(lost, f.win("lllllllllllll", 0, 5, 6))
		s := lost.state.clone()
		f.setHead(&s)
		f.bucket.Restore(old)
		f.recover()
		require.Len(t, f.judged(), 3)
	}},
	{"the lease store is another one", func(t *testing.T, f *faultRun) {
		f.dieAt("step commit:put-manifest done", 1)
		f.kv.Store = memory.New()
		f.recover()
	}},
}

// turnFailures are those of processes that take turns.
var turnFailures = []failureRow{
	{"killed after the lease is taken", func(t *testing.T, f *faultRun) {
		f.dieAt("step commit:acquire done", 1)
		_, held := f.head()
		require.True(t, held)
		before := time.Now()
		f.recover()
		require.Less(t, time.Since(before), lease.DefaultTTL/10)
	}},
	{"killed after the lease is taken, and another process waits", func(t *testing.T, f *faultRun) {
		f.dieAt("step commit:acquire done", 1)
		before := time.Now()
		f.other()
		require.GreaterOrEqual(t, time.Since(before), lease.DefaultTTL)
		f.rows = append(f.rows, "9 15")
		f.recover()
	}},
	{"killed before the lease goes back", func(t *testing.T, f *faultRun) {
		f.dieAt("step commit:release", 1)
		require.Len(t, f.wal.entries, 4)
		manifests := f.judged()
		f.recover()
		require.Equal(t, manifests, f.judged())
	}},
	{"the answers of the head's writes are lost", func(t *testing.T, f *faultRun) {
		f.kv.set(func(_ int, op kvOp) laketest.Fault {
			if op.Kind == "put" {
				return laketest.Fault{After: errFault}
			}
			return laketest.Fault{}
		})
		require.NoError(t, newReplica(f.rig, f.wal, "r", f.tape).live(t.Context()))
		require.Equal(t, 2, f.kv.count("put"))
	}},
}

// TestFailureTable goes through the table "Failure by failure": what a death
// or stall leaves behind, who repairs it, and how.
func TestFailureTable(t *testing.T) {
	for name, c := range map[string]struct {
		turns bool
		rows  []failureRow
	}{
		"without turns": {false, everyFailure},
		"with turns":    {true, slices.Concat(everyFailure, turnFailures)},
	} {
		for _, row := range c.rows {
			t.Run(name+"/"+row.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f := newFaultRun(t, c.turns, -1, "")
					row.run(t, f)
					f.check()
				})
			})
		}
	}
}

// A WAL that is lost between upload and manifest leaves objects that may be
// the only copy: nobody deletes them.
func TestLostWALLeavesItsObjects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFaultRun(t, true, -1, "")
		f.dieAt("step commit:acquire done", 1)
		objects := f.bucket.Keys(testRef.Prefix + "/tenant=")
		p := f.process("other")
		deleted, err := p.Sweep(t.Context(), writerA, "zzzzzzzzzzzzz")
		require.NoError(t, err)
		require.Empty(t, deleted)
		require.Equal(t, objects, f.bucket.Keys(testRef.Prefix+"/tenant="))
	})
}

// Two lakes have two logs: a seal is finished at the lake it was made for.
func TestEveryLakeHasItsOwnLog(t *testing.T) {
	r := newRig(t)
	p := r.process("a")
	r.commit(p, r.win(writerA, 0, 10, 20))
	elsewhere := testRef
	elsewhere.Prefix = "elsewhere"
	other := New(lake.New(r.bucket, elsewhere), p.leases, testID, Options{})
	ends, err := other.Read(t.Context())
	require.NoError(t, err)
	require.Zero(t, ends.K())
	ends, err = p.Read(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{writerA}, slices.Collect(func(yield func(string) bool) {
		for w := range ends.Writers() {
			yield(w)
		}
	}))
}
