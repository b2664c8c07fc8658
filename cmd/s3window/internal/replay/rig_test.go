package replay

import (
	"context"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

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
}

func newLake(t *testing.T) *testLake {
	m := laketest.NewMemory()
	return &testLake{Lake: lake.New(m, lake.Ref{Bucket: "b", Prefix: prefix}), memory: m, t: t, prev: map[partition.ID]*lake.Prev{}}
}

// body names a record: window k of a tenant, record n.
func body(tenant string, k uint64, n int) string { return fmt.Sprintf("%s/%d/%d", tenant, k, n) }

// commit adds window k, which lasts a minute, in two objects.
func (l *testLake) commit(id partition.ID, k uint64, spec encode.Spec, records int) lake.Manifest {
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
			logs := plog.NewLogs()
			rl := logs.ResourceLogs().AppendEmpty()
			rl.Resource().Attributes().PutStr("service.name", "shop")
			rl.ScopeLogs().AppendEmpty().LogRecords().AppendEmpty().Body().SetStr(body(id.Tenant, k, n))
			b, err := (&plog.ProtoMarshaler{}).MarshalLogs(logs)
			require.NoError(l.t, err)
			entries = append(entries, encode.Entry{Payload: b, ReceivedAt: m.Start})
		}
		staged, err := e.Stage(entries)
		require.NoError(l.t, err)
		o, err := e.Assemble(id, m.Writer, []encode.Staged{staged})
		require.NoError(l.t, err)
		name := partition.ObjectName{Start: m.Start, End: m.End, Writer: m.Writer, Part: part + 1, Ext: o.Ext}
		put, err := l.PutObject(l.t.Context(), partition.ObjectKey(prefix, id, partition.AlignHour, name),
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

// otlpReceiver is an OTLP receiver that counts what it took, by body.
type otlpReceiver struct {
	plogotlp.UnimplementedGRPCServer
	addr string

	mu      sync.Mutex // guards what is below
	got     map[string]int
	headers metadata.MD
	largest int
	calls   int
	answer  func(call int) (plogotlp.ExportResponse, error) // before anything is taken; nil = take all
}

func receive(t *testing.T, options ...grpc.ServerOption) *otlpReceiver {
	in, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	r := &otlpReceiver{addr: in.Addr().String(), got: map[string]int{}}
	s := grpc.NewServer(options...)
	plogotlp.RegisterGRPCServer(s, r)
	done := make(chan error)
	go func() { done <- s.Serve(in) }()
	t.Cleanup(func() {
		s.Stop()
		require.NoError(t, <-done)
	})
	return r
}

// Export implements plogotlp.GRPCServer.
func (r *otlpReceiver) Export(ctx context.Context, req plogotlp.ExportRequest) (plogotlp.ExportResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	resp := plogotlp.NewExportResponse()
	if r.calls++; r.answer != nil {
		var err error
		if resp, err = r.answer(r.calls); err != nil {
			return resp, err
		}
	}
	r.headers, _ = metadata.FromIncomingContext(ctx)
	b, err := req.MarshalProto()
	if err != nil {
		return resp, err
	}
	r.largest = max(r.largest, len(b))
	for _, rl := range req.Logs().ResourceLogs().All() {
		for _, sl := range rl.ScopeLogs().All() {
			for _, lr := range sl.LogRecords().All() {
				r.got[lr.Body().Str()]++
			}
		}
	}
	return resp, nil
}

func (r *otlpReceiver) client(t *testing.T) *Client {
	c, err := Dial(Receiver{
		Endpoint: r.addr, Timeout: 20 * time.Second, RetryFor: time.Second, Backoff: time.Millisecond,
		Headers: map[string]string{"x-scope-orgid": "t-{tenant}"},
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return c
}

// bodies are the records of windows of a tenant, each times so often.
func bodies(tenant string, times int, ks ...uint64) map[string]int {
	out := map[string]int{}
	for _, k := range ks {
		for n := range 10 {
			out[body(tenant, k, n)] = times
		}
	}
	return out
}
