package synctest

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/s3window/s3window/internal/encode"
	"github.com/s3window/s3window/internal/encode/encodetest"
	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/partition"
)

const writer = "q7m2q7m2q7m2q"

// Writer commits windows to a lake as the exporter does. One goroutine uses it.
type Writer struct {
	Lake *lake.Lake

	t     testing.TB
	logs  map[partition.ID]*chain
	clock time.Time // of the next window
}

// chain is where a commit log stands.
type chain struct {
	k    uint64
	end  int64
	prev *lake.Prev
}

// NewWriter makes a writer to an empty lake.
func NewWriter(t testing.TB, l *lake.Lake) *Writer {
	return &Writer{Lake: l, t: t, logs: map[partition.ID]*chain{}, clock: time.Date(2026, 11, 30, 22, 58, 0, 0, time.UTC)}
}

// Window says what a window holds. The zero value is one object of 10 log records
// in Parquet.
type Window struct {
	// Signal is of the window's records; empty is logs. Those of other signals
	// are ordinary ones, about Rows of them.
	Signal  partition.Signal
	Rows    int
	Objects int // 0 = 1; each has Rows records
	Empty   bool
	Format  string
	Columns []encode.Column
	Set     map[string]any // attributes of every record
	// Long has the window cross an hour, as with align: day or none.
	Long bool
	// Elsewhere files the objects under another hour, as partition.time: event
	// and by do.
	Elsewhere bool
}

// ID names the commit log of a tenant's logs.
func ID(tenant string) partition.ID {
	return partition.ID{Sink: "default", Tenant: tenant, Signal: partition.Logs}
}

// Commit commits the next window of a tenant and returns its manifest.
func (w *Writer) Commit(tenant string, is Window) lake.Manifest {
	w.t.Helper()
	if is.Rows == 0 {
		is.Rows = 10
	}
	if is.Format == "" {
		is.Format = "parquet"
	}
	if is.Objects == 0 {
		is.Objects = 1
	}
	id := ID(tenant)
	if is.Signal != "" {
		id.Signal = is.Signal
	}
	c := w.logs[id]
	if c == nil {
		c = &chain{}
		w.logs[id] = c
	}
	w.clock = w.clock.Add(time.Minute)
	start := w.clock.UnixMicro()
	end := start + int64(is.Rows)
	if is.Long {
		w.clock = w.clock.Add(2 * time.Hour)
		end = w.clock.UnixMicro()
	}
	m := lake.Manifest{
		Version: lake.ManifestVersion, Sink: id.Sink, Tenant: tenant, Signal: id.Signal, K: c.k + 1, Writer: writer, After: c.end,
		Start: start, End: end, Reason: "age", Format: is.Format, Compression: "zstd", Schema: encode.SchemaVersion(), RawBytes: 1,
		MinTime: start, MaxTime: end, Prev: c.prev, CommittedAt: w.clock, Writers: map[string]lake.Reach{writer: {End: end, K: c.k + 1}},
	}
	for i := range is.Objects {
		if is.Empty {
			break
		}
		o := w.object(id, is, i, start, end)
		m.Objects, m.Records, m.Bytes = append(m.Objects, o), m.Records+o.Records, m.Bytes+o.Bytes
	}
	sha, err := w.Lake.PutManifest(w.t.Context(), id, m)
	require.NoError(w.t, err)
	c.k, c.end = m.K, end
	c.prev = &lake.Prev{K: m.K, Key: partition.ManifestKey(w.Lake.Prefix(), id, m.K), SHA256: sha}
	return m
}

func (w *Writer) object(id partition.ID, is Window, i int, start, end int64) lake.Object {
	spec := encode.Spec{Signal: id.Signal, Format: is.Format, Codec: "zstd", Columns: is.Columns}
	e, err := encode.New(spec)
	require.NoError(w.t, err)
	at := start
	if is.Long {
		at = end - int64(is.Rows) // also behind the hour
	}
	var entries []encode.Entry
	for _, p := range payloads(w.t, id, w.logs[id].k+1, i, is) {
		entries = append(entries, encode.Entry{Payload: p, ReceivedAt: at})
	}
	staged, err := e.Stage(entries)
	require.NoError(w.t, err)
	o, err := e.Assemble(id, writer, []encode.Staged{staged})
	require.NoError(w.t, err)
	name := partition.ObjectName{Start: start, End: end, Writer: writer, Ext: o.Ext}
	if is.Objects > 1 {
		name.Part = i + 1
	}
	place := partition.Place{Time: start, Align: partition.AlignHour}
	if is.Elsewhere {
		place.Time -= int64(i+1) * int64(24*time.Hour/time.Microsecond)
		place.Levels = partition.Level("service", "cart")
	}
	key := partition.PlacedKey(w.Lake.Prefix(), id, place, name)
	put, err := w.Lake.PutObject(w.t.Context(), key, lake.NewBody(o.ContentType, o.Segments...),
		lake.ObjectMeta{Records: o.Records, MinTime: o.MinTime, MaxTime: o.MaxTime, Encoder: o.Encoder})
	require.NoError(w.t, err)
	return put
}

// payloads are the OTLP requests of an object.
func payloads(t testing.TB, id partition.ID, k uint64, object int, is Window) (out [][]byte) {
	t.Helper()
	switch id.Signal {
	case partition.Traces:
		for _, p := range encodetest.Traces(int64(k), is.Rows) {
			all, err := (&ptrace.ProtoUnmarshaler{}).UnmarshalTraces(p)
			require.NoError(t, err)
			for _, r := range all.ResourceSpans().All() {
				r.Resource().Attributes().PutStr("tenant.id", id.Tenant)
			}
			b, err := (&ptrace.ProtoMarshaler{}).MarshalTraces(all)
			require.NoError(t, err)
			out = append(out, b)
		}
	case partition.Metrics:
		for _, p := range encodetest.Metrics(int64(k), is.Rows) {
			all, err := (&pmetric.ProtoUnmarshaler{}).UnmarshalMetrics(p)
			require.NoError(t, err)
			for _, r := range all.ResourceMetrics().All() {
				r.Resource().Attributes().PutStr("tenant.id", id.Tenant)
			}
			b, err := (&pmetric.ProtoMarshaler{}).MarshalMetrics(all)
			require.NoError(t, err)
			out = append(out, b)
		}
	default:
		out = append(out, records(t, id.Tenant, k, object, is))
	}
	return out
}

// records is an OTLP request. The body of each record says whose it is: tenant,
// window, object and number.
func records(t testing.TB, tenant string, k uint64, object int, is Window) []byte {
	t.Helper()
	logs := plog.NewLogs()
	r := logs.ResourceLogs().AppendEmpty()
	r.Resource().Attributes().PutStr("tenant.id", tenant)
	r.Resource().Attributes().PutStr("service.name", []string{"cart", "checkout"}[k%2])
	all := r.ScopeLogs().AppendEmpty().LogRecords()
	for i := range is.Rows {
		one := all.AppendEmpty()
		one.SetTimestamp(pcommon.Timestamp(1796000000000000000 + int64(i)))
		one.Body().SetStr(fmt.Sprintf("%s/%d/%d/%d", tenant, k, object, i))
		require.NoError(t, one.Attributes().FromRaw(is.Set))
	}
	b, err := (&plog.ProtoMarshaler{}).MarshalLogs(logs)
	require.NoError(t, err)
	return b
}

// Bodies returns the bodies that the records of a window have.
func Bodies(tenant string, m lake.Manifest) []string {
	var out []string
	for object, o := range m.Objects {
		for i := range o.Records {
			out = append(out, fmt.Sprintf("%s/%d/%d/%d", tenant, m.K, object, i))
		}
	}
	return out
}
