package commit

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/s3window/s3window/extension/leaseextension/lease"
	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/partition"
)

var hexSHA = strings.Repeat("0123456789abcdef", 4)

// stateOf makes a state of writers whose names are padded.
func stateOf(k, pruned int64, writers map[string]Writer) State {
	s := State{K: uint64(k), ManifestSHA256: hexSHA, Pruned: pruned}
	for name, w := range writers {
		s.set(padded(name), w.End, w.K, w.At)
	}
	return s
}

func padded(name string) string { return (name + "aaaaaaaaaaaaa")[:13] }

func TestDecodeStateRefuses(t *testing.T) {
	writer := func(v string) string {
		return `{"state":2,"k":1,"manifest_sha256":"` + hexSHA + `","writers":{"aaaaaaaaaaaaa":` + v + `},"pruned":0}`
	}
	_, err := decodeState([]byte(writer(`[1,1,0]`)))
	require.NoError(t, err)
	for name, raw := range map[string]string{
		"no JSON":            `{`,
		"newer version":      `{"state":3,"k":0,"manifest_sha256":"","writers":{},"pruned":0}`,
		"k of another type":  `{"k":"41"}`,
		"negative k":         `{"k":-1}`,
		"k without manifest": `{"k":1,"manifest_sha256":"","writers":{},"pruned":0}`,
		"short sha":          `{"k":1,"manifest_sha256":"ab","writers":{},"pruned":0}`,
		"upper-case sha":     `{"k":1,"manifest_sha256":"` + strings.ToUpper(hexSHA) + `","writers":{},"pruned":0}`,
		"manifest without k": `{"k":0,"manifest_sha256":"` + hexSHA + `","writers":{},"pruned":0}`,
		"writer without k":   `{"k":0,"manifest_sha256":"","writers":{"aaaaaaaaaaaaa":[1,1,0]},"pruned":0}`,
		"writer ahead of k":  writer(`[1,2,0]`),
		"writer in window 0": writer(`[1,0,0]`),
		"writer without end": writer(`[0,1,0]`),
		"two numbers":        writer(`[1,1]`),
		"four numbers":       writer(`[1,1,0,0]`),
		"a text":             writer(`["1",1,0]`),
		"short name":         strings.ReplaceAll(writer(`[1,1,0]`), "aaaaaaaaaaaaa", "a"),
		"negative pruned":    `{"k":1,"manifest_sha256":"` + hexSHA + `","writers":{},"pruned":-1}`,
	} {
		t.Run(name, func(t *testing.T) {
			_, err := decodeState([]byte(raw))
			require.ErrorContains(t, err, "decode head: ")
		})
	}
}

func TestStateGolden(t *testing.T) {
	want := stateOf(41, 1790000000000000, map[string]Writer{
		"q7m2": {End: 1791009458377856, K: 41, At: 1791009464},
		"b2":   {End: 1791009400000001, K: 40, At: 1791009401},
	})
	golden, err := os.ReadFile("testdata/state-v2.json")
	require.NoError(t, err)
	require.Equal(t, strings.TrimSpace(string(golden)), string(want.encode()))
	for _, version := range []string{"v1", "v2"} {
		golden, err := os.ReadFile("testdata/state-" + version + ".json")
		require.NoError(t, err)
		got, err := decodeState(golden)
		require.NoError(t, err)
		require.Equal(t, want, got, version)
	}
	require.Equal(t, `{"state":2,"k":0,"manifest_sha256":"","writers":{},"pruned":0}`, string((&State{}).encode()))
}

// A head with all the writers that it may name fits into a lease.
func TestTheLargestHeadFits(t *testing.T) {
	s := State{K: 1e10, ManifestSHA256: hexSHA, Pruned: 1791009458377856}
	for i := range maxWriters + lake.Span {
		s.set(padded(fmt.Sprintf("%08d", i)), 1791009458377856, 1e10, 1791009464)
	}
	require.LessOrEqual(t, len(s.encode()), lease.MaxState)
}

func FuzzDecodeState(f *testing.F) {
	f.Add([]byte(`{"state":2,"k":0,"manifest_sha256":"","writers":{},"pruned":0}`))
	f.Add([]byte(`{"k":1,"manifest_sha256":"` + hexSHA + `","writers":{"aaaaaaaaaaaaa":{"end":1,"k":1,"at":0}},"pruned":9}`))
	f.Add([]byte(`{"state":2,"k":1,"manifest_sha256":"` + hexSHA + `","writers":{"aaaaaaaaaaaaa":[1,1,0]},"pruned":9}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		s, err := decodeState(raw)
		if err != nil {
			return
		}
		again, err := decodeState(s.encode())
		require.NoError(t, err)
		require.Equal(t, s.encode(), again.encode())
	})
}

func TestPrune(t *testing.T) {
	const k = 999
	old, young := uint32(100), uint32(1000)
	many := map[string]Writer{"newest": {End: 5, K: k, At: 0}, "own": {End: 7, K: 3, At: 0}}
	for i := range maxWriters + 3 {
		many[fmt.Sprintf("w%04d", i)] = Writer{End: int64(100000 - i), K: uint64(1 + i%(k-lake.Span)), At: young + uint32(i)}
	}
	for name, c := range map[string]struct {
		in         State
		gone, kept []string
		pruned     int64
	}{
		"none is old": {
			stateOf(k, 3, map[string]Writer{"a": {End: 7, K: 1, At: young}, "b": {End: 9, K: 2, At: young}}),
			nil, []string{"a", "b"}, 3,
		},
		"the old one goes and raises pruned": {
			stateOf(k, 3, map[string]Writer{"a": {End: 7, K: 1, At: old}, "b": {End: 9, K: 2, At: young}}),
			[]string{"a"}, []string{"b"}, 7,
		},
		"pruned never falls": {
			stateOf(k, 30, map[string]Writer{"a": {End: 7, K: 1, At: old}, "b": {End: 9, K: 2, At: young}}),
			[]string{"a"}, []string{"b"}, 30,
		},
		"the newest windows' writers stay, whatever their clocks say": {
			stateOf(k, 0, map[string]Writer{"a": {End: 7, K: k - lake.Span, At: old}, "b": {End: 9, K: k - lake.Span + 1, At: old}}),
			[]string{"a"}, []string{"b"}, 7,
		},
		"those of this process stay": {
			stateOf(k, 0, map[string]Writer{"own": {End: 7, K: 1, At: old}}),
			nil, []string{"own"}, 0,
		},
		"too many: the oldest go": {
			stateOf(k, 0, many),
			[]string{"w0000", "w0001", "w0002"}, []string{"w0003", "newest", "own"}, 100000,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := c.in.clone()
			got.prune(pruning{before: 500, spare: func(w string) bool { return w == padded("own") }, scale: fullScale})
			require.Equal(t, c.pruned, got.Pruned)
			require.LessOrEqual(t, len(got.writers), maxWriters+2)
			for _, w := range c.gone {
				_, ok := got.Writer(padded(w))
				require.False(t, ok, w)
			}
			for _, w := range c.kept {
				_, ok := got.Writer(padded(w))
				require.True(t, ok, w)
			}
		})
	}
}

func TestAmbiguous(t *testing.T) {
	s := stateOf(1, 100, map[string]Writer{"there": {End: 50, K: 1}})
	for name, c := range map[string]struct {
		writer       string
		after, start int64
		want         bool
	}{
		"named":                              {"there", 50, 60, false},
		"absent, older than what was pruned": {"gone", 0, 99, true},
		"absent, as old as the highest pruned end":      {"gone", 0, 100, false},
		"absent, follows an end that may be pruned":     {"gone", 100, 200, true},
		"absent, follows an end that was not pruned":    {"gone", 101, 200, false},
		"absent, young, follows nothing":                {"gone", 0, 200, false},
		"absent, starts below and follows a pruned end": {"gone", 40, 60, true},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, s.ambiguous(padded(c.writer), c.after, c.start))
		})
	}
	require.False(t, (&State{}).ambiguous(padded("gone"), 0, 1), "nothing was ever pruned")
}

// What a state says of its newest windows is all that a manifest must name, and
// a state that folds the manifest alone knows as much as one that folds all.
func TestLeapKnowsWhatFoldingKnows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		span := rapid.Uint64Range(1, 5).Draw(t, "span")
		var all, leaping State
		ends := map[string]int64{}
		for k := range rapid.Uint64Range(1, 30).Draw(t, "windows") {
			writer := padded(rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f"}).Draw(t, "writer"))
			ends[writer] += rapid.Int64Range(1, 9).Draw(t, "length")
			m := lake.Manifest{K: k + 1, Writer: writer, End: ends[writer], Writers: all.recent(span, writer, ends[writer])}
			all.fold(m, fmt.Sprint(k))
			if leaping.K+span == m.K || rapid.Bool().Draw(t, "leap") {
				if why := disagrees(&leaping, span, m); why != "" {
					t.Fatalf("window %d: %s", m.K, why)
				}
				leaping.leap(m, fmt.Sprint(k))
				if !reflect.DeepEqual(all, leaping) {
					t.Fatalf("at %d\n folded %+v\n leapt  %+v", m.K, all, leaping)
				}
			}
		}
	})
}

func TestDisagrees(t *testing.T) {
	s := stateOf(40, 0, map[string]Writer{"a": {End: 70, K: 40}, "b": {End: 90, K: 39}, "old": {End: 5, K: 3}})
	good := func() map[string]lake.Reach {
		return map[string]lake.Reach{padded("a"): {End: 70, K: 40}, padded("b"): {End: 95, K: 41}, padded("c"): {End: 7, K: 42}}
	}
	require.Empty(t, disagrees(&s, 4, lake.Manifest{K: 42, Writers: good()}))
	require.Empty(t, disagrees(&s, 4, lake.Manifest{K: 42}), "version 1 says nothing")
	for name, damage := range map[string]func(w map[string]lake.Reach){
		"a writer is missing":      func(w map[string]lake.Reach) { delete(w, padded("a")) },
		"an older window":          func(w map[string]lake.Reach) { w[padded("a")] = lake.Reach{End: 70, K: 39} },
		"a lower end":              func(w map[string]lake.Reach) { w[padded("b")] = lake.Reach{End: 89, K: 41} },
		"another end of the same":  func(w map[string]lake.Reach) { w[padded("a")] = lake.Reach{End: 71, K: 40} },
		"a lower end of the same ": func(w map[string]lake.Reach) { w[padded("a")] = lake.Reach{End: 69, K: 40} },
	} {
		t.Run(name, func(t *testing.T) {
			w := good()
			damage(w)
			require.NotEmpty(t, disagrees(&s, 4, lake.Manifest{K: 42, Writers: w}))
		})
	}
}

func TestPlaceAndFollows(t *testing.T) {
	id := partition.ID{Sink: "default", Tenant: "acme", Signal: partition.Logs}
	s := &State{K: 4, ManifestSHA256: hexSHA}
	good := lake.Manifest{
		Sink: id.Sink, Tenant: id.Tenant, Signal: id.Signal, K: 5, Writer: "aaaaaaaaaaaaa", After: 10, Start: 12, End: 20,
		Prev: &lake.Prev{K: 4, Key: partition.ManifestKey("p", id, 4), SHA256: hexSHA},
	}
	require.Empty(t, place(s, "p", id, good))
	for name, c := range map[string]struct {
		damage func(m *lake.Manifest)
		why    string
	}{
		"another partition":        {func(m *lake.Manifest) { m.Tenant = "evil" }, "it is of partition"},
		"another number":           {func(m *lake.Manifest) { m.K = 6 }, "it says k 6"},
		"no writer":                {func(m *lake.Manifest) { m.Writer = "" }, "is not a window"},
		"starts in the one before": {func(m *lake.Manifest) { m.After = 13 }, "is not a window"},
		"empty":                    {func(m *lake.Manifest) { m.End = 12 }, "is not a window"},
		"no prev":                  {func(m *lake.Manifest) { m.Prev = nil }, "does not name manifest 4"},
		"prev of other k":          {func(m *lake.Manifest) { m.Prev.K = 3 }, "the log ends with"},
		"prev elsewhere":           {func(m *lake.Manifest) { m.Prev.Key = "x" }, "the log ends with"},
		"prev of other bytes":      {func(m *lake.Manifest) { m.Prev.SHA256 = strings.Repeat("0", 64) }, "the log ends with"},
	} {
		t.Run(name, func(t *testing.T) {
			m, prev := good, *good.Prev
			m.Prev = &prev
			c.damage(&m)
			require.Contains(t, place(s, "p", id, m), c.why)
		})
	}
	first := good
	first.K = 1
	require.Contains(t, place(&State{}, "p", id, first), "names one before it")
	first.Prev = nil
	require.Empty(t, place(&State{}, "p", id, first))

	require.True(t, follows(good, 10))
	require.False(t, follows(good, 0), "a window before it is missing")
	require.False(t, follows(good, 11), "committed further by another")
	blind := good
	blind.After = 0
	require.True(t, follows(blind, 12), "its committer could not see the pruned end")
	require.False(t, follows(blind, 13), "it doubles what is committed")
}
