package verify_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/s3window/s3window/cmd/s3window/internal/verify"
	"github.com/s3window/s3window/internal/encode"
	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/lake/laketest"
	"github.com/s3window/s3window/internal/partition"
)

// requestOf is records of a signal that differ in their texts alone, somewhere
// deep in them; timeless ones have no time of their own.
func requestOf(t testing.TB, signal partition.Signal, texts ...string) (b []byte) {
	var err error
	time := func(text string) pcommon.Timestamp {
		if strings.HasPrefix(text, "timeless ") {
			return 0
		}
		return pcommon.Timestamp(at(1) * 1000)
	}
	switch signal {
	case partition.Traces:
		x := ptrace.NewTraces()
		spans := x.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans()
		for _, text := range texts {
			sp := spans.AppendEmpty()
			sp.SetStartTimestamp(time(text))
			sp.Links().AppendEmpty().TraceState().FromRaw("a=b")
			sp.Events().AppendEmpty().SetName("first")
			sp.Events().AppendEmpty().Attributes().PutStr("text", text)
		}
		b, err = (&ptrace.ProtoMarshaler{}).MarshalTraces(x)
	case partition.Metrics:
		x := pmetric.NewMetrics()
		m := x.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty().Metrics().AppendEmpty()
		m.SetName("requests")
		points := m.SetEmptyHistogram().DataPoints()
		for _, text := range texts {
			p := points.AppendEmpty()
			p.SetTimestamp(time(text))
			p.BucketCounts().FromRaw([]uint64{1, 2})
			p.Exemplars().AppendEmpty().SetIntValue(1)
			p.Exemplars().AppendEmpty().FilteredAttributes().PutStr("text", text)
		}
		b, err = (&pmetric.ProtoMarshaler{}).MarshalMetrics(x)
	default:
		x := plog.NewLogs()
		records := x.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords()
		for _, text := range texts {
			r := records.AppendEmpty()
			r.SetTimestamp(time(text))
			r.Body().SetEmptySlice().AppendEmpty().SetStr(text)
		}
		b, err = (&plog.ProtoMarshaler{}).MarshalLogs(x)
	}
	require.NoError(t, err)
	return b
}

// sendOf commits a window whose one request was received at a second.
func (l *testLake) sendOf(signal partition.Signal, k uint64, start, received int64, format, codec string, texts ...string) {
	id := partition.ID{Sink: "default", Tenant: "acme", Signal: signal}
	e, err := encode.New(encode.Spec{Signal: signal, Format: format, Codec: codec, Columns: encode.DefaultColumns()})
	require.NoError(l.t, err)
	staged, err := e.Stage([]encode.Entry{{Payload: requestOf(l.t, signal, texts...), ReceivedAt: at(received)}})
	require.NoError(l.t, err)
	o, err := e.Assemble(id, writerA, []encode.Staged{staged})
	require.NoError(l.t, err)
	var data []byte
	for _, s := range o.Segments {
		data = append(data, s...)
	}
	l.commit(win{id: id, k: k, writer: writerA, after: start, start: start, end: start + 1, rows: o.Records, ext: o.Ext, data: data,
		edit: func(m *lake.Manifest) { m.Format, m.Compression = format, codec }})
}

// formats are how objects are written, each with its codec.
func formats() [][2]string {
	return [][2]string{{"parquet", "zstd"}, {"parquet", "snappy"}, {"jsonl", "zstd"}, {"jsonl", "gzip"}, {"jsonl", "none"}}
}

func allSignals() []partition.Signal {
	return []partition.Signal{partition.Logs, partition.Traces, partition.Metrics}
}

// Objects of every signal, in every format, are held to their manifests.
func TestObjectsOfEverySignalAndFormat(t *testing.T) {
	for _, signal := range allSignals() {
		for _, f := range formats() {
			t.Run(string(signal)+"/"+f[0]+" "+f[1], func(t *testing.T) {
				id := partition.ID{Sink: "default", Tenant: "acme", Signal: signal}
				sound := func() *testLake {
					l := &testLake{Memory: laketest.NewMemory(), t: t}
					l.sendOf(signal, 1, 0, 0, f[0], f[1], "a", "timeless b")
					return l
				}
				r := judge(t, sound(), verify.Options{})
				require.True(t, r.Sound, "%v", r.Damage)
				require.EqualValues(t, 2, r.Records)

				l := sound()
				l.sendOf(signal, 2, 1, 3, f[0], f[1], "received two seconds later")
				r = judge(t, l, verify.Options{})
				require.Len(t, r.Damage, 1)
				require.Equal(t, verify.OutOfBounds, r.Damage[0].Kind)

				l = sound()
				l.editOf(id, func(m *lake.Manifest) { m.Records, m.Objects[0].Records = 3, 3 })
				r = judge(t, l, verify.Options{})
				require.Len(t, r.Damage, 1)
				require.Equal(t, verify.WrongRows, r.Damage[0].Kind)

				l = sound()
				l.editOf(id, func(m *lake.Manifest) {
					content, _ := l.Content(m.Objects[0].Key)
					content = content[:len(content)-1]
					l.Set(m.Objects[0].Key, content)
					m.Objects[0].SHA256, m.Objects[0].Bytes, m.Bytes = sum(content), int64(len(content)), int64(len(content))
				})
				r = judge(t, l, verify.Options{})
				require.Len(t, r.Damage, 1)
				require.Equal(t, verify.Unreadable, r.Damage[0].Kind)
			})
		}
	}
}

// editOf rewrites the first manifest of a partition.
func (l *testLake) editOf(id partition.ID, edit func(*lake.Manifest)) {
	key := partition.ManifestKey(prefix, id, 1)
	content, _ := l.Content(key)
	m, err := lake.DecodeManifest(content)
	require.NoError(l.t, err)
	edit(&m)
	l.manifest(key, m)
}

// Records that were sent again are found whatever their signal and format, and
// those that differ in one text are not taken for such.
func TestDuplicatesOfEverySignalAndFormat(t *testing.T) {
	for _, signal := range allSignals() {
		for _, f := range formats() {
			t.Run(string(signal)+"/"+f[0]+" "+f[1], func(t *testing.T) {
				other := "snappy" // another codec decides nothing
				if f[0] == "jsonl" {
					other = "gzip"
				}
				l := &testLake{Memory: laketest.NewMemory(), t: t}
				l.sendOf(signal, 1, 0, 0, f[0], f[1], "a", "timeless b", "c")
				l.sendOf(signal, 2, 1, 1, f[0], other, "c", "timeless b", "d")
				l.sendOf(signal, 3, 2, 2, f[0], f[1], "timeless a", "C", "e", "e")
				r := duplicates(t, l)
				require.EqualValues(t, 10, r.Duplicates.Records)
				require.Zero(t, r.Duplicates.Unread)
				require.EqualValues(t, 3, r.Duplicates.Duplicated, "%v", r.Notes)
				require.Len(t, r.Notes, 2)
				require.Contains(t, r.Notes[0].Text, "holds 2 records that are in")
				require.Contains(t, r.Notes[1].Text, "holds 1 records that stand before them in it already")
			})
		}
	}
}

// The signals of a tenant are tables of their own.
func TestDuplicatesStayWithinASignal(t *testing.T) {
	l := &testLake{Memory: laketest.NewMemory(), t: t}
	for _, signal := range allSignals() {
		l.sendOf(signal, 1, 0, 0, "jsonl", "zstd", "a")
		l.sendOf(signal, 2, 1, 1, "parquet", "zstd", "a") // nor are those of two formats one
	}
	r := duplicates(t, l)
	require.EqualValues(t, 6, r.Duplicates.Records)
	require.Zero(t, r.Duplicates.Duplicated)
}
