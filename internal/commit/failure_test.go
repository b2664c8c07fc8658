package commit

import (
	"slices"
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
	dry := newFaultRun(f.t, -1, "")
	require.NoError(f.t, newReplica(dry.rig, dry.wal, "r", dry.tape).live(f.t.Context()))
	for i, l := range dry.tape.labels {
		if l != label {
			continue
		}
		if nth--; nth == 0 {
			f.tape.target, f.tape.kind = i, failAfter
			if len(l) > 5 && l[:5] == "step " {
				f.tape.kind = crashAt
			}
			require.Error(f.t, newReplica(f.rig, f.wal, "r", f.tape).live(f.t.Context()))
			return
		}
	}
	f.t.Fatalf("a run has no %q", label)
}

// TestFailureTable goes through the table "Failure by failure": what a death
// or stall leaves behind, who repairs it, and how.
func TestFailureTable(t *testing.T) {
	for _, c := range []struct {
		name string
		run  func(t *testing.T, f *faultRun)
	}{
		{"seal: the next process rebuilds the window as sealed", func(t *testing.T, f *faultRun) {
			f.dieAt("disk seal", 1)
			require.Len(t, f.wal.seals, 1)
			require.Len(t, f.wal.entries, 4)
			f.recover()
		}},
		{"upload: the next process uploads what is missing", func(t *testing.T, f *faultRun) {
			f.bucket.Script(func(op laketest.Op) laketest.Fault {
				if op.Kind == laketest.PutIfAbsent && op.N > 3 {
					return laketest.Fault{Before: errFault}
				}
				return laketest.Fault{}
			})
			require.ErrorIs(t, newReplica(f.rig, f.wal, "r", f.tape).live(t.Context()), errFault)
			require.Len(t, f.bucket.Keys(testRef.Prefix+"/tenant="), 4, "three of its four, and one of the log before")
			f.recover()
		}},
		{"acquire: the next process of the WAL takes over at once", func(t *testing.T, f *faultRun) {
			f.dieAt("step after_acquire", 1)
			_, held := f.head()
			require.True(t, held)
			before := time.Now()
			f.recover()
			require.Less(t, time.Since(before), lease.DefaultTTL/10)
		}},
		{"acquire: another replica takes over after the TTL", func(t *testing.T, f *faultRun) {
			f.dieAt("step after_acquire", 1)
			before := time.Now()
			f.other()
			require.GreaterOrEqual(t, time.Since(before), lease.DefaultTTL)
			f.rows = append(f.rows, "9 15")
			f.recover()
		}},
		{"manifest: whoever looks next commits it", func(t *testing.T, f *faultRun) {
			f.dieAt("step after_manifest", 1)
			s, _ := f.head()
			require.Equal(t, uint64(1), s.K)
			f.other()
			s, _ = f.head()
			require.Equal(t, uint64(3), s.K)
			require.Equal(t, int64(11), s.Writers[writerA].End)
			f.rows = append(f.rows, "9 15")
			f.recover()
		}},
		{"confirm: what is committed is dropped at replay", func(t *testing.T, f *faultRun) {
			f.dieAt("step after_confirm", 2)
			require.Len(t, f.wal.entries, 4)
			manifests := f.judged()
			f.recover()
			require.Equal(t, manifests, f.judged())
		}},
		{"trim: the rest is dropped at replay", func(t *testing.T, f *faultRun) {
			f.dieAt("disk trim", 2)
			require.Len(t, f.wal.entries, 2)
			require.Len(t, f.wal.seals, 2)
			f.recover()
		}},
		{"unknown outcome: the answer of the manifest's put is lost", func(t *testing.T, f *faultRun) {
			f.bucket.Script(func(op laketest.Op) laketest.Fault {
				if op.Kind == laketest.PutIfAbsent && isManifest(op.Key) {
					return laketest.Fault{After: errFault}
				}
				return laketest.Fault{}
			})
			require.NoError(t, newReplica(f.rig, f.wal, "r", f.tape).live(t.Context()))
			require.Len(t, f.judged(), 3)
		}},
		{"unknown outcome: the answers of the head's writes are lost", func(t *testing.T, f *faultRun) {
			f.kv.set(func(_ int, op kvOp) laketest.Fault {
				if op.Kind == "put" {
					return laketest.Fault{After: errFault}
				}
				return laketest.Fault{}
			})
			require.NoError(t, newReplica(f.rig, f.wal, "r", f.tape).live(t.Context()))
			require.Equal(t, 3, f.kv.count("put"))
		}},
		{"stalled holder: it meets what came meanwhile and goes on", func(t *testing.T, f *faultRun) {
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
			err := x.live(t.Context())
			require.Error(t, err, "its lease is lost")
			f.rows = append(f.rows, "9 15")
			f.recover()
		}},
		{"copied WAL: both finish, nothing is doubled", func(t *testing.T, f *faultRun) {
			other := f.wal.clone()
			require.NoError(t, newReplica(f.rig, other, "q", f.tape).live(t.Context()))
			require.Empty(t, other.entries)
			f.recover()
		}},
		{"restored WAL: the old entries are dropped", func(t *testing.T, f *faultRun) {
			old := f.wal.clone()
			f.recover()
			f.wal = old
			f.recover()
			require.Len(t, f.judged(), 3)
		}},
		{"head lost", func(t *testing.T, f *faultRun) {
			f.dieAt("step after_manifest", 2)
			f.setHead(nil)
			f.recover()
		}},
		{"head rolled back", func(t *testing.T, f *faultRun) {
			old, _ := f.head()
			f.dieAt("step after_confirm", 1)
			f.setHead(&old)
			f.recover()
			s, _ := f.head()
			require.Equal(t, uint64(3), s.K)
		}},
		{"lease store changed: the new head is rebuilt from the bucket", func(t *testing.T, f *faultRun) {
			f.dieAt("step after_confirm", 1)
			f.kv.Store = memory.New()
			f.recover()
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFaultRun(t, -1, "")
				c.run(t, f)
				f.check()
			})
		})
	}
}

// A WAL that is lost between upload and manifest leaves objects that may be
// the only copy: nobody deletes them.
func TestLostWALLeavesItsObjects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFaultRun(t, -1, "")
		f.dieAt("step after_acquire", 1)
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
