package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/s3window/s3window/cmd/s3window/internal/verify"
	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/lake/laketest"
	"github.com/s3window/s3window/internal/partition"
	"github.com/s3window/s3window/internal/s3client"
	"github.com/s3window/s3window/testbed/s3test"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var acme = partition.ID{Sink: "default", Tenant: "acme", Signal: partition.Logs}

// fill puts a lake of two windows under prefix otel and returns its second
// object's key.
func fill(t *testing.T, b lake.Bucket) string {
	l := lake.New(b, lake.Ref{Bucket: "b", Prefix: "otel"})
	start := time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC).UnixMicro()
	var prev *lake.Prev
	var after int64
	key := ""
	for k := uint64(1); k <= 2; k++ {
		name := partition.ObjectName{Start: start, End: start + 1, Writer: "aaaaaaaaaaaaa", Ext: "jsonl"}
		key = laketest.ObjectKey("otel", acme, name)
		o, err := l.PutObject(t.Context(), key, lake.NewBody("application/jsonl", []byte("{}\n{}\n")),
			lake.ObjectMeta{Records: 2, MinTime: start, MaxTime: start, Encoder: "test"})
		require.NoError(t, err)
		sha, err := l.PutManifest(t.Context(), acme, lake.Manifest{
			Version: 1, Sink: acme.Sink, Tenant: acme.Tenant, Signal: acme.Signal, K: k, Writer: name.Writer,
			After: after, Start: start, End: start + 1, Reason: "age", Format: "jsonl", Compression: "none", Schema: 1,
			Objects: []lake.Object{o}, Records: 2, Bytes: o.Bytes, MinTime: start, MaxTime: start, Epoch: 1,
			Prev: prev, CommittedAt: time.Now(),
		})
		require.NoError(t, err)
		prev = &lake.Prev{K: k, Key: partition.ManifestKey("otel", acme, k), SHA256: sha}
		after, start = start+1, start+1
	}
	return key
}

func dir(t *testing.T) (string, string) {
	root := t.TempDir()
	b, err := lake.NewDir(root)
	require.NoError(t, err)
	return root, fill(t, b)
}

func run(ctx context.Context, args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = dispatch(ctx, args, output{&out, &errs})
	return code, out.String(), errs.String()
}

func TestDispatch(t *testing.T) {
	for _, c := range []struct {
		args   string
		code   int
		stdout string
		stderr string
	}{
		{"", exitFailed, "", "usage: s3window"},
		{"help", exitOK, "verify", ""},
		{"help", exitOK, "version", ""},
		{"destroy", exitFailed, "", `there is no command "destroy"`},
		{"verify -h", exitOK, "", "-sizes-only"},
		{"verify", exitFailed, "", "name one lake"},
		{"verify /a /b", exitFailed, "", "name one lake"},
		{"verify /does/not/exist", exitFailed, "", "no such file"},
		{"verify s3://", exitFailed, "", "names no bucket"},
		{"verify s3://lake -prefix x", exitFailed, "", "-prefix is for directories"},
		{"verify s3://lake -endpoint nonsense", exitFailed, "", "endpoint"},
		{"verify -nonsense", exitFailed, "", "not defined"},
	} {
		code, stdout, stderr := run(t.Context(), strings.Fields(c.args)...)
		require.Equal(t, c.code, code, c.args)
		require.Contains(t, stdout, c.stdout, c.args)
		require.Contains(t, stderr, c.stderr, c.args)
	}
}

func TestVerifyDirectory(t *testing.T) {
	root, key := dir(t)
	for _, args := range [][]string{
		{"verify", root, "-prefix", "otel"},
		{"verify", "-prefix=otel", root + "/"},
		{"verify", filepath.Join(root, "otel")},
		{"verify", "-sizes-only", filepath.Join(root, "otel")},
	} {
		code, stdout, stderr := run(t.Context(), args...)
		require.Equal(t, exitOK, code, "%v: %s%s", args, stdout, stderr)
		require.Contains(t, stdout, `tenant "acme", logs, sink default: windows 1 to 2 of 1 writers, 4 records in 2 objects, 12 B: sound`)
		require.Contains(t, stdout, ": sound (1 partitions, 2 windows, 4 records, 2 objects, 12 B")
		require.Empty(t, stderr)
	}

	code, _, stderr := run(t.Context(), "verify", root)
	require.Equal(t, exitFailed, code)
	require.Contains(t, stderr, "is the prefix right?")

	require.NoError(t, os.Remove(filepath.Join(root, key)))
	code, stdout, _ := run(t.Context(), "verify", filepath.Join(root, "otel"))
	require.Equal(t, exitDamaged, code)
	require.Contains(t, stdout, "DAMAGE (object-missing): "+key+": does not exist")
	require.Contains(t, stdout, "DAMAGED (1)")
}

func TestVerifyStrictAndJSON(t *testing.T) {
	root, key := dir(t)
	stray := strings.Replace(key, "aaaaaaaaaaaaa", "bbbbbbbbbbbbb", 1)
	require.NoError(t, os.WriteFile(filepath.Join(root, stray), []byte("{}\n"), 0o600))
	code, stdout, _ := run(t.Context(), "verify", "-json", filepath.Join(root, "otel"))
	require.Equal(t, exitOK, code)
	var report struct {
		Sound      bool
		Records    int64
		Partitions []struct{ Tenant string }
		Notes      []struct{ Kind, Key, Text string }
	}
	require.NoError(t, json.Unmarshal([]byte(stdout), &report))
	require.True(t, report.Sound)
	require.EqualValues(t, 4, report.Records)
	require.Equal(t, "acme", report.Partitions[0].Tenant)
	require.Equal(t, "uncommitted", report.Notes[0].Kind)
	require.Equal(t, stray, report.Notes[0].Key)

	code, stdout, _ = run(t.Context(), "verify", "-strict", filepath.Join(root, "otel"))
	require.Equal(t, exitDamaged, code)
	require.Contains(t, stdout, "NOT ACCEPTED (-strict), 1 notes")
}

func TestVerifyS3(t *testing.T) {
	server := s3test.Start(t)
	t.Setenv("AWS_ACCESS_KEY_ID", server.AccessKey)
	t.Setenv("AWS_SECRET_ACCESS_KEY", server.SecretKey)
	c := s3client.Default()
	c.Bucket, c.Endpoint, c.PathStyle = server.NewBucket(t), server.Endpoint, true
	client, err := s3client.New(t.Context(), c)
	require.NoError(t, err)
	defer s3client.CloseIdle(client)
	fill(t, lake.NewS3(client, lake.S3Options{Settings: c}))

	code, stdout, stderr := run(t.Context(), "verify", "-endpoint", server.Endpoint, "s3://"+c.Bucket+"/otel/")
	require.Equal(t, exitOK, code, stderr)
	require.Contains(t, stdout, "sound (1 partitions, 2 windows, 4 records")

	code, _, stderr = run(t.Context(), "verify", "-endpoint", server.Endpoint, "s3://no-such-bucket/otel")
	require.Equal(t, exitFailed, code)
	require.Contains(t, stderr, "NoSuchBucket")
}

func TestProgressOfLongWork(t *testing.T) {
	r, w := io.Pipe()
	line := make([]byte, 64)
	stop := showProgress(w, time.Millisecond, func() string { return "7 objects" })
	n, err := r.Read(line)
	require.NoError(t, err)
	require.Contains(t, string(line[:n]), "7 objects")
	require.NoError(t, r.Close())
	stop()
}

func TestVerifyResumes(t *testing.T) {
	root, key := dir(t)
	lake, file := filepath.Join(root, "otel"), filepath.Join(t.TempDir(), "resume")
	for range 2 {
		code, stdout, stderr := run(t.Context(), "verify", "-resume", file, lake)
		require.Equal(t, exitOK, code, stderr)
		require.Contains(t, stdout, ": sound (1 partitions")
	}
	require.NoError(t, os.Remove(filepath.Join(root, key)))
	code, _, _ := run(t.Context(), "verify", "-resume", file, lake)
	require.Equal(t, exitDamaged, code)
	code, _, stderr := run(t.Context(), "verify", "-resume", filepath.Join(root, "otel"), lake)
	require.Equal(t, exitFailed, code)
	require.Contains(t, stderr, "is a directory")
}

func TestVerifyPlansAndFindsDuplicates(t *testing.T) {
	root, key := dir(t)
	lake := filepath.Join(root, "otel")
	code, stdout, stderr := run(t.Context(), "verify", "-duplicates", "-temp-dir", t.TempDir(), lake)
	require.Equal(t, exitOK, code, stderr)
	require.Contains(t, stdout, "note (duplicate): "+key+": holds 2 records that are in otel/")
	require.Contains(t, stdout, "duplicates: 3 of 4 records are copies of others")
	require.NotContains(t, stdout, "plan (")

	require.NoError(t, os.Remove(filepath.Join(root, key)))
	code, stdout, _ = run(t.Context(), "verify", "-repair-plan", lake)
	require.Equal(t, exitDamaged, code)
	require.Contains(t, stdout, "plan (object-missing): "+key+"\n  1. Find out what deletes")
	code, stdout, _ = run(t.Context(), "verify", "-repair-plan", "-json", lake)
	require.Equal(t, exitDamaged, code)
	var report struct {
		Plan []struct {
			Kind, Key string
			Steps     []string
		}
	}
	require.NoError(t, json.Unmarshal([]byte(stdout), &report))
	require.Equal(t, "object-missing", report.Plan[0].Kind)
	require.NotEmpty(t, report.Plan[0].Steps)
	_, err := os.Stat(lake)
	require.NoError(t, err)
}

func TestProgressLine(t *testing.T) {
	var p verify.Progress
	p.Heads.Store(3)
	p.Found.Store(5)
	require.Equal(t, "3 heads read, 5 partitions found so far", progressLine(&p, time.Second))
	p.Discovered.Store(true)
	p.Partitions.Store(2)
	p.Manifests.Store(9)
	p.Objects.Store(6)
	p.Bytes.Store(4 << 20)
	require.Equal(t, "2 of 5 partitions, 9 manifests, 6 objects, 4.0 MiB read, 2.0 MiB/s", progressLine(&p, 2*time.Second))
	p.TotalObjects.Store(12)
	p.TotalBytes.Store(10 << 20)
	p.Skipped.Store(1)
	p.SkippedBytes.Store(1 << 20)
	p.Hashed.Store(7)
	p.Sized.Store(true)
	require.Equal(t, "2 of 5 partitions, 9 manifests, 6 of 12 objects (1 known), 4.0 MiB of 9.0 MiB read, 2.0 MiB/s, 7 rows hashed, about 3s left",
		progressLine(&p, 2*time.Second))
}

func TestSize(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 3 << 20: "3.0 MiB", 5 << 40: "5.0 TiB"} {
		require.Equal(t, want, size(n))
	}
}
