package commit

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/internal/partition"
)

func TestCommitRefusesWhatIsNoWindow(t *testing.T) {
	r := newRig(t)
	p := r.process("a")
	good := r.win(writerA, 0, 10, 20)
	for name, damage := range map[string]func(w *Window){
		"another partition":   func(w *Window) { w.ID.Tenant = "evil" },
		"no writer":           func(w *Window) { w.Writer = "" },
		"empty":               func(w *Window) { w.End = w.Start },
		"starts before After": func(w *Window) { w.After = 11 },
	} {
		t.Run(name, func(t *testing.T) {
			w := good
			damage(&w)
			n, err := p.Commit(t.Context(), []Window{good, w})
			require.ErrorContains(t, err, "not a window of it")
			require.Zero(t, n)
		})
	}
	require.Empty(t, r.kv.ops, "refused before anything was asked of a store")
}

func TestCommitTwoWritesAWindow(t *testing.T) {
	r := newRig(t)
	p := r.process("a")
	r.commit(p, r.win(writerA, 0, 10, 20))
	require.Equal(t, 2, r.kv.count("put"), "first window of a partition")

	r.kv.set(nil)
	r.commit(p, r.win(writerA, 20, 20, 30))
	require.Equal(t, 2, r.kv.count("put"))

	r.kv.set(nil)
	r.commit(p, r.win(writerA, 30, 30, 40), r.win(writerB, 0, 5, 9), r.win(writerA, 40, 41, 50))
	require.Equal(t, 4, r.kv.count("put"), "three windows under one lease")

	s, held := r.head()
	require.False(t, held)
	require.Equal(t, uint64(5), s.K)
	require.Equal(t, int64(50), s.Writers[writerA].End)
	require.Len(t, r.judged(), 5)
	n, err := p.Commit(t.Context(), nil)
	require.NoError(t, err)
	require.Zero(t, n)
}

func TestCommitLabels(t *testing.T) {
	r := newRig(t)
	p := r.process("a")
	_, err := p.Read(t.Context())
	require.NoError(t, err)
	r.commit(p, r.win(writerA, 0, 10, 20))
	var want []string
	for _, l := range []string{"read-head", "rebuild", "look", "acquire", "!after_acquire", "rebuild", "look", "put-manifest", "!after_manifest", "confirm", "!after_confirm"} {
		if point, ok := strings.CutPrefix(l, "!"); ok {
			want = append(want, point)
			continue
		}
		want = append(want, "commit:"+l, "commit:"+l+" done")
	}
	require.Equal(t, want, p.labels)
}

func TestCommitCoveredWindowCounts(t *testing.T) {
	r := newRig(t)
	p := r.process("a")
	w1, w2 := r.win(writerA, 0, 10, 20), r.win(writerA, 20, 20, 30)
	r.commit(p, w1, w2)
	r.commit(p, w1)
	r.commit(r.process("b"), w1, w2, r.win(writerA, 30, 30, 40))
	require.Len(t, r.judged(), 3)
}

func TestCommitOverlap(t *testing.T) {
	for name, c := range map[string]struct {
		window [3]int64
		end    int64
	}{
		"a window before it is missing":              {[3]int64{30, 30, 40}, 20},
		"starts in what is committed":                {[3]int64{0, 15, 40}, 20},
		"follows what is older":                      {[3]int64{10, 25, 40}, 20},
		"follows nothing, but the writer has an end": {[3]int64{0, 25, 40}, 20},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			p := r.process("a")
			r.commit(p, r.win(writerA, 0, 10, 20))
			other := r.win(writerB, 0, 1, 2)
			n, err := p.Commit(t.Context(), []Window{other, r.win(writerA, c.window[0], c.window[1], c.window[2])})
			var overlap *Overlap
			require.ErrorAs(t, err, &overlap)
			require.Equal(t, &Overlap{Writer: writerA, After: c.window[0], End: c.end}, overlap)
			require.Equal(t, 1, n, "the window before it is committed")
			require.Len(t, r.judged(), 2)
			_, held := r.head()
			require.False(t, held, "the lease is given back")
		})
	}
}

func TestCommitAdoptsWhatItFinds(t *testing.T) {
	r := newRig(t)
	r.commit(r.process("a"), r.win(writerA, 0, 10, 20))
	r.putManifest(r.win(writerB, 0, 5, 8)) // dead between manifest and confirmation
	p := r.process("c")
	r.kv.set(nil)
	r.commit(p, r.win(writerA, 20, 20, 30))
	require.Equal(t, 2, r.kv.count("put"))
	s, _ := r.head()
	require.Equal(t, uint64(3), s.K)
	require.Equal(t, int64(8), s.Writers[writerB].End)
	require.Len(t, r.judged(), 3)

	own := r.win(writerA, 30, 30, 40) // and its own of an earlier life
	r.putManifest(own)
	r.commit(p, own)
	require.Len(t, r.judged(), 4)
	s, _ = r.head()
	require.Equal(t, uint64(4), s.K)
}

func TestBlockedTouchesNothing(t *testing.T) {
	key := partition.ManifestKey(testRef.Prefix, testID, 2)
	for name, c := range map[string]struct {
		put func(r *rig)
		why string
	}{
		"no JSON": {func(r *rig) { r.bucket.Set(key, []byte("{")) }, "decode manifest"},
		"another partition's": {func(r *rig) {
			raw, _ := r.bucket.Content(partition.ManifestKey(testRef.Prefix, testID, 1))
			r.bucket.Set(key, []byte(strings.ReplaceAll(string(raw), `"acme"`, `"evil"`)))
		}, "it says that it is manifest 1"},
		"a copy of the one before": {func(r *rig) {
			raw, _ := r.bucket.Content(partition.ManifestKey(testRef.Prefix, testID, 1))
			r.bucket.Set(key, raw)
		}, "it says that it is manifest 1"},
		"overlaps its writer": {func(r *rig) { r.putManifest(r.win(writerA, 0, 15, 25)) }, "committed up to 20"},
		"skips a window":      {func(r *rig) { r.putManifest(r.win(writerA, 30, 30, 40)) }, "committed up to 20"},
		"of another chain": {func(r *rig) {
			first := partition.ManifestKey(testRef.Prefix, testID, 1)
			raw, _ := r.bucket.Content(first)
			r.bucket.Set(first, []byte(strings.Replace(string(raw), `"age"`, `"size"`, 1)))
			r.putManifest(r.win(writerA, 20, 20, 25))
			r.bucket.Set(first, raw)
		}, "the log ends with"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			p := r.process("a")
			r.commit(p, r.win(writerA, 0, 10, 20))
			c.put(r)
			w := r.win(writerA, 20, 20, 30)
			before, keys := r.bucket.Clone(), r.bucket.Keys("")
			for range 2 {
				var blocked *Blocked
				_, err := p.Commit(t.Context(), []Window{w})
				require.ErrorAs(t, err, &blocked)
				require.Equal(t, key, blocked.Key)
				require.Contains(t, err.Error(), c.why)
				_, err = p.Read(t.Context())
				require.ErrorAs(t, err, &blocked)
			}
			require.Equal(t, keys, r.bucket.Keys(""))
			for _, k := range keys {
				want, _ := before.Content(k)
				got, _ := r.bucket.Content(k)
				require.Equal(t, want, got)
			}
			s, held := r.head()
			require.False(t, held)
			require.Equal(t, uint64(1), s.K)
		})
	}
}
