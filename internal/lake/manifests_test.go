package lake_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/lake/laketest"
	"github.com/s3window/s3window/internal/partition"
)

func TestPutManifest(t *testing.T) {
	other := manifest(1)
	other.Epoch++
	for name, tc := range map[string]struct {
		before *lake.Manifest
		script func(laketest.Op) laketest.Fault
		err    error
		ops    string
	}{
		"new":              {ops: "put-if-absent"},
		"answer lost":      {script: at(laketest.PutIfAbsent, 1, laketest.Fault{After: errStore}), ops: "put-if-absent open"},
		"not sent":         {script: at(laketest.PutIfAbsent, 1, laketest.Fault{Before: errStore}), ops: "put-if-absent open", err: errStore},
		"taken":            {before: &other, ops: "put-if-absent open", err: lake.ErrExists},
		"taken, lost":      {before: &other, script: at(laketest.PutIfAbsent, 1, laketest.Fault{After: errStore}), ops: "put-if-absent open", err: lake.ErrExists},
		"taken, unread":    {before: &other, script: at(laketest.Open, 1, laketest.Fault{Before: errStore}), ops: "put-if-absent open", err: errStore},
		"cannot read back": {script: alls(laketest.PutIfAbsent, laketest.Open), ops: "put-if-absent open", err: errStore},
	} {
		t.Run(name, func(t *testing.T) {
			mem := laketest.NewMemory()
			l := lake.New(mem, lake.Ref{Prefix: "otel"})
			if tc.before != nil {
				_, err := l.PutManifest(t.Context(), id, *tc.before)
				require.NoError(t, err)
			}
			mem.Script(tc.script)
			got, err := l.PutManifest(t.Context(), id, manifest(1))
			require.Equal(t, tc.ops, kinds(mem.Ops()))
			if tc.err != nil {
				require.ErrorIs(t, err, tc.err)
				return
			}
			require.NoError(t, err)
			content, _ := mem.Content("otel/_s3window/sink=default/tenant=acme/signal=logs/windows/0000000001.json")
			require.Equal(t, string(encode(t, manifest(1))), string(content))
			sum := sha256.Sum256(content)
			require.Equal(t, hex.EncodeToString(sum[:]), got)

			m, readSHA, err := l.Manifest(t.Context(), id, 1)
			require.NoError(t, err)
			require.Equal(t, got, readSHA)
			require.Equal(t, string(content), string(encode(t, m)))
		})
	}
}

func alls(kinds ...string) func(laketest.Op) laketest.Fault {
	return func(op laketest.Op) laketest.Fault {
		for _, k := range kinds {
			if op.Kind == k {
				return laketest.Fault{Before: errStore}
			}
		}
		return laketest.Fault{}
	}
}

func TestPutManifestRefusesAnotherPartitions(t *testing.T) {
	mem := laketest.NewMemory()
	_, err := lake.New(mem, lake.Ref{}).PutManifest(t.Context(), partition.ID{Sink: "x", Tenant: "y", Signal: "logs"}, manifest(1))
	require.ErrorContains(t, err, "it is of sink=default")
	bad := manifest(1)
	bad.Records = 7
	_, err = lake.New(mem, lake.Ref{}).PutManifest(t.Context(), id, bad)
	require.ErrorContains(t, err, "records is 7")
	require.Empty(t, mem.Ops())
}

func TestManifestRefuses(t *testing.T) {
	mem := laketest.NewMemory()
	l := lake.New(mem, lake.Ref{Prefix: "otel"})
	_, _, err := l.Manifest(t.Context(), id, 7)
	require.ErrorIs(t, err, lake.ErrNotExist)

	mem.Set(partition.ManifestKey("otel", id, 7), encode(t, manifest(8)))
	_, _, err = l.Manifest(t.Context(), id, 7)
	require.ErrorContains(t, err, "it says that it is manifest 8 of sink=default/tenant=acme/signal=logs")

	mem.Set(partition.ManifestKey("otel", id, 7), []byte("{}"))
	_, _, err = l.Manifest(t.Context(), id, 7)
	require.ErrorContains(t, err, "windows/0000000007.json")

	mem.Set(partition.ManifestKey("otel", id, 7), make([]byte, 32<<20+1))
	_, _, err = l.Manifest(t.Context(), id, 7)
	require.ErrorContains(t, err, "larger than")
}

// commitLog is a bucket with manifests 1 to n and some keys beside them.
func commitLog(t *testing.T, n uint64) *laketest.Memory {
	t.Helper()
	mem := laketest.NewMemory()
	l := lake.New(mem, lake.Ref{Prefix: "otel"})
	for k := uint64(1); k <= n; k++ {
		_, err := l.PutManifest(t.Context(), id, manifest(k))
		require.NoError(t, err)
	}
	mem.Set(partition.ManifestPrefix("otel", id)+"README", nil)
	mem.Set(partition.ManifestPrefix("otel", id)+"0000000000.json", nil)
	mem.Set(partition.ManifestKey("otel", partition.ID{Sink: "default", Tenant: "acme2", Signal: "logs"}, 1), nil)
	mem.Script(nil)
	return mem
}

func TestManifestsComeInOrderAndAreReadAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem := commitLog(t, 50)
		var mu sync.Mutex
		var reading, most int
		count := func(n int) {
			mu.Lock()
			defer mu.Unlock()
			reading += n
			most = max(most, reading)
		}
		mem.Script(func(op laketest.Op) laketest.Fault {
			if op.Kind != laketest.Open {
				return laketest.Fault{}
			}
			return laketest.Fault{Pause: func(context.Context) {
				count(1)
				time.Sleep(time.Duration(7-op.N%7) * time.Millisecond) // answers come in another order
				count(-1)
			}}
		})
		l := lake.New(mem, lake.Ref{Prefix: "otel"}, lake.WithReaders(5))
		for _, after := range []uint64{0, 1, 30, 50, 99} {
			next := after
			require.NoError(t, l.ManifestsAfter(t.Context(), id, after, func(k uint64, m lake.Manifest, sha string) error {
				next++
				sum := sha256.Sum256(encode(t, m))
				if k != next || m.K != k || sha != hex.EncodeToString(sum[:]) {
					return fmt.Errorf("visited %d (%d), want %d", k, m.K, next)
				}
				return nil
			}))
			require.Equal(t, max(after, 50), next)
		}
		require.Equal(t, 5, most)
	})
}

func TestManifestsEndOnTheFirstError(t *testing.T) {
	stop := errors.New("stop")
	for name, tc := range map[string]struct {
		script  func(laketest.Op) laketest.Fault
		damage  uint64
		stopAt  uint64
		visited uint64
		err     string
	}{
		"visit":          {stopAt: 3, visited: 3, err: "stop"},
		"read":           {script: at(laketest.Open, 1, laketest.Fault{Before: errStore}), err: "503 SlowDown"},
		"damaged":        {damage: 4, visited: 3, err: "0000000004.json"},
		"list":           {script: all(laketest.List), err: "list manifests of sink=default/tenant=acme/signal=logs: 503 SlowDown"},
		"list, half way": {script: at(laketest.List, 1, laketest.Fault{After: errStore}), visited: 9, err: "503 SlowDown"},
	} {
		t.Run(name, func(t *testing.T) {
			mem := commitLog(t, 9)
			if tc.damage > 0 {
				mem.Set(partition.ManifestKey("otel", id, tc.damage), []byte("damaged"))
			}
			mem.Script(tc.script)
			var visited uint64
			err := lake.New(mem, lake.Ref{Prefix: "otel"}, lake.WithReaders(1)).Manifests(t.Context(), id,
				func(k uint64, _ lake.Manifest, _ string) error {
					if visited = k; k == tc.stopAt {
						return stop
					}
					return nil
				})
			require.ErrorContains(t, err, tc.err)
			require.Equal(t, tc.visited, visited)
		})
	}
}

func TestManifestsOfAnEmptyLog(t *testing.T) {
	err := lake.New(laketest.NewMemory(), lake.Ref{}).Manifests(t.Context(), id, func(uint64, lake.Manifest, string) error {
		return errors.New("visited")
	})
	require.NoError(t, err)
}
