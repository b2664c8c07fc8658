package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/lake/laketest"
	"github.com/s3window/s3window/internal/partition"
)

// BenchmarkVerifyPartitions verifies a directory with partitions of one window
// each: the time per partition must not grow with their number. With
// S3WINDOW_KEEP=dir the lake of the last size is left there.
func BenchmarkVerifyPartitions(b *testing.B) {
	for _, partitions := range []int{500, 4000} {
		b.Run(fmt.Sprint(partitions), func(b *testing.B) {
			root := b.TempDir()
			if keep := os.Getenv("S3WINDOW_KEEP"); keep != "" {
				root = filepath.Join(keep, fmt.Sprint(partitions))
				require.NoError(b, os.MkdirAll(root, 0o755))
			}
			for n := range partitions {
				writePartition(b, root, partition.ID{Sink: "default", Tenant: fmt.Sprint("tenant-", n), Signal: partition.Logs})
			}
			for b.Loop() {
				require.Equal(b, exitOK, dispatch(b.Context(), []string{"verify", "-prefix", "otel", root}, output{io.Discard, io.Discard}))
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*partitions), "µs/partition")
		})
	}
}

func writePartition(b *testing.B, root string, id partition.ID) {
	start := time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC).UnixMicro()
	content := []byte("{}\n")
	body := lake.NewBody("", content)
	name := partition.ObjectName{Start: start, End: start + 1, Writer: "aaaaaaaaaaaaa", Ext: "jsonl"}
	o := lake.Object{
		Key: laketest.ObjectKey("otel", id, name), Bytes: int64(len(content)), Records: 1,
		SHA256: fmt.Sprintf("%x", body.SHA256), MinTime: start, MaxTime: start, Encoder: "bench",
	}
	m, err := lake.Manifest{
		Version: 1, Sink: id.Sink, Tenant: id.Tenant, Signal: id.Signal, K: 1, Writer: name.Writer, Start: start, End: start + 1,
		Reason: "age", Format: "jsonl", Compression: "none", Schema: 1, Objects: []lake.Object{o}, Records: 1, Bytes: o.Bytes,
		MinTime: start, MaxTime: start, Epoch: 1, CommittedAt: time.UnixMicro(start).UTC(),
	}.Encode()
	require.NoError(b, err)
	for key, content := range map[string][]byte{o.Key: content, partition.ManifestKey("otel", id, 1): m} {
		path := filepath.Join(root, filepath.FromSlash(key))
		require.NoError(b, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(b, os.WriteFile(path, content, 0o600))
	}
}
