package s3windowexporter

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/s3window/s3window/internal/encode/decode"
	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/partition"
	"github.com/s3window/s3window/internal/s3client"
)

// bucket gives the exporter's own bucket, not through the proxy.
func (r *rig) bucket() lake.Bucket {
	at := r.cfg.S3
	at.Endpoint = r.server.Endpoint
	client, err := s3client.New(r.t.Context(), at.client())
	require.NoError(r.t, err)
	r.t.Cleanup(func() { s3client.CloseIdle(client) })
	return lake.New(lake.NewS3(client, lake.S3Options{Settings: at.client()}), at.ref()).Bucket()
}

// objects gives the content of a tenant's objects.
func (r *rig) objects(tenant string, signal partition.Signal, visit func(lake.Manifest, decode.Object)) {
	r.t.Helper()
	at := r.cfg.S3
	at.Endpoint = r.server.Endpoint
	bucket := r.bucket()
	r.manifestsIn(at, tenant, signal, func(m lake.Manifest) {
		for _, o := range m.Objects {
			in, _, err := bucket.Open(r.t.Context(), o.Key)
			require.NoError(r.t, err)
			content, err := io.ReadAll(in)
			require.NoError(r.t, err)
			require.NoError(r.t, in.Close())
			_, ext, _ := strings.Cut(o.Key[strings.LastIndexByte(o.Key, '/')+1:], ".")
			visit(m, decode.Object{Content: bytes.NewReader(content), Size: int64(len(content)), Ext: ext, Schema: m.Schema})
		}
	})
}

// Tenants have formats of their own, side by side in one lake, for every signal.
func TestFormatsOfTenants(t *testing.T) {
	r := newRig(t)
	column := []ColumnConfig{{Attribute: "user.id", As: "user", Type: "string"}}
	r.tenant("lines", func(s *TenantSettings) { s.Format = formatJSONL })
	r.tenant("zipped", func(s *TenantSettings) { s.Format, s.JSONL.Compression, s.JSONL.Columns = formatJSONL, "gzip", column })
	r.tenant("plain", func(s *TenantSettings) { s.Format, s.JSONL.Compression = formatJSONL, "none" })
	s := r.startSignals()
	tenants := []string{"columns", "lines", "zipped", "plain"}
	require.NoError(t, s.ConsumeTraces(t.Context(), spans(3, tenants...)))
	require.NoError(t, s.ConsumeMetrics(t.Context(), points(4, tenants...)))
	require.NoError(t, s.ConsumeLogs(t.Context(), logs(5, tenants...)))
	for tenant, want := range map[string]struct{ format, compression, ext, encoder string }{
		"columns": {"parquet", "zstd", "parquet", "parquet-go"},
		"lines":   {"jsonl", "zstd", "jsonl.zst", "klauspost-compress"},
		"zipped":  {"jsonl", "gzip", "jsonl.gz", "klauspost-compress"},
		"plain":   {"jsonl", "none", "jsonl", "klauspost-compress"},
	} {
		for signal, n := range map[partition.Signal]int64{partition.Traces: 3, partition.Metrics: 4, partition.Logs: 5} {
			r.await(func() bool { return r.committedOf(tenant, signal) >= n })
			decoded := 0
			r.objects(tenant, signal, func(m lake.Manifest, o decode.Object) {
				assert.Equal(t, want.format, m.Format)
				assert.Equal(t, want.compression, m.Compression)
				assert.Equal(t, want.ext, o.Ext)
				assert.Contains(t, m.Objects[0].Encoder, want.encoder)
				assert.NotZero(t, m.Objects[0].MinTime)
				decoded += r.decoded(signal, o, tenant)
			})
			assert.EqualValues(t, n, decoded, "%s of %s", signal, tenant)
		}
	}
	r.shutdownSignals(s)
	assert.Empty(t, r.host.statuses(), "nothing failed")
}

// decoded counts the records of an object, all of which are of a tenant.
func (r *rig) decoded(signal partition.Signal, o decode.Object, tenant string) int {
	r.t.Helper()
	records := 0
	check := func(attributes pcommon.Map, n int) {
		assert.Equal(r.t, map[string]any{"tenant.id": tenant}, attributes.AsRaw())
		records += n
	}
	require.NoError(r.t, decode.EachRequest(o, signal, 1, func(request []byte, n int) error {
		switch signal {
		case partition.Traces:
			x, err := (&ptrace.ProtoUnmarshaler{}).UnmarshalTraces(request)
			require.NoError(r.t, err)
			check(x.ResourceSpans().At(0).Resource().Attributes(), x.SpanCount())
		case partition.Metrics:
			x, err := (&pmetric.ProtoUnmarshaler{}).UnmarshalMetrics(request)
			require.NoError(r.t, err)
			check(x.ResourceMetrics().At(0).Resource().Attributes(), x.DataPointCount())
		default:
			x, err := (&plog.ProtoUnmarshaler{}).UnmarshalLogs(request)
			require.NoError(r.t, err)
			check(x.ResourceLogs().At(0).Resource().Attributes(), x.LogRecordCount())
		}
		assert.Equal(r.t, 1, n, "a request has one record")
		return nil
	}))
	return records
}

// Windows of several formats make one commit log.
func TestFormatIsChanged(t *testing.T) {
	r := newRig(t)
	formats := func() (out []string) {
		r.objects("a", partition.Logs, func(m lake.Manifest, o decode.Object) {
			out = append(out, m.Format+" "+o.Ext)
			assert.Equal(t, 2, r.decoded(partition.Logs, o, "a"))
		})
		return out
	}
	for i, format := range []string{formatParquet, formatJSONL, formatParquet} {
		cfg := *r.cfg
		r.cfg = &cfg
		r.cfg.Format, r.cfg.Layout = format, layoutAdopt
		e := r.start()
		require.NoError(t, e.ConsumeLogs(t.Context(), logs(2, "a")))
		r.awaitCommitted("a", int64(2*i+2))
		r.shutdown(e)
	}
	assert.Equal(t, []string{"parquet parquet", "jsonl jsonl.zst", "parquet parquet"}, formats())
}

// A promoted column that a signal has itself is named by the key of its format.
func TestColumnsOfLinesOfAnotherSignal(t *testing.T) {
	r := newOfflineRig(t, "http://127.0.0.1:1")
	r.cfg.Parquet.Columns = []ColumnConfig{{Attribute: "x", As: "metric_unit", Type: "string"}}
	r.cfg.Format = formatJSONL
	e, err := r.factory.CreateMetrics(t.Context(), settings(), r.cfg)
	require.NoError(t, err, "the columns of Parquet are none of lines")
	require.NoError(t, e.Shutdown(t.Context()))
	r.cfg.JSONL.Columns = r.cfg.Parquet.Columns
	_, err = r.factory.CreateMetrics(t.Context(), settings(), r.cfg)
	require.ErrorContains(t, err, "`jsonl::columns`, in a pipeline of metrics: ")
	assert.NotContains(t, err.Error(), "parquet")
}
