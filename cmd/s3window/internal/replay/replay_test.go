package replay

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/partition"
)

func memoryState(t *testing.T, s Selection) *State {
	state, err := OpenState("", "b/otel", "x", s)
	require.NoError(t, err)
	return state
}

func both(a, b map[string]int) map[string]int {
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}

func TestEveryRecordArrivesOnce(t *testing.T) {
	l, r := fill(t), receive(t)
	var p Progress
	parts, err := Lake(t.Context(), l.Lake, r.client(t), memoryState(t, Selection{}), Options{RequestBytes: 200}, &p)
	require.NoError(t, err)
	require.Equal(t, both(bodies("acme", 1, 1, 2, 3, 4), bodies("globex", 1, 1, 2)), r.got)
	require.LessOrEqual(t, r.largest, 200)
	require.Equal(t, []string{"t-globex"}, r.headers.Get("x-scope-orgid"))
	require.Len(t, parts, 2)
	require.Equal(t, Partition{ID: acme, First: 1, Last: 4, Windows: 4, Records: 40, Bytes: parts[0].Bytes}, parts[0])
	require.EqualValues(t, 6, p.Windows.Load())
	require.EqualValues(t, 60, p.Records.Load())
	require.EqualValues(t, r.calls, p.Requests.Load())
}

func TestSelection(t *testing.T) {
	l := fill(t)
	for name, c := range map[string]struct {
		s    Selection
		want map[string]int
	}{
		"tenant":            {Selection{Tenant: "globex"}, bodies("globex", 1, 1, 2)},
		"sink":              {Selection{Sink: "default"}, bodies("acme", 1, 1, 2, 3, 4)},
		"signal":            {Selection{Signal: partition.Logs, Tenant: "acme"}, bodies("acme", 1, 1, 2, 3, 4)},
		"k":                 {Selection{FirstK: 2, LastK: 3}, both(bodies("acme", 1, 2, 3), bodies("globex", 1, 2))},
		"k from":            {Selection{FirstK: 4}, bodies("acme", 1, 4)},
		"k to":              {Selection{LastK: 1}, both(bodies("acme", 1, 1), bodies("globex", 1, 1))},
		"from":              {Selection{Tenant: "acme", From: at(3)}, bodies("acme", 1, 3, 4)},
		"to":                {Selection{Tenant: "acme", To: at(3)}, bodies("acme", 1, 1, 2)},
		"within one window": {Selection{Tenant: "acme", From: at(3) + 1, To: at(3) + 2}, bodies("acme", 1, 3)},
	} {
		t.Run(name, func(t *testing.T) {
			r := receive(t)
			_, err := Lake(t.Context(), l.Lake, r.client(t), memoryState(t, c.s), Options{Selection: c.s, RequestBytes: 1 << 20}, &Progress{})
			require.NoError(t, err)
			require.Equal(t, c.want, r.got)
		})
	}
	_, err := Lake(t.Context(), l.Lake, nil, memoryState(t, Selection{}), Options{Selection: Selection{Tenant: "nobody"}}, &Progress{})
	require.ErrorIs(t, err, ErrEmpty)
}

func TestDryRunSendsNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	state, err := OpenState(path, "b/otel", "x", Selection{})
	require.NoError(t, err)
	parts, err := Lake(t.Context(), fill(t).Lake, nil, state, Options{DryRun: true}, &Progress{})
	require.NoError(t, err)
	require.EqualValues(t, 40, parts[0].Records)
	require.NoFileExists(t, path)
}

// Wherever a run ends, the next one goes on with the window that was under way:
// nothing is missing, and nothing else comes twice.
func TestResumeAfterFailureAnywhere(t *testing.T) {
	l := fill(t)
	all := both(bodies("acme", 1, 1, 2, 3, 4), bodies("globex", 1, 1, 2))
	for fail := 1; ; fail++ {
		path := filepath.Join(t.TempDir(), "state")
		r := receive(t)
		r.answer = func(call int) (int64, error) {
			if call == fail {
				return 0, status.Error(codes.PermissionDenied, "no")
			}
			return 0, nil
		}
		run := func() error {
			state, err := OpenState(path, "b/otel", r.addr, Selection{})
			require.NoError(t, err)
			_, err = Lake(t.Context(), l.Lake, r.client(t), state, Options{RequestBytes: 150}, &Progress{})
			return err
		}
		first := run()
		if first == nil {
			require.Greater(t, fail, 12, "requests in all")
			require.Equal(t, all, r.got)
			break
		}
		require.ErrorContains(t, first, "send ")
		require.NoError(t, run())
		twice := map[string]bool{}
		for b, n := range r.got {
			require.Contains(t, all, b)
			require.LessOrEqual(t, n, 2)
			if n == 2 {
				twice[b[:strings.LastIndexByte(b, '/')]] = true
			}
		}
		require.Len(t, r.got, len(all), "failure of request %d", fail)
		require.LessOrEqual(t, len(twice), 1, "windows sent twice after failure of request %d", fail)
		require.NoError(t, run())
	}
}

func TestWhatIsTriedAgain(t *testing.T) {
	exhausted := status.New(codes.ResourceExhausted, "slow down")
	told, err := exhausted.WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(time.Millisecond)})
	require.NoError(t, err)
	l := fill(t)
	for name, c := range map[string]struct {
		err   error
		calls int
	}{
		"unavailable":             {status.Error(codes.Unavailable, ""), 3},
		"exhausted, told to wait": {told.Err(), 3},
		"permission denied":       {status.Error(codes.PermissionDenied, ""), 1},
	} {
		t.Run(name, func(t *testing.T) {
			r := receive(t)
			r.answer = func(call int) (int64, error) {
				if call <= 2 {
					return 0, c.err
				}
				return 0, nil
			}
			s := Selection{Tenant: "acme", LastK: 1}
			_, err := Lake(t.Context(), l.Lake, r.client(t), memoryState(t, s), Options{Selection: s, RequestBytes: 1 << 20}, &Progress{})
			if c.calls == 1 {
				require.Error(t, err)
				require.Equal(t, 1, r.calls)
				return
			}
			require.NoError(t, err)
			require.Equal(t, bodies("acme", 1, 1), r.got)
		})
	}
}

func TestRefusedRecordsAreCounted(t *testing.T) {
	r := receive(t)
	r.answer = func(int) (int64, error) { return 2, nil }
	var p Progress
	_, err := Lake(t.Context(), fill(t).Lake, r.client(t), memoryState(t, Selection{}), Options{RequestBytes: 1 << 20}, &p)
	require.NoError(t, err)
	require.EqualValues(t, 2*r.calls, p.Refused.Load())
}

// Of a damaged partition comes what is before the damage; others come whole.
func TestDamage(t *testing.T) {
	for name, c := range map[string]struct {
		harm func(l *testLake, m lake.Manifest)
		want string
		part int // of window 3 that still comes
	}{
		"an object is gone":     {func(l *testLake, m lake.Manifest) { l.memory.Remove(m.Objects[1].Key) }, "does not exist", 5},
		"an object was changed": {func(l *testLake, m lake.Manifest) { l.memory.Set(m.Objects[0].Key, make([]byte, m.Objects[0].Bytes)) }, "were changed", 0},
		"an object was cut":     {func(l *testLake, m lake.Manifest) { l.memory.Set(m.Objects[0].Key, []byte("PAR1")) }, "were changed", 0},
		"a manifest is gone":    {func(l *testLake, m lake.Manifest) { l.memory.Remove(partition.ManifestKey(prefix, acme, 3)) }, "windows 3 to 3 are not there", 0},
	} {
		t.Run(name, func(t *testing.T) {
			l, r := newLake(t), receive(t)
			for k := uint64(1); k <= 4; k++ {
				if m := l.commit(acme, k, parquet, 10); k == 3 {
					c.harm(l, m)
				}
			}
			l.commit(globex, 1, jsonl, 10)
			parts, err := Lake(t.Context(), l.Lake, r.client(t), memoryState(t, Selection{}), Options{RequestBytes: 1 << 20}, &Progress{})
			require.NoError(t, err)
			require.ErrorContains(t, parts[0].Err, c.want)
			want := both(bodies("acme", 1, 1, 2), bodies("globex", 1, 1))
			for n := range c.part {
				want[body("acme", 3, n)] = 1
			}
			require.Equal(t, want, r.got)
		})
	}
}

func TestState(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	s, err := OpenState(path, "lake", "host:1", Selection{})
	require.NoError(t, err)
	require.NoError(t, s.Save(acme, 7))
	s, err = OpenState(path, "lake", "host:1", Selection{Tenant: "acme"})
	require.NoError(t, err)
	require.EqualValues(t, 7, s.Sent(acme))
	require.Zero(t, s.Sent(globex))
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	require.JSONEq(t, `{"version": 1, "lake": "lake", "to": "host:1", "selection": "received from 0 to 0, k from 0 to 0",
		"sent": {"sink=default/tenant=acme/signal=logs": 7}}`, string(b))
	for want, open := range map[string]func() (*State, error){
		`the lake "lake" instead of "other"`: func() (*State, error) { return OpenState(path, "other", "host:1", Selection{}) },
		`the receiver "host:1" instead`:      func() (*State, error) { return OpenState(path, "lake", "host:2", Selection{}) },
		`the selection`:                      func() (*State, error) { return OpenState(path, "lake", "host:1", Selection{From: 1}) },
	} {
		_, err := open()
		require.ErrorContains(t, err, want)
	}
	for content, want := range map[string]string{"": "unexpected end", `{"version":2}`: "version 2", "x": "invalid character"} {
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		_, err := OpenState(path, "lake", "host:1", Selection{})
		require.ErrorContains(t, err, want)
	}
	_, err = OpenState(filepath.Dir(path), "lake", "host:1", Selection{})
	require.Error(t, err)
}
