package replay

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.uber.org/goleak"

	"github.com/s3window/s3window/internal/encode"
	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/lake/laketest"
	"github.com/s3window/s3window/internal/partition"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const prefix = "otel"

var (
	acme   = partition.ID{Sink: "default", Tenant: "acme", Signal: partition.Logs}
	globex = partition.ID{Sink: "other", Tenant: "globex", Signal: partition.Logs}
)

// at is a stamp n minutes into an hour.
func at(n int) int64 {
	return time.Date(2026, 11, 30, 8, n, 0, 0, time.UTC).UnixMicro()
}

// testLake is written by the real encoder.
type testLake struct {
	*lake.Lake
	memory *laketest.Memory
	t      *testing.T
	prev   map[partition.ID]*lake.Prev
	as     partition.Signal // what objects are of, if not of their partition's signal
}

func newLake(t *testing.T) *testLake {
	m := laketest.NewMemory()
	return &testLake{Lake: lake.New(m, lake.Ref{Bucket: "b", Prefix: prefix}), memory: m, t: t, prev: map[partition.ID]*lake.Prev{}}
}

// body names a record: window k of a tenant, record n.
func body(tenant string, k uint64, n int) string { return fmt.Sprintf("%s/%d/%d", tenant, k, n) }

// request is one record that is known by a text.
func request(t *testing.T, signal partition.Signal, text string) (b []byte) {
	var err error
	switch signal {
	case partition.Traces:
		x := ptrace.NewTraces()
		rs := x.ResourceSpans().AppendEmpty()
		rs.Resource().Attributes().PutStr("service.name", "shop")
		sp := rs.ScopeSpans().AppendEmpty().Spans().AppendEmpty()
		sp.SetName("GET")
		sp.Events().AppendEmpty().SetName(text)
		b, err = (&ptrace.ProtoMarshaler{}).MarshalTraces(x)
	case partition.Metrics:
		x := pmetric.NewMetrics()
		rm := x.ResourceMetrics().AppendEmpty()
		rm.Resource().Attributes().PutStr("service.name", "shop")
		m := rm.ScopeMetrics().AppendEmpty().Metrics().AppendEmpty()
		m.SetName("requests")
		m.SetEmptyHistogram().DataPoints().AppendEmpty().Attributes().PutStr("text", text)
		b, err = (&pmetric.ProtoMarshaler{}).MarshalMetrics(x)
	default:
		x := plog.NewLogs()
		rl := x.ResourceLogs().AppendEmpty()
		rl.Resource().Attributes().PutStr("service.name", "shop")
		rl.ScopeLogs().AppendEmpty().LogRecords().AppendEmpty().Body().SetStr(text)
		b, err = (&plog.ProtoMarshaler{}).MarshalLogs(x)
	}
	require.NoError(t, err)
	return b
}

// commit adds window k, which lasts a minute, in two objects.
func (l *testLake) commit(id partition.ID, k uint64, spec encode.Spec, records int) lake.Manifest {
	in := id
	if l.as != "" {
		in.Signal = l.as
	}
	spec.Signal = in.Signal
	e, err := encode.New(spec)
	require.NoError(l.t, err)
	m := lake.Manifest{
		Version: 1, Sink: id.Sink, Tenant: id.Tenant, Signal: id.Signal, K: k, Writer: "aaaaaaaaaaaaa", After: at(int(k)), Start: at(int(k)),
		End: at(int(k) + 1), Reason: "age", Format: spec.Format, Compression: spec.Codec, Schema: encode.SchemaVersion(),
		MinTime: at(int(k)), MaxTime: at(int(k)), Epoch: 1, Prev: l.prev[id], CommittedAt: time.Now(),
	}
	if m.Prev == nil {
		m.After = 0
	}
	for part := range 2 {
		var entries []encode.Entry
		for n := part * records / 2; n < (part+1)*records/2; n++ {
			entries = append(entries, encode.Entry{Payload: request(l.t, in.Signal, body(id.Tenant, k, n)), ReceivedAt: m.Start})
		}
		staged, err := e.Stage(entries)
		require.NoError(l.t, err)
		o, err := e.Assemble(in, m.Writer, []encode.Staged{staged})
		require.NoError(l.t, err)
		name := partition.ObjectName{Start: m.Start, End: m.End, Writer: m.Writer, Part: part + 1, Ext: o.Ext}
		put, err := l.PutObject(l.t.Context(), laketest.ObjectKey(prefix, id, name),
			lake.NewBody(o.ContentType, o.Segments...), lake.ObjectMeta{Records: o.Records, MinTime: o.MinTime, MaxTime: o.MaxTime, Encoder: o.Encoder})
		require.NoError(l.t, err)
		m.Objects = append(m.Objects, put)
		m.Records += o.Records
		m.Bytes += put.Bytes
	}
	sha, err := l.PutManifest(l.t.Context(), id, m)
	require.NoError(l.t, err)
	l.prev[id] = &lake.Prev{K: k, Key: partition.ManifestKey(prefix, id, k), SHA256: sha}
	return m
}

var (
	parquet = encode.Spec{Signal: partition.Logs, Format: "parquet", Codec: "zstd", Columns: encode.DefaultColumns()}
	jsonl   = encode.Spec{Signal: partition.Logs, Format: "jsonl", Codec: "zstd"}
)

// fill makes a lake of two partitions: windows 1 to 4 and 1 to 2, each of 10
// records, in both formats.
func fill(t *testing.T) *testLake {
	l := newLake(t)
	for k := uint64(1); k <= 4; k++ {
		spec := parquet
		if k%2 == 0 {
			spec = jsonl
		}
		l.commit(acme, k, spec, 10)
	}
	l.commit(globex, 1, jsonl, 10)
	l.commit(globex, 2, parquet, 10)
	return l
}
