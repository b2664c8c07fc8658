package commit

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/partition"
)

var hexSHA = strings.Repeat("0123456789abcdef", 4)

func TestDecodeStateRefuses(t *testing.T) {
	for name, raw := range map[string]string{
		"no JSON":             `{`,
		"k of another type":   `{"k":"41"}`,
		"negative k":          `{"k":-1}`,
		"k without manifest":  `{"k":1,"manifest_sha256":"","writers":{},"pruned":0}`,
		"short sha":           `{"k":1,"manifest_sha256":"ab","writers":{},"pruned":0}`,
		"upper-case sha":      `{"k":1,"manifest_sha256":"` + strings.ToUpper(hexSHA) + `","writers":{},"pruned":0}`,
		"manifest without k":  `{"k":0,"manifest_sha256":"` + hexSHA + `","writers":{},"pruned":0}`,
		"writer without k":    `{"k":0,"manifest_sha256":"","writers":{"a":{"end":1,"k":1,"at":0}},"pruned":0}`,
		"writer ahead of k":   `{"k":1,"manifest_sha256":"` + hexSHA + `","writers":{"a":{"end":1,"k":2,"at":0}},"pruned":0}`,
		"writer in window 0":  `{"k":1,"manifest_sha256":"` + hexSHA + `","writers":{"a":{"end":1,"k":0,"at":0}},"pruned":0}`,
		"writer without end":  `{"k":1,"manifest_sha256":"` + hexSHA + `","writers":{"a":{"end":0,"k":1,"at":0}},"pruned":0}`,
		"writer without name": `{"k":1,"manifest_sha256":"` + hexSHA + `","writers":{"":{"end":1,"k":1,"at":0}},"pruned":0}`,
		"negative pruned":     `{"k":1,"manifest_sha256":"` + hexSHA + `","writers":{},"pruned":-1}`,
	} {
		t.Run(name, func(t *testing.T) {
			_, err := decodeState([]byte(raw))
			require.ErrorContains(t, err, "decode head: ")
		})
	}
}

func TestStateGolden(t *testing.T) {
	golden, err := os.ReadFile("testdata/state-v1.json")
	require.NoError(t, err)
	want := State{K: 41, ManifestSHA256: hexSHA, Pruned: 1790000000000000, Writers: map[string]Writer{
		"q7m2aaaaaaaaa": {End: 1791009458377856, K: 41, At: 1791009464741000},
		"b2aaaaaaaaaaa": {End: 1791009400000001, K: 40, At: 1791009401000000},
	}}
	got, err := decodeState(golden)
	require.NoError(t, err)
	require.Equal(t, want, got)
	raw, err := want.encode()
	require.NoError(t, err)
	require.Equal(t, strings.TrimSpace(string(golden)), string(raw))

	raw, err = State{}.encode()
	require.NoError(t, err)
	require.Equal(t, `{"k":0,"manifest_sha256":"","writers":{},"pruned":0}`, string(raw))
}

func FuzzDecodeState(f *testing.F) {
	f.Add([]byte(`{"k":0,"manifest_sha256":"","writers":{},"pruned":0}`))
	f.Add([]byte(`{"k":1,"manifest_sha256":"` + hexSHA + `","writers":{"a":{"end":1,"k":1,"at":0}},"pruned":9}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		s, err := decodeState(raw)
		if err != nil {
			return
		}
		canonical, err := s.encode()
		require.NoError(t, err)
		again, err := decodeState(canonical)
		require.NoError(t, err)
		twice, err := again.encode()
		require.NoError(t, err)
		require.Equal(t, canonical, twice)
	})
}

func TestPrune(t *testing.T) {
	now := time.UnixMicro(1_000_000_000)
	old, young := now.Add(-2*time.Hour).UnixMicro(), now.Add(-time.Minute).UnixMicro()
	many := map[string]Writer{"newest": {End: 5, K: 999, At: 0}}
	for i := range maxWriters + 3 {
		many[fmt.Sprintf("w%03d", i)] = Writer{End: int64(1000 - i), K: uint64(i + 1), At: young + int64(i)}
	}
	for name, c := range map[string]struct {
		in         State
		gone, kept []string
		pruned     int64
	}{
		"none is old": {
			State{K: 2, Writers: map[string]Writer{"a": {End: 7, K: 1, At: young}, "b": {End: 9, K: 2, At: young}}, Pruned: 3},
			nil, []string{"a", "b"}, 3,
		},
		"the old one goes and raises pruned": {
			State{K: 2, Writers: map[string]Writer{"a": {End: 7, K: 1, At: old}, "b": {End: 9, K: 2, At: young}}, Pruned: 3},
			[]string{"a"}, []string{"b"}, 7,
		},
		"pruned never falls": {
			State{K: 2, Writers: map[string]Writer{"a": {End: 7, K: 1, At: old}, "b": {End: 9, K: 2, At: young}}, Pruned: 30},
			[]string{"a"}, []string{"b"}, 30,
		},
		"the newest window's writer stays, whatever its clock says": {
			State{K: 2, Writers: map[string]Writer{"a": {End: 7, K: 1, At: young}, "b": {End: 9, K: 2, At: old}}},
			nil, []string{"a", "b"}, 0,
		},
		"too many: the oldest go": {
			State{K: 999, Writers: many},
			[]string{"w000", "w001", "w002", "w003"}, []string{"w004", "newest"}, 1000,
		},
	} {
		t.Run(name, func(t *testing.T) {
			before := c.in.clone()
			got := c.in.prune(now, time.Hour)
			require.Equal(t, before, c.in, "prune changed its input")
			require.Equal(t, c.pruned, got.Pruned)
			require.LessOrEqual(t, len(got.Writers), maxWriters)
			for _, w := range c.gone {
				require.NotContains(t, got.Writers, w)
			}
			for _, w := range c.kept {
				require.Contains(t, got.Writers, w)
			}
		})
	}
}

func TestAmbiguous(t *testing.T) {
	s := State{K: 1, Writers: map[string]Writer{"there": {End: 50, K: 1}}, Pruned: 100}
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
			require.Equal(t, c.want, s.ambiguous(c.writer, c.after, c.start))
		})
	}
	require.False(t, State{}.ambiguous("gone", 0, 1), "nothing was ever pruned")
}

func TestPlaceAndFollows(t *testing.T) {
	id := partition.ID{Sink: "default", Tenant: "acme", Signal: partition.Logs}
	s := State{K: 4, ManifestSHA256: hexSHA}
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
	require.Contains(t, place(State{}, "p", id, first), "names one before it")
	first.Prev = nil
	require.Empty(t, place(State{}, "p", id, first))

	require.True(t, follows(good, 10))
	require.False(t, follows(good, 0), "a window before it is missing")
	require.False(t, follows(good, 11), "committed further by another")
	blind := good
	blind.After = 0
	require.True(t, follows(blind, 12), "its committer could not see the pruned end")
	require.False(t, follows(blind, 13), "it doubles what is committed")
}
