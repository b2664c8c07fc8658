package replay

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/s3window/s3window/internal/encode"
	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/partition"
)

// ofSignal is a partition whose tenant tells the signals' records apart.
func ofSignal(s partition.Signal) partition.ID {
	return partition.ID{Sink: "default", Tenant: string(s) + "-tenant", Signal: s}
}

// fillSignals makes a lake of a partition of each signal, of windows 1 to 4 with
// 10 records each, in both formats.
func fillSignals(t *testing.T) *testLake {
	l := newLake(t)
	for _, s := range []partition.Signal{partition.Logs, partition.Traces, partition.Metrics} {
		for k := uint64(1); k <= 4; k++ {
			spec := jsonl
			if k%2 == 0 {
				spec = parquet
			}
			l.commit(ofSignal(s), k, spec, 10)
		}
	}
	return l
}

func bodiesOf(s partition.Signal, ks ...uint64) map[string]int {
	return bodies(ofSignal(s).Tenant, 1, ks...)
}

func TestEveryRecordOfEverySignalArrivesOnce(t *testing.T) {
	l, r := fillSignals(t), receive(t)
	var p Progress
	parts, err := Lake(t.Context(), l.Lake, r.client(t), memoryState(t, Selection{}), Options{RequestBytes: 200}, &p)
	require.NoError(t, err)
	want := both(both(bodiesOf(partition.Logs, 1, 2, 3, 4), bodiesOf(partition.Traces, 1, 2, 3, 4)), bodiesOf(partition.Metrics, 1, 2, 3, 4))
	require.Equal(t, want, r.got)
	require.LessOrEqual(t, r.largest, 200)
	require.Greater(t, r.calls, 12)
	require.Len(t, parts, 3)
	for _, part := range parts {
		require.Equal(t, Partition{ID: part.ID, First: 1, Last: 4, Windows: 4, Records: 40, Bytes: part.Bytes}, part)
	}
	require.EqualValues(t, 120, p.Records.Load())
	require.EqualValues(t, r.calls, p.Requests.Load())
}

func TestOneSignalIsSent(t *testing.T) {
	l := fillSignals(t)
	for _, signal := range []partition.Signal{partition.Traces, partition.Metrics} {
		r := receive(t)
		r.answer = func(int) (int64, error) { return 1, nil }
		s := Selection{Signal: signal, FirstK: 2, LastK: 3}
		var p Progress
		_, err := Lake(t.Context(), l.Lake, r.client(t), memoryState(t, s), Options{Selection: s, RequestBytes: 1 << 20}, &p)
		require.NoError(t, err)
		require.Equal(t, bodiesOf(signal, 2, 3), r.got)
		require.EqualValues(t, r.calls, p.Refused.Load())
		require.Equal(t, []string{"t-" + string(signal) + "-tenant"}, r.headers.Get("x-scope-orgid"))
	}
}

// Wherever a run ends, the next one goes on with the window that was under way,
// whatever its signal.
func TestResumeOfSignals(t *testing.T) {
	l := fillSignals(t)
	for fail := 1; ; fail += 3 {
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
		if run() == nil {
			require.Greater(t, fail, 36, "requests in all")
			break
		}
		require.NoError(t, run())
		require.Len(t, r.got, 120)
		twice := map[string]bool{}
		for b, n := range r.got {
			if n > 1 {
				require.Equal(t, 2, n)
				twice[b[:strings.LastIndexByte(b, '/')]] = true
			}
		}
		require.LessOrEqual(t, len(twice), 1, "windows sent twice after failure of request %d", fail)
	}
}

func TestDamageOfSignals(t *testing.T) {
	for _, signal := range []partition.Signal{partition.Traces, partition.Metrics} {
		l, r := newLake(t), receive(t)
		l.commit(ofSignal(signal), 1, jsonl, 10)
		m := l.commit(ofSignal(signal), 2, parquet, 10)
		l.memory.Set(m.Objects[0].Key, make([]byte, m.Objects[0].Bytes))
		// An object that is of another signal than its partition is not sent as one of it.
		l.commitAs(ofSignal(partition.Logs), signal, 1, parquet)
		parts, err := Lake(t.Context(), l.Lake, r.client(t), memoryState(t, Selection{}), Options{RequestBytes: 1 << 20}, &Progress{})
		require.NoError(t, err)
		require.Equal(t, bodiesOf(signal, 1), r.got)
		require.Len(t, parts, 2)
		require.ErrorContains(t, parts[0].Err, "its footer says that it is of signal")
		require.ErrorContains(t, parts[1].Err, "were changed")
	}
}

// commitAs commits an object of another signal.
func (l *testLake) commitAs(id partition.ID, signal partition.Signal, k uint64, spec encode.Spec) lake.Manifest {
	l.as = signal
	defer func() { l.as = "" }()
	return l.commit(id, k, spec, 10)
}
