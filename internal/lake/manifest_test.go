package lake_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/lake/laketest"
	"github.com/s3window/s3window/internal/partition"
)

var id = partition.ID{Sink: "default", Tenant: "acme", Signal: partition.Logs}

const sha = "b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9"

// manifest is a window of three records, number k of partition id.
func manifest(k uint64) lake.Manifest {
	m := lake.Manifest{
		Version: 1, Sink: id.Sink, Tenant: id.Tenant, Signal: id.Signal, K: k, Writer: "q7m2aaaaaaaaa",
		After: 1791009400000000, Start: 1791009458377856, End: 1791009464741001, Reason: "age",
		Format: "parquet", Compression: "zstd", Schema: 1,
		Objects: []lake.Object{{
			Key:   "otel/tenant=acme/signal=logs/dt=2026-10-03/hour=07/w-1791009458377856-1791009464741001-q7m2aaaaaaaaa.parquet",
			Bytes: 207, Records: 3, SHA256: sha, Encoder: "s3window/0.1.0 parquet-go/0.32.0",
			MinTime: 1791009458000000, MaxTime: 1791009464000000,
		}},
		Records: 3, Bytes: 207, RawBytes: 911, MinTime: 1791009458000000, MaxTime: 1791009464000000, Epoch: 97,
		CommittedAt: time.Date(2026, 10, 3, 7, 17, 45, 123456789, time.FixedZone("", 3600)),
	}
	if k > 1 {
		m.Prev = &lake.Prev{K: k - 1, Key: partition.ManifestKey("otel", id, k-1), SHA256: sha}
	}
	return m
}

func lossy() lake.Manifest {
	m := manifest(1)
	m.Tenant = "a/b <ü> \"x\"\n\u2028"
	m.Objects, m.Records, m.Bytes, m.MinTime, m.MaxTime = nil, 0, 0, 0, 0
	m.Lost = []lake.Lost{
		{Writer: m.Writer, Stamp: 1791009458377856, Seq: 12, Records: 5, Reason: "the entry does not decode: field 3: cut short", Key: "otel/_s3window/quarantine/x"},
		{Writer: m.Writer, Seq: 13, Reason: "the entry's checksum is wrong"},
	}
	return m
}

func encode(t *testing.T, m lake.Manifest) []byte {
	t.Helper()
	b, err := m.Encode()
	require.NoError(t, err)
	return b
}

// Goldens are never rewritten: what was written once must be read for ever.
func TestManifestGolden(t *testing.T) {
	for name, m := range map[string]lake.Manifest{"v1.json": manifest(42), "v1-first.json": manifest(1), "v1-lost.json": lossy()} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join("testdata", "manifest", name)
			got := encode(t, m)
			golden, err := os.ReadFile(path)
			if errors.Is(err, os.ErrNotExist) {
				require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
				require.NoError(t, os.WriteFile(path, got, 0o644))
				t.Fatalf("wrote the new golden %s: read it, then commit it", path)
			}
			require.NoError(t, err)
			require.Equal(t, string(golden), string(got))
			back, err := lake.DecodeManifest(golden)
			require.NoError(t, err)
			require.Equal(t, string(golden), string(encode(t, back)))
			require.Equal(t, m.ID(), back.ID())
		})
	}
}

func TestEncodeRefuses(t *testing.T) {
	for want, change := range map[string]func(*lake.Manifest){
		"version 2 is not 1":                     func(m *lake.Manifest) { m.Version = 2 },
		"tenant is not UTF-8":                    func(m *lake.Manifest) { m.Tenant = "a\xff" },
		"sink is empty":                          func(m *lake.Manifest) { m.Sink = "" },
		`signal "log" is not one of`:             func(m *lake.Manifest) { m.Signal = "log" },
		"k is 0":                                 func(m *lake.Manifest) { m.K = 0 },
		`writer "Q7m2aaaaaaaaa" is not`:          func(m *lake.Manifest) { m.Writer = "Q7m2aaaaaaaaa" },
		`writer "" is not`:                       func(m *lake.Manifest) { m.Writer = "" },
		"after 1791009458377857 is behind start": func(m *lake.Manifest) { m.After = m.Start + 1 },
		"is not before end":                      func(m *lake.Manifest) { m.End = m.Start },
		"reason is empty":                        func(m *lake.Manifest) { m.Reason = "" },
		"format is empty":                        func(m *lake.Manifest) { m.Format = "" },
		"schema 0 is below 1":                    func(m *lake.Manifest) { m.Schema = 0 },
		"raw_bytes -1 is negative":               func(m *lake.Manifest) { m.RawBytes = -1 },
		"is behind max_time":                     func(m *lake.Manifest) { m.MinTime = m.MaxTime + 1 },
		"committed_at is missing":                func(m *lake.Manifest) { m.CommittedAt = time.Time{} },
		"prev is missing":                        func(m *lake.Manifest) { m.Prev = nil },
		"prev stands in the first":               func(m *lake.Manifest) { m.K = 1 },
		"prev.k 40 is not 41":                    func(m *lake.Manifest) { m.Prev.K = 40 },
		"prev.key is empty":                      func(m *lake.Manifest) { m.Prev.Key = "" },
		"prev.sha256":                            func(m *lake.Manifest) { m.Prev.SHA256 = strings.ToUpper(sha) },
		"objects[0].key is empty":                func(m *lake.Manifest) { m.Objects[0].Key = "" },
		"objects[0]: -1 bytes":                   func(m *lake.Manifest) { m.Objects[0].Bytes = -1 },
		"objects[0].sha256":                      func(m *lake.Manifest) { m.Objects[0].SHA256 = sha[:62] },
		"objects[0].encoder is empty":            func(m *lake.Manifest) { m.Objects[0].Encoder = "" },
		"objects[0].min_time":                    func(m *lake.Manifest) { m.Objects[0].MinTime = m.Objects[0].MaxTime + 1 },
		"is there twice":                         func(m *lake.Manifest) { m.Objects = append(m.Objects, m.Objects[0]) },
		"records is 4, but the objects hold 3":   func(m *lake.Manifest) { m.Records = 4 },
		"bytes is 208, but the objects hold 207": func(m *lake.Manifest) { m.Bytes = 208 },
	} {
		t.Run(want, func(t *testing.T) {
			m := manifest(42)
			change(&m)
			_, err := m.Encode()
			require.ErrorContains(t, err, want)
		})
	}
}

func TestDecodeRefuses(t *testing.T) {
	good := string(encode(t, manifest(42)))
	for name, tc := range map[string]struct{ in, want string }{
		"empty":            {"", "unexpected end"},
		"not JSON":         {"<Error/>", "invalid character"},
		"cut short":        {good[:len(good)/2], "unexpected end"},
		"no version":       {strings.Replace(good, `"version":1,`, "", 1), "there is no version"},
		"newer version":    {strings.Replace(good, `"version":1`, `"version":2`, 1), "version 2 is not 1: a newer release wrote it"},
		"unknown field":    {strings.Replace(good, `"version":1`, `"version":1,"x":1`, 1), `unknown field "x"`},
		"missing field":    {strings.Replace(good, `"raw_bytes":911,`, "", 1), "missing, doubled or not in its canonical form"},
		"doubled field":    {strings.Replace(good, `"k":42,`, `"k":41,"k":42,`, 1), "missing, doubled or not"},
		"other order":      {strings.Replace(good, `"version":1,"sink":"default"`, `"sink":"default","version":1`, 1), "canonical"},
		"other case":       {strings.Replace(good, `"sink"`, `"Sink"`, 1), "canonical"},
		"white space":      {strings.Replace(good, `"k":42`, `"k": 42`, 1), "canonical"},
		"no newline":       {strings.TrimSpace(good), "canonical"},
		"something behind": {good + "{}", "invalid character"},
		"wrong type":       {strings.Replace(good, `"k":42`, `"k":"42"`, 1), "cannot unmarshal string"},
		"negative k":       {strings.Replace(good, `"k":42`, `"k":-42`, 1), "cannot unmarshal number -42"},
		"null objects":     {strings.Replace(string(encode(t, lossy())), `"objects":[]`, `"objects":null`, 1), "canonical"},
		"records damaged":  {strings.Replace(good, `"records":3,"sha256"`, `"records":2,"sha256"`, 1), "records is 3, but the objects hold 2"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := lake.DecodeManifest([]byte(tc.in))
			require.ErrorContains(t, err, "decode manifest: ")
			require.ErrorContains(t, err, tc.want)
		})
	}
}

// FuzzDecodeManifest holds that a manifest has one reading only.
func FuzzDecodeManifest(f *testing.F) {
	for _, m := range []lake.Manifest{manifest(1), manifest(42), lossy()} {
		b, err := m.Encode()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
		f.Add(bytes.Replace(b, []byte(`"k":`), []byte(`"k":9`), 1))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		m, err := lake.DecodeManifest(in)
		if err != nil {
			return
		}
		out, err := m.Encode()
		if err != nil || !bytes.Equal(in, out) {
			t.Fatalf("decoded %q, encoded %q, %v", in, out, err)
		}
	})
}

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
	require.ErrorContains(t, err, "it says it is manifest 8 of sink=default/tenant=acme/signal=logs")

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
