package wal

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// scanAll reads [1, below) scan by scan, as a caller does that is behind.
func scanAll(t *testing.T, w *WAL, below uint64, want func(tenant, signal string) bool) (all []Entry, scans int) {
	t.Helper()
	for from := uint64(1); from < below; scans++ {
		end := w.Reach(from, below).End
		require.Greater(t, end, from, "a scan gets on")
		got, err := w.Scan(t.Context(), from, end, want)
		require.NoError(t, err)
		for _, e := range got.Entries {
			require.True(t, from <= e.Seq && e.Seq < end)
			if n := len(all); n > 0 {
				require.Greater(t, e.Seq, all[n-1].Seq)
			}
			all = append(all, e)
		}
		if n := len(all); n > 0 && got.Next != (Safe{}) {
			require.Greater(t, got.Next.Time, all[n-1].Stamp, "no stamp is cut")
		}
		from = end
	}
	return all, scans
}

func TestScanReadsPastTheReader(t *testing.T) {
	stores(t, func(t *testing.T, s store) {
		w := open(t, Options{Client: s.client(t)})
		for i := range 40 {
			add(t, w, rec("a", fmt.Sprint("a", i, strings.Repeat("x", 100_000))), rec("b", fmt.Sprint("b", i)), rec("a", "a"))
		}
		live := drain(t, w)
		below := live[len(live)-1].Seq + 1
		onlyB := func(tenant, signal string) bool { return tenant == "b" && signal == "logs" }
		got, scans := scanAll(t, w, below, onlyB)
		require.Greater(t, scans, 1)
		require.Len(t, got, 40)
		for i, e := range got {
			require.Equal(t, live[3*i+1], e)
		}
		var gone []uint64
		for i, e := range live {
			if i%3 > 0 || i < 60 {
				gone = append(gone, e.Seq)
			}
		}
		require.NoError(t, w.Trim(t.Context(), gone))
		got, _ = scanAll(t, w, below, nil)
		require.Len(t, got, 20, "what was trimmed is not there")
		require.NoError(t, w.Trim(t.Context(), seqsOf(live)))
		require.Equal(t, below, w.Reach(1, below).End, "nothing is left: one scan comes to the end")
		empty, err := w.Scan(t.Context(), 1, below, nil)
		require.NoError(t, err)
		require.Empty(t, empty.Entries)
		require.Zero(t, empty.Next)
	})
}

// A group that is larger than a scan is one by itself, and neither it nor a
// group before it is cut.
func TestScanNeverCutsAStamp(t *testing.T) {
	w := open(t, Options{Client: newFake()})
	add(t, w, rec("a", "before"))
	var large []Record
	for i := range 50 {
		large = append(large, rec("a", fmt.Sprint(i, strings.Repeat("y", 100_000))))
	}
	add(t, w, large...)
	add(t, w, rec("a", "behind"))
	live := drain(t, w)
	got, scans := scanAll(t, w, live[51].Seq+1, nil)
	require.Equal(t, live, got)
	require.Equal(t, 3, scans)
}

func TestScanSetsDamageAside(t *testing.T) {
	s := newFake()
	w := open(t, Options{Client: s})
	for i := range 3 {
		add(t, w, rec("a", fmt.Sprint(i)))
	}
	live := drain(t, w)
	raw, err := s.Get(t.Context(), numbered(entryPrefix, live[1].Seq))
	require.NoError(t, err)
	broken := append([]byte{}, raw...)
	broken[len(broken)-1] ^= 1
	require.NoError(t, s.Set(t.Context(), numbered(entryPrefix, live[1].Seq), broken))
	got, err := w.Scan(t.Context(), 1, live[2].Seq+1, nil)
	require.NoError(t, err)
	require.Equal(t, []Entry{live[0], live[2]}, got.Entries)
	require.EqualValues(t, 1, w.Stats().Damaged)
	require.NoError(t, w.do(nothing("wait"), nil))
	aside, err := w.Aside(t.Context())
	require.NoError(t, err)
	require.Len(t, aside, 1)
}

func TestBacklogSaysWhoseEntriesWereLeft(t *testing.T) {
	stores(t, func(t *testing.T, s store) {
		w := open(t, Options{Client: s.client(t)})
		require.Empty(t, w.Backlog())
		one := w.Writer()
		for range 3 {
			add(t, w, rec("a", "0"), rec("b", "1"))
		}
		live := drain(t, w)
		require.NoError(t, w.Trim(t.Context(), seqsOf(live[:1])))
		require.NoError(t, w.Close(t.Context()))

		w = open(t, Options{Client: s.client(t)})
		two := w.Writer()
		add(t, w, rec("a", "2"))
		require.Len(t, w.Backlog(), 2, "as of the open")
		require.NoError(t, w.Close(t.Context()))

		w = open(t, Options{Client: s.client(t)})
		got := map[string]Backlog{}
		for _, b := range w.Backlog() {
			require.Equal(t, "logs", b.Signal)
			got[b.Tenant+" "+b.Writer] = b
		}
		require.Len(t, got, 3)
		a, b, c := got["a "+one], got["b "+one], got["a "+two]
		require.EqualValues(t, 2, a.Entries)
		require.Equal(t, live[2].Seq, a.First)
		require.Equal(t, []int64{live[2].Stamp, live[4].Stamp}, []int64{a.FirstStamp, a.LastStamp})
		require.EqualValues(t, 3, b.Entries)
		require.EqualValues(t, 1, c.Entries)
		require.Positive(t, c.Bytes)
	})
}
