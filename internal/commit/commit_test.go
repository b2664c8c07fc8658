package commit

import (
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/internal/lake/laketest"
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

// requests counts what the bucket and the lease store were asked since the last
// call.
func (r *rig) requests() (bucket, leases int) {
	bucket, leases = len(r.bucket.Ops()), len(r.kv.ops)
	r.bucket.Script(nil)
	r.kv.set(nil)
	return bucket, leases
}

// What a window costs is a promise: docs/performance.md names these figures.
func TestRequestsOfAWindow(t *testing.T) {
	both := func(r *rig) [2]int {
		bucket, leases := r.requests()
		return [2]int{bucket, leases}
	}
	t.Run("in the bucket", func(t *testing.T) {
		r := newRig(t)
		p := r.process("a", func(o *Options) { o.Survey = NewSurvey(r.lake, testID.Sink) })
		w := r.win(writerA, 0, 10, 20)
		require.Equal(t, [2]int{1, 0}, both(r), "the object")
		r.commit(p, w)
		require.Equal(t, [2]int{2, 0}, both(r), "the first window of a new tenant: one listing of all tenants, one manifest")
		for i := range int64(30) {
			w := r.win(writerA, 20+10*i, 20+10*i, 30+10*i)
			both(r)
			r.commit(p, w)
			require.Equal(t, [2]int{1, 0}, both(r), "the manifest")
		}
	})
	t.Run("with turns", func(t *testing.T) {
		r := newRig(t)
		p := r.process("a", func(o *Options) { o.Turns = true })
		r.commit(p, r.win(writerA, 0, 10, 20))
		w := r.win(writerA, 20, 20, 30)
		both(r)
		r.commit(p, w)
		require.Equal(t, [2]int{1, 3}, both(r), "the manifest; a look at the lease, and its taking and giving back")
		ws := []Window{r.win(writerA, 30, 30, 40), r.win(writerB, 0, 5, 9), r.win(writerA, 40, 41, 50)}
		both(r)
		r.commit(p, ws...)
		require.Equal(t, [2]int{3, 3}, both(r), "three windows in one turn")
		s, held := r.head()
		require.False(t, held)
		require.Equal(t, uint64(5), s.K)
		require.Equal(t, int64(50), end(t, s, writerA))
	})
	t.Run("a start", func(t *testing.T) {
		r := newRig(t)
		p := r.process("a")
		for i := range int64(300) {
			r.commit(p, r.win(writerA, 10*i, 10*i, 10*i+10))
		}
		s, _ := r.head()
		require.Equal(t, uint64(256), s.K, "the head is saved every 128 windows")
		both(r)
		_, err := r.process("b").Read(t.Context())
		require.NoError(t, err)
		require.Equal(t, [2]int{4, 1}, both(r), "the head; the manifest it ends with, the next one, a listing, the newest")
		r.setHead(nil)
		both(r)
		_, err = r.process("c").Read(t.Context())
		require.NoError(t, err)
		require.Equal(t, [2]int{6, 1}, both(r), "no head: a listing, and one manifest of 64")
	})
	for name, c := range map[string]struct {
		replicas, most int
		regular        bool
	}{
		"three replicas, one after another": {3, 3, true},
		"ten replicas, one after another":   {10, 3, true},
		"three replicas in any order":       {3, 5, false},
		"ten replicas in any order":         {10, 5, false},
	} {
		t.Run(name, func(t *testing.T) {
			const rounds = 200
			r := newRig(t)
			order := rand.New(rand.NewPCG(1, 2))
			var ps []*process
			for i := range c.replicas {
				ps = append(ps, r.process(string(rune('a'+i)), func(o *Options) { o.Survey = NewSurvey(r.lake, testID.Sink) }))
			}
			var ends [10]int64
			both(r)
			for n := range rounds {
				i := n % c.replicas
				if !c.regular {
					i = order.IntN(c.replicas)
				}
				writer := strings.Repeat(string(rune('a'+i)), 13)
				r.commit(ps[i], r.win(writer, ends[i], 1000*int64(n+1), 1000*int64(n+1)+1))
				ends[i] = 1000*int64(n+1) + 1
			}
			bucket, leases := r.requests()
			t.Logf("%.2f requests of the bucket and %.2f of its lease a window", float64(bucket)/rounds, float64(leases)/rounds)
			require.LessOrEqual(t, bucket+leases, rounds*c.most+10*c.replicas+20)
			r.judged()
		})
	}
}

func end(t *testing.T, s State, writer string) int64 {
	t.Helper()
	w, ok := s.Writer(writer)
	require.True(t, ok)
	return w.End
}

func TestCommitLabels(t *testing.T) {
	for name, c := range map[string]struct {
		turns bool
		want  []string
	}{
		"with turns": {true, []string{"read-head", "list", "acquire", "put-manifest", "release"}},
		"without":    {false, []string{"read-head", "list", "put-manifest"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			p := r.process("a", func(o *Options) { o.Turns = c.turns })
			_, err := p.Read(t.Context())
			require.NoError(t, err)
			n, err := p.Commit(t.Context(), nil)
			require.NoError(t, err)
			require.Zero(t, n)
			r.commit(p, r.win(writerA, 0, 10, 20))
			var want []string
			for _, l := range c.want {
				want = append(want, "commit:"+l, "commit:"+l+" done")
			}
			require.Equal(t, want, p.labels)
		})
	}
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
			r.turns = true
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

func TestCommitFoldsWhatItMeets(t *testing.T) {
	r := newRig(t)
	p := r.process("a")
	r.commit(p, r.win(writerA, 0, 10, 20))
	r.putManifest(r.win(writerB, 0, 5, 8)) // another's
	r.commit(p, r.win(writerA, 20, 20, 30))
	ends, err := p.Read(t.Context())
	require.NoError(t, err)
	require.Equal(t, uint64(3), ends.K())
	require.Equal(t, map[string]int64{writerA: 30, writerB: 8}, ends.Writers())

	own := r.win(writerA, 30, 30, 40) // and its own, put by an earlier life or with an answer that was lost
	r.putManifest(own)
	r.commit(p, own)
	require.Len(t, r.judged(), 4)
}

// A head that is behind, also one that a turn brings, never sets back what this
// process knows; one that is ahead is taken.
func TestTheStateNeverGoesBack(t *testing.T) {
	r := newRig(t)
	turns := func(o *Options) { o.Turns = true }
	p, q := r.process("a", turns), r.process("b", turns)
	r.commit(p, r.win(writerA, 0, 10, 20))
	old, _ := r.head()
	r.commit(p, r.win(writerA, 20, 20, 30), r.win(writerA, 30, 30, 40))
	r.setHead(&old)
	next := r.win(writerA, 40, 40, 50)
	r.requests()
	r.commit(p, next)
	bucket, _ := r.requests()
	require.Equal(t, 1, bucket, "nothing is read again")
	_, err := q.Read(t.Context())
	require.NoError(t, err)
	r.commit(p, r.win(writerA, 50, 50, 60))
	other := r.win(writerB, 0, 5, 8)
	r.requests()
	r.commit(q, other)
	bucket, _ = r.requests()
	require.Equal(t, 1, bucket, "the head of the turn is enough")
	require.Len(t, r.judged(), 6)
}

// Who was met twice at one window is met in turns from then on, and no more
// when that time is over.
func TestCrowdedCommitsTakeTurns(t *testing.T) {
	r := newRig(t)
	p, q := r.process("a"), r.process("b")
	other := int64(10)
	race := true
	p.onStep = func(label string) {
		if label == "commit:put-manifest" && race && other < 30 {
			r.commit(q, r.win(writerB, other-10, other-10, other))
			other += 10
		}
	}
	r.commit(p, r.win(writerA, 0, 10, 20))
	require.Equal(t, 1, count(p.labels, "commit:acquire"), "after the second refusal")
	race = false
	for i := range int64(20) {
		r.commit(p, r.win(writerA, 20+i, 20+i, 21+i))
	}
	require.Equal(t, 1+crowdedTurns, count(p.labels, "commit:acquire"))
	ws := r.judged()
	require.Len(t, ws, 23)
	require.Zero(t, ws[0].Epoch, "no lease was held")
	require.NotZero(t, ws[2].Epoch)
	require.Zero(t, ws[22].Epoch)
}

// A lease that cannot be had holds up nobody who does not need it.
func TestCommitsWithoutTurnsNeedNoLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		failed := map[string]int{}
		p := r.process("a", func(o *Options) {
			o.scale.save = 4
			o.Failed = func(operation string, err error) {
				require.ErrorIs(t, err, errFault)
				failed[operation]++
			}
		})
		q := r.process("b")
		r.commit(q, r.win(writerB, 0, 1, 2))
		_, err := p.Read(t.Context())
		require.NoError(t, err)
		r.kv.set(func(int, kvOp) laketest.Fault { return laketest.Fault{Before: errFault} })
		for i := range int64(9) {
			r.commit(p, r.win(writerA, 10*i, 10*i, 10*i+10))
		}
		require.Equal(t, map[string]int{"save": 2}, failed)
		other := int64(2)
		p.onStep = func(label string) {
			if label == "commit:put-manifest" && other < 4 {
				other++
				r.commit(q, r.win(writerB, other-1, other-1, other))
			}
		}
		r.commit(p, r.win(writerA, 90, 90, 100))
		require.Equal(t, 1, failed["acquire"])
		require.Len(t, r.judged(), 1+9+2+1)
	})
}

func count(labels []string, label string) int {
	n := 0
	for _, l := range labels {
		if l == label {
			n++
		}
	}
	return n
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
			r.turns = true
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
