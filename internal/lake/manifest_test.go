package lake_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/partition"
)

var id = partition.ID{Sink: "default", Tenant: "acme", Signal: partition.Logs}

const sha = "b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9"

// manifest is a window of three records, number k of partition id.
func manifest(k uint64) lake.Manifest {
	m := lake.Manifest{
		Version: 2, Sink: id.Sink, Tenant: id.Tenant, Signal: id.Signal, K: k, Writer: "q7m2aaaaaaaaa",
		After: 1791009400000000, Start: 1791009458377856, End: 1791009464741001, Reason: "age",
		Format: "parquet", Compression: "zstd", Schema: 1,
		Columns: []lake.Column{{Name: "host_name", Type: "string"}, {Name: "http_response_status_code", Type: "int64"}},
		Objects: []lake.Object{{
			Key:   "otel/tenant=acme/signal=logs/dt=2026-10-03/hour=07/w-1791009458377856-1791009464741001-q7m2aaaaaaaaa.parquet",
			Bytes: 207, Records: 3, SHA256: sha, Encoder: "s3window/0.1.0 parquet-go/0.32.0",
			MinTime: 1791009458000000, MaxTime: 1791009464000000,
		}},
		Records: 3, Bytes: 207, RawBytes: 911, MinTime: 1791009458000000, MaxTime: 1791009464000000, Epoch: 97,
		CommittedAt: time.Date(2026, 10, 3, 7, 17, 45, 123456789, time.FixedZone("", 3600)),
	}
	m.Writers = map[string]lake.Reach{m.Writer: {End: m.End, K: k}}
	if k > 1 {
		m.Writers["b2aaaaaaaaaaa"] = lake.Reach{End: 1791009400000001, K: k - 1}
		m.Prev = &lake.Prev{K: k - 1, Key: partition.ManifestKey("otel", id, k-1), SHA256: sha}
	}
	return m
}

func lossy() lake.Manifest {
	m := manifest(1)
	m.Tenant = "a/b <ü> \"x\"\n\u2028"
	m.Objects, m.Records, m.Bytes, m.MinTime, m.MaxTime, m.Columns = nil, 0, 0, 0, 0, nil
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

// first makes a manifest of version 1 of one.
func first(m lake.Manifest) lake.Manifest {
	m.Version, m.Writers, m.Columns = 1, nil, nil
	return m
}

// Goldens are never rewritten: what was written once must be read for ever.
func TestManifestGolden(t *testing.T) {
	for name, m := range map[string]lake.Manifest{
		"v1.json": first(manifest(42)), "v1-first.json": first(manifest(1)), "v1-lost.json": first(lossy()),
		"v2.json": manifest(42), "v2-first.json": manifest(1), "v2-lost.json": lossy(),
	} {
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
		"version 3 is not 1 to 2":             func(m *lake.Manifest) { m.Version = 3 },
		"version 0 is not 1 to 2":             func(m *lake.Manifest) { m.Version = 0 },
		"writers are not of version 1":        func(m *lake.Manifest) { m.Version = 1 },
		"columns are not of version 1":        func(m *lake.Manifest) { m.Version, m.Writers = 1, nil },
		`columns: the name "" is empty`:       func(m *lake.Manifest) { m.Columns[0].Name = "" },
		`columns: "host_name" is there twice`: func(m *lake.Manifest) { m.Columns[1].Name = "host_name" },
		`"host_name" has the type "text"`:     func(m *lake.Manifest) { m.Columns[0].Type = "text" },
		"of the window's own writer":          func(m *lake.Manifest) { m.Writers[m.Writer] = lake.Reach{End: m.End - 1, K: m.K} },
		"in place of {1791009464741001 42}":   func(m *lake.Manifest) { m.Writers = nil },
		`writers: "x" is not`:                 func(m *lake.Manifest) { m.Writers["x"] = lake.Reach{End: 1, K: 7} },
		"writers: c2aaaaaaaaaaa ends at 0":    func(m *lake.Manifest) { m.Writers["c2aaaaaaaaaaa"] = lake.Reach{K: 7} },
		"writers: window 0 of c2aaaaaaaaaaa":  func(m *lake.Manifest) { m.Writers["c2aaaaaaaaaaa"] = lake.Reach{End: 1} },
		"writers: window 43 of c2aaaaaaaaaaa": func(m *lake.Manifest) { m.Writers["c2aaaaaaaaaaa"] = lake.Reach{End: 1, K: 43} },
		"window 41 is of b2aaaaaaaaaaa and of c2aaaaaaaaaaa": func(m *lake.Manifest) {
			m.Writers["c2aaaaaaaaaaa"] = lake.Reach{End: 1, K: 41}
		},
		"window 36 of c2aaaaaaaaaaa is not one of the 64 up to 100": func(m *lake.Manifest) {
			m.K, m.Writers = 100, map[string]lake.Reach{m.Writer: {End: m.End, K: 100}, "c2aaaaaaaaaaa": {End: 1, K: 36}}
		},
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
		"prev stands in the first":               func(m *lake.Manifest) { m.K, m.Version, m.Writers, m.Columns = 1, 1, nil, nil },
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
		"no version":       {strings.Replace(good, `"version":2,`, "", 1), "there is no version"},
		"newer version":    {strings.Replace(good, `"version":2`, `"version":3`, 1), "version 3 is above 2: a newer release wrote it"},
		"unknown field":    {strings.Replace(good, `"version":2`, `"version":2,"x":1`, 1), `unknown field "x"`},
		"missing field":    {strings.Replace(good, `"raw_bytes":911,`, "", 1), "missing, doubled or not in its canonical form"},
		"doubled field":    {strings.Replace(good, `"k":42,`, `"k":41,"k":42,`, 1), "missing, doubled or not"},
		"other order":      {strings.Replace(good, `"version":2,"sink":"default"`, `"sink":"default","version":2`, 1), "canonical"},
		"other case":       {strings.Replace(good, `"sink"`, `"Sink"`, 1), "canonical"},
		"white space":      {strings.Replace(good, `"k":42`, `"k": 42`, 1), "canonical"},
		"no newline":       {strings.TrimSpace(good), "canonical"},
		"something behind": {good + "{}", "invalid character"},
		"wrong type":       {strings.Replace(good, `"k":42`, `"k":"42"`, 1), "cannot unmarshal string"},
		"negative k":       {strings.Replace(good, `"k":42`, `"k":-42`, 1), "cannot unmarshal number -42"},
		"older version":    {strings.Replace(good, `"version":2`, `"version":1`, 1), "writers are not of version 1"},
		"one number":       {strings.Replace(good, `[1791009464741001,42]`, `[42]`, 1), "1 numbers in place of an end and a k"},
		"a fraction":       {strings.Replace(good, `[1791009464741001,42]`, `[1791009464741001.0,42]`, 1), "invalid syntax"},
		"space in a pair":  {strings.Replace(good, `,41]`, `,41 ]`, 1), "canonical"},
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
	for _, m := range []lake.Manifest{manifest(1), manifest(42), lossy(), first(manifest(42))} {
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
