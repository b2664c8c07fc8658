package replay

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/s3window/s3window/internal/partition"
)

// refuse has the receiver refuse requests with certain texts in them.
func (r *otlpReceiver) refuse(err error, texts ...string) {
	r.unwanted = func(request []byte) error {
		for _, text := range texts {
			if strings.Contains(string(request), text) {
				return err
			}
		}
		return nil
	}
}

func without(all map[string]int, texts ...string) map[string]int {
	out := maps.Clone(all)
	for _, text := range texts {
		delete(out, text)
	}
	return out
}

// What the receiver refuses for good is found, whatever words it has for that,
// and all else arrives once.
func TestRefusedRecordIsPassedOver(t *testing.T) {
	l := fillSignals(t)
	all := both(both(bodiesOf(partition.Logs, 1, 2, 3, 4), bodiesOf(partition.Traces, 1, 2, 3, 4)), bodiesOf(partition.Metrics, 1, 2, 3, 4))
	for _, s := range []partition.Signal{partition.Logs, partition.Traces, partition.Metrics} {
		for _, code := range []codes.Code{codes.InvalidArgument, codes.Internal, codes.Unknown, codes.ResourceExhausted} {
			t.Run(fmt.Sprint(s, "/", code), func(t *testing.T) {
				bad := []string{body(ofSignal(s).Tenant, 2, 3), body(ofSignal(s).Tenant, 2, 4), body(ofSignal(s).Tenant, 3, 9)}
				r := receive(t)
				r.refuse(status.Error(code, "I do not like it"), bad...)
				var found []Refused
				var p Progress
				parts, err := Lake(t.Context(), l.Lake, r.client(t), memoryState(t, Selection{}), Options{
					RequestBytes: 1 << 20, Skip: func(x Refused) error { found = append(found, x); return nil },
				}, &p)
				require.NoError(t, err)
				require.Equal(t, without(all, bad...), r.got)
				require.EqualValues(t, 3, p.Skipped.Load())
				require.EqualValues(t, 117, p.Records.Load())
				at := slices.IndexFunc(parts, func(x Partition) bool { return x.ID.Signal == s })
				require.EqualValues(t, 3, parts[at].Skipped)
				require.Len(t, found, 3)
				for i, want := range []struct {
					k      uint64
					part   string
					record int64
				}{{2, "-1.", 4}, {2, "-1.", 5}, {3, "-2.", 5}} {
					x := found[i]
					require.Equal(t, ofSignal(s), partition.ID{Sink: x.Sink, Tenant: x.Tenant, Signal: x.Signal})
					require.Equal(t, want.k, x.K)
					require.Contains(t, x.Object, want.part)
					require.Equal(t, want.record, x.Record)
					require.Contains(t, x.Reason, "I do not like it")
				}
			})
		}
	}
}

// Without leave to pass over a record the replay ends at it, and names it.
func TestRefusedRecordEndsTheReplay(t *testing.T) {
	l, r := fill(t), receive(t)
	bad := body("acme", 2, 7)
	r.refuse(status.Error(codes.InvalidArgument, "no"), bad)
	path := filepath.Join(t.TempDir(), "state")
	run := func(skip func(Refused) error) error {
		state, err := OpenState(path, "b/otel", r.addr, Selection{})
		require.NoError(t, err)
		_, err = Lake(t.Context(), l.Lake, r.client(t), state, Options{RequestBytes: 1 << 20, Skip: skip}, &Progress{})
		return err
	}
	err := run(nil)
	var refused *RefusedError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, []any{uint64(2), int64(3)}, []any{refused.K, refused.Record})
	require.ErrorContains(t, err, "record 3 of object")
	require.ErrorContains(t, err, "no")
	require.Equal(t, both(bodies("acme", 1, 1), r.got), r.got, "what comes before it was sent")
	require.NotContains(t, r.got, bad)

	// With leave the same replay goes on with that window.
	var found []Refused
	require.NoError(t, run(func(x Refused) error { found = append(found, x); return nil }))
	require.Len(t, found, 1)
	want := without(both(bodies("acme", 1, 1, 2, 3, 4), bodies("globex", 1, 1, 2)), bad)
	require.Equal(t, slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(r.got)))
	for text, n := range r.got {
		if !strings.HasPrefix(text, "acme/2/") {
			require.Equal(t, 1, n, "%s: only the window that was under way comes again", text)
		}
	}

	// Nothing is passed over that could not be written down.
	path += "2"
	full := errors.New("disk full")
	require.ErrorIs(t, run(func(Refused) error { return full }), full)
	state, err := OpenState(path, "b/otel", r.addr, Selection{})
	require.NoError(t, err)
	require.EqualValues(t, 1, state.Sent(acme))
}

// A receiver that refuses everything does not make a replay pass over a lake.
func TestAllRefusedEndsTheReplay(t *testing.T) {
	l := newLake(t)
	l.commit(acme, 1, parquet, maxInARow+50)
	r := receive(t)
	r.refuse(status.Error(codes.Internal, "out of order"), "acme/")
	skipped := 0
	_, err := Lake(t.Context(), l.Lake, r.client(t), memoryState(t, Selection{}), Options{
		RequestBytes: 1 << 20, Skip: func(Refused) error { skipped++; return nil },
	}, &Progress{})
	require.ErrorIs(t, err, ErrAllRefused)
	require.Equal(t, maxInARow, skipped)
}

func TestRefusedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.refused")
	a := Refused{Sink: "default", Tenant: "acme", Signal: partition.Logs, K: 3, Object: "otel/x.parquet", Record: 7, Reason: "no"}
	b := a
	b.Record = 8
	f, err := OpenRefused(path)
	require.NoError(t, err)
	require.NoFileExists(t, path)
	require.NoError(t, f.Add(a))
	a.Reason = "in other words"
	require.NoError(t, f.Add(a))

	// The next run, after a crash in the middle of a line.
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, append(content, `{"sink":"def`...), 0o600))
	f, err = OpenRefused(path)
	require.NoError(t, err)
	require.NoError(t, f.Add(a))
	require.NoError(t, f.Add(b))
	content, err = os.ReadFile(path)
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSuffix(string(content), "\n"), "\n")
	require.Len(t, lines, 2)
	require.JSONEq(t, `{"sink":"default","tenant":"acme","signal":"logs","k":3,"object_key":"otel/x.parquet","record":7,"reason":"no"}`, lines[0])
	var again Refused
	require.NoError(t, json.Unmarshal([]byte(lines[1]), &again))
	b.Reason = again.Reason
	require.Equal(t, b, again)

	require.NoError(t, os.WriteFile(path, []byte("nonsense\n"), 0o600))
	_, err = OpenRefused(path)
	require.ErrorContains(t, err, "state.refused")
	_, err = OpenRefused(filepath.Dir(path))
	require.Error(t, err)
	nowhere, err := OpenRefused("")
	require.NoError(t, err)
	require.NoError(t, nowhere.Add(a))
	f, err = OpenRefused(filepath.Join(t.TempDir(), "no", "such"))
	require.NoError(t, err)
	require.ErrorContains(t, f.Add(a), "write down record 7")
}
