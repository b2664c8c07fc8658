package wal

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// scenario does a bit of everything and notes what was acknowledged. Errors are
// expected; it goes on after each.
type scenario struct {
	acked   map[string]bool // appended, not asked to be trimmed
	asked   map[string]bool // trim or aside was asked for
	gone    map[string]bool // and acknowledged
	refused map[string]bool
	seals   map[string]bool
	maybe   map[string]bool // seals with an unknown outcome
}

func newScenario() *scenario {
	return &scenario{map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}}
}

func (sc *scenario) append(w *WAL, ps ...string) {
	recs := make([]Record, len(ps))
	for i, p := range ps {
		recs[i] = rec("t", p)
	}
	err := w.Append(context.Background(), recs...)
	for _, p := range ps {
		sc.acked[p], sc.refused[p] = err == nil, err != nil
	}
}

func (sc *scenario) trim(w *WAL, entries []Entry) {
	for _, e := range entries {
		sc.asked[string(e.Payload)] = true
	}
	if w.Trim(context.Background(), seqsOf(entries)) == nil {
		for _, e := range entries {
			sc.gone[string(e.Payload)] = true
		}
	}
}

func (sc *scenario) run(t *testing.T, s *fake) {
	for round := range 2 {
		w, err := Open(context.Background(), Options{Client: s})
		if err != nil {
			continue
		}
		name := func(i int) string { return fmt.Sprintf("%d.%d", round, i) }
		sc.append(w, name(0))
		sc.append(w, name(1), name(2)+strings.Repeat("x", spacedSize))
		var got []Entry
		for range 20 { // a read that fails is repeated
			if w.Stats().UnreadEntries == 0 {
				break
			}
			entries, err := w.Read(context.Background())
			if err == nil {
				got = append(got, entries...)
			}
		}
		for _, e := range got {
			require.False(t, sc.refused[string(e.Payload)] && e.Writer == w.Writer(), "a refused append is not delivered")
		}
		value := "seal " + name(0)
		if id, err := w.PutSeal(context.Background(), []byte(value)); err != nil {
			sc.maybe[value] = true
		} else if sc.seals[value] = true; round == 0 {
			sc.seals[value] = w.DeleteSeal(context.Background(), id) != nil
			sc.maybe[value] = sc.seals[value]
		}
		if len(got) > 1 {
			sc.trim(w, got[:1])
			sc.asked[string(got[1].Payload)] = true
			sc.gone[string(got[1].Payload)] = w.SetAside(context.Background(), got[1].Seq, "x") == nil
		}
		sc.append(w, name(3))
		_ = w.Close(context.Background())
	}
}

// check opens what a crash left and compares.
func (sc *scenario) check(t *testing.T, s *fake) {
	s.fail(nil, nil)
	w := open(t, Options{Client: s})
	got := drain(t, w)
	require.True(t, slices.IsSortedFunc(got, func(a, b Entry) int { return int(a.Seq) - int(b.Seq) }))
	require.True(t, slices.IsSortedFunc(got, func(a, b Entry) int { return int(a.Stamp - b.Stamp) }))
	seen := map[string]int{}
	for _, p := range payloads(got) {
		seen[p]++
	}
	for p, n := range seen {
		require.Equal(t, 1, n, "%.20q is there once", p)
		require.False(t, sc.gone[p], "%.20q was removed", p)
	}
	for p, acked := range sc.acked {
		if acked && !sc.asked[p] {
			require.Contains(t, seen, p, "acknowledged and owed")
		}
	}
	for _, seal := range w.Seals() {
		v := string(seal.Value)
		require.True(t, sc.seals[v] || sc.maybe[v], v)
		delete(sc.seals, v)
	}
	for v, there := range sc.seals {
		require.False(t, there && !sc.maybe[v], v)
	}
	require.Zero(t, w.Stats().Damaged)
	require.NoError(t, w.Close(context.Background()))
}

// Every call of the storage in turn gives an error, before or after it took
// effect, once or from then on; then all memory is dropped.
func TestEveryStorageCallFails(t *testing.T) {
	clean := newFake()
	newScenario().run(t, clean)
	total := clean.calls
	require.Greater(t, total, 20)
	for n := range total {
		for _, mode := range []string{"before", "after", "before, for ever", "after, storage full"} {
			t.Run(fmt.Sprintf("call %d %s", n, mode), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := newFake()
					fault := func(c *call) error {
						switch {
						case c.n == n && strings.HasSuffix(mode, "full"):
							return fmt.Errorf("write: %w", syscall.ENOSPC)
						case c.n == n, c.n > n && strings.HasSuffix(mode, "ever"):
							return errInjected
						}
						return nil
					}
					if strings.HasPrefix(mode, "before") {
						s.fail(fault, nil)
					} else {
						s.fail(nil, fault)
					}
					sc := newScenario()
					sc.run(t, s)
					sc.check(t, s)
				})
			})
		}
	}
}

// The process dies at every labelled step.
func TestCrashAtEveryStep(t *testing.T) {
	var labels []string
	run := func(t *testing.T, s *fake, step func(string)) *scenario {
		sc := newScenario()
		w, err := Open(t.Context(), Options{Client: s, Step: step})
		require.NoError(t, err)
		sc.append(w, "0")
		sc.append(w, "1", "2")
		got := drain(t, w)
		_, err = w.PutSeal(t.Context(), []byte("seal"))
		require.NoError(t, err)
		sc.trim(w, got[:2])
		require.NoError(t, w.SetAside(t.Context(), got[2].Seq, "x"))
		require.NoError(t, w.Close(t.Context()))
		return sc
	}
	run(t, newFake(), func(l string) { labels = append(labels, l) })
	require.Subset(t, labels, []string{"wal:append", "wal:append done", "wal:trim", "wal:trim done", "wal:seal", "wal:aside done"})
	for i, label := range labels {
		t.Run(fmt.Sprintf("%d %s", i, label), func(t *testing.T) {
			s := newFake()
			n := 0
			var left *fake
			run(t, s, func(string) {
				if n == i {
					left = s.clone()
				}
				n++
			})
			w := open(t, Options{Client: left})
			got := payloads(drain(t, w))
			again := open(t, Options{Client: left.clone()})
			require.Equal(t, got, payloads(drain(t, again)), "recovering twice equals recovering once")
			for _, p := range got {
				require.Contains(t, []string{"0", "1", "2"}, p)
			}
			require.Zero(t, w.Stats().Damaged)
		})
	}
}
