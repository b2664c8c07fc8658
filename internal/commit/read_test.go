package commit

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/extension/leaseextension/lease"
	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/lake/laketest"
	"github.com/s3window/s3window/internal/partition"
)

func TestReadFails(t *testing.T) {
	boom := errors.New("boom")
	r := newRig(t)
	r.turns = true
	p := r.process("a")
	r.commit(p, r.win(writerA, 0, 10, 20))
	p = r.process("a")
	r.kv.set(func(int, kvOp) laketest.Fault { return laketest.Fault{Before: boom} })
	_, err := p.Read(t.Context())
	require.ErrorIs(t, err, boom)
	r.kv.set(nil)
	r.bucket.Script(func(laketest.Op) laketest.Fault { return laketest.Fault{Before: boom} })
	_, err = p.Read(t.Context())
	require.ErrorIs(t, err, boom)
	require.False(t, errors.As(err, new(*Blocked)), "a bucket that fails does not block")
	r.bucket.Script(nil)
	r.setHead(&State{K: 1, ManifestSHA256: hexSHA, Pruned: 5})
	rec, err := r.kv.Store.Get(t.Context(), headKey)
	require.NoError(t, err)
	_, err = r.kv.Store.Put(t.Context(), headKey, []byte(`{"version":1,"epoch":9,"write":"x","k":"one"}`), rec.Revision)
	require.NoError(t, err)
	_, err = p.Read(t.Context())
	require.ErrorContains(t, err, "decode head")
	_, err = p.Commit(t.Context(), []Window{r.win(writerA, 20, 20, 30)})
	require.ErrorContains(t, err, "decode head")
}

func TestReadRebuildsAMissingHead(t *testing.T) {
	r := newRig(t)
	r.turns = true
	p := r.process("a")
	ends, err := p.Read(t.Context())
	require.NoError(t, err)
	require.Zero(t, ends.K())

	r.commit(p, r.win(writerA, 0, 10, 20), r.win(writerB, 0, 5, 8))
	r.setHead(nil)
	q := r.process("b")
	ends, err = q.Read(t.Context())
	require.NoError(t, err)
	end, known := ends.End(writerA)
	require.True(t, known)
	require.Equal(t, int64(20), end)
	require.Equal(t, map[string]int64{writerA: 20, writerB: 8}, ends.Writers())
	_, known = ends.End("ccccccccccccc")
	require.False(t, known)
	_, err = r.kv.Store.Get(t.Context(), headKey)
	require.ErrorIs(t, err, lease.ErrNotFound, "a reader writes nothing")
	r.commit(q, r.win(writerA, 20, 20, 30))
	s, _ := r.head()
	require.Equal(t, uint64(3), s.K)
	require.Len(t, r.judged(), 3)
}

func TestRebuildRefusesAGap(t *testing.T) {
	r := newRig(t)
	p := r.process("a")
	r.commit(p, r.win(writerA, 0, 10, 20), r.win(writerA, 20, 20, 30), r.win(writerA, 30, 30, 40))
	r.bucket.Remove(partition.ManifestKey(testRef.Prefix, testID, 2))
	var blocked *Blocked
	_, err := r.process("b").Read(t.Context())
	require.ErrorAs(t, err, &blocked)
	require.Equal(t, partition.ManifestKey(testRef.Prefix, testID, 3), blocked.Key)
	require.Contains(t, err.Error(), "manifest 2 before it is missing")
}

func TestRebuildRefusesWhatIsNoManifest(t *testing.T) {
	r := newRig(t)
	p := r.process("a")
	r.commit(p, r.win(writerA, 0, 10, 20), r.win(writerA, 20, 20, 30))
	key := partition.ManifestKey(testRef.Prefix, testID, 2)
	r.bucket.Set(key, []byte(`{"version":3}`))
	var blocked *Blocked
	_, err := r.process("b").Read(t.Context())
	require.ErrorAs(t, err, &blocked)
	require.Equal(t, key, blocked.Key)
	require.ErrorContains(t, err, "a newer release wrote it")
}

func TestReadCountsManifestsAheadOfTheHead(t *testing.T) {
	r := newRig(t)
	r.turns = true
	p := r.process("a")
	r.commit(p, r.win(writerA, 0, 10, 20))
	old, _ := r.head()
	r.commit(p, r.win(writerA, 20, 20, 30), r.win(writerB, 0, 1, 5))
	r.putManifest(r.win(writerA, 30, 30, 40))
	r.setHead(&old) // set back to k = 1
	r.kv.set(nil)
	q := r.process("b")
	ends, err := q.Read(t.Context())
	require.NoError(t, err)
	require.Equal(t, uint64(4), ends.K())
	require.Equal(t, map[string]int64{writerA: 40, writerB: 5}, ends.Writers())
	require.Zero(t, r.kv.count("put"), "a reader leaves the head to the next commit")
	r.commit(q, r.win(writerA, 40, 44, 50))
	s, _ := r.head()
	require.Equal(t, uint64(5), s.K)
	require.Len(t, r.judged(), 5)
}

// forgetful has processes forget every writer but the newest window's and
// their own, and save the head with each window.
func (r *rig) forgetful() func(*Options) {
	r.scale.span, r.scale.save = 1, 1
	return func(o *Options) { o.Retention = -time.Hour }
}

func TestPrunedWriterIsFoundInTheManifests(t *testing.T) {
	r := newRig(t)
	forgetful := r.forgetful()
	p, q := r.process("a", forgetful), r.process("b", forgetful)
	r.commit(p, r.win(writerA, 0, 10, 20))
	r.commit(q, r.win(writerB, 0, 30, 31))
	s, _ := r.head()
	_, named := s.Writer(writerA)
	require.False(t, named)
	require.Equal(t, int64(20), s.Pruned)

	for oldest, want := range map[int64]int64{5: 20, 19: 20, 20: 0, 100: 0} {
		end, err := r.process("c").Resolve(t.Context(), writerA, oldest)
		require.NoError(t, err)
		require.Equal(t, want, end, "oldest %d", oldest)
	}
	end, err := p.Resolve(t.Context(), writerB, 5)
	require.NoError(t, err)
	require.Zero(t, end, "a lower bound: p has not looked since")

	// What is committed already stays so, what overlaps is refused, and what
	// comes next is committed, whichever way it says what it follows.
	c := r.process("c")
	r.commit(c, r.win(writerA, 0, 10, 20))
	for _, w := range []Window{r.win(writerA, 0, 15, 25), r.win(writerA, 19, 26, 27), r.win(writerA, 25, 26, 27)} {
		_, err = r.process("d").Commit(t.Context(), []Window{w})
		var overlap *Overlap
		require.ErrorAs(t, err, &overlap, "%d [%d, %d)", w.After, w.Start, w.End)
	}
	r.commit(r.process("d"), r.win(writerA, 20, 22, 25))
	require.Len(t, r.judged(), 3)
}

func TestAWindowBehindThePrunedEndCanBeRebuilt(t *testing.T) {
	r := newRig(t)
	forgetful := r.forgetful()
	r.commit(r.process("a", forgetful), r.win(writerA, 0, 10, 20))
	before, _ := r.head()
	r.commit(r.process("b", forgetful), r.win(writerB, 0, 30, 31))
	r.commit(r.process("c", forgetful), r.win(writerA, 0, 40, 50)) // pruned, and too young to be looked up
	require.Len(t, r.judged(), 3)
	r.setHead(&before)
	ends, err := r.process("d").Read(t.Context())
	require.NoError(t, err, "an older head names the writer")
	require.Equal(t, uint64(3), ends.K())
	r.setHead(nil)
	ends, err = r.process("e").Read(t.Context())
	require.NoError(t, err, "a rebuilt head names the writer")
	require.Equal(t, uint64(3), ends.K())
}

// Beyond the writers that a head has room for, a commit reads one manifest of
// span that others committed since its process's own, and not the log.
func TestMoreWritersThanAHeadNames(t *testing.T) {
	r := newRig(t)
	r.turns, r.scale.span, r.scale.writers = true, 8, 4
	const replicas = 20
	var ps []*process
	for i := range replicas {
		ps = append(ps, r.process(string(rune('a'+i))))
	}
	for n := range int64(10 * replicas) {
		i := n % replicas
		after := int64(0)
		if n >= replicas {
			after = 10*(n-replicas) + 5
		}
		w := r.win(strings.Repeat(string(rune('a'+i)), 13), after, 10*n, 10*n+5)
		r.requests()
		r.commit(ps[i], w)
		bucket, _ := r.requests()
		if n >= replicas {
			require.LessOrEqual(t, bucket, 1+3, "the manifest, and one of 8 of the 19 before it")
		}
	}
	s, _ := r.head()
	require.LessOrEqual(t, len(s.writers), 9, "four, and those of the newest windows")
	require.Len(t, r.judged(), 10*replicas)
}

func TestSweep(t *testing.T) {
	r := newRig(t)
	p := r.process("a")
	r.commit(p, r.win(writerA, 0, 10, 20), r.win(writerB, 0, 12, 14))
	keep := []Window{
		r.win(writerA, 20, 20, 30), // sealed, not yet committed
		r.win(writerA, 0, 5, 9),    // before the first committed window: another log's
		r.win(writerB, 0, 12, 13),  // another process's
		r.win("ccccccccccccc", 0, 1, 2),
	}
	orphans := []string{r.win(writerA, 0, 10, 15).Objects[0].Key, r.win(writerA, 15, 15, 35).Objects[0].Key}
	deleted, err := p.Sweep(t.Context(), writerA, "ccccccccccccc")
	require.NoError(t, err)
	slices.Sort(orphans)
	require.Equal(t, orphans, deleted)
	for _, w := range keep {
		_, err := r.lake.Bucket().Stat(t.Context(), w.Objects[0].Key)
		require.NoError(t, err)
	}
	require.Len(t, r.judged(), 2)
	deleted, err = p.Sweep(t.Context(), writerA)
	require.NoError(t, err)
	require.Empty(t, deleted)

	r.win(writerA, 0, 10, 15)
	boom := errors.New("boom")
	r.bucket.Script(func(op laketest.Op) laketest.Fault {
		if op.Kind == laketest.Delete {
			return laketest.Fault{Before: boom}
		}
		return laketest.Fault{}
	})
	_, err = p.Sweep(t.Context(), writerA)
	require.ErrorIs(t, err, boom)
	require.ErrorIs(t, err, boom)
	require.False(t, errors.Is(err, lake.ErrNotExist))
}
