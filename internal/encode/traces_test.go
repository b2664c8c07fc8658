package encode

import (
	"os"
	"strings"
	"testing"

	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/s3window/s3window/internal/partition"
	"github.com/s3window/s3window/testbed/duckdbtest"
)

func tracesSpec(columns ...Column) Spec {
	return Spec{Signal: partition.Traces, Format: "parquet", Codec: "zstd", Columns: columns}
}

func tracesEntries(t testing.TB, fill func(ptrace.Traces)) []Entry {
	t.Helper()
	traces := ptrace.NewTraces()
	fill(traces)
	b, err := (&ptrace.ProtoMarshaler{}).MarshalTraces(traces)
	if err != nil {
		t.Fatal(err)
	}
	return []Entry{{Payload: b, ReceivedAt: 1789990000654321}}
}

func TestTracesAsEveryReaderReadsThem(t *testing.T) {
	db := duckdbtest.Open(t)
	spec := tracesSpec(testColumns()...)
	e := newTestEncoder(t, spec)
	for _, c := range tracesCases() {
		t.Run(c.name, func(t *testing.T) {
			entries := tracesEntries(t, c.fill)
			staged := stage(t, e, entries)
			if len(staged.Rejected) > 0 {
				t.Fatal(staged.Rejected)
			}
			want := tracesOracle(t, entries, spec.Columns)
			if staged.Rows != len(want.rows) {
				t.Errorf("%d are staged, want %d", staged.Rows, len(want.rows))
			}
			file := object(t, e, staged)
			for _, r := range readers(db) {
				for _, d := range differences(r.read(t, file), want) {
					t.Errorf("%s: %s", r.name, d)
				}
			}
		})
	}
}

func TestGoldenTraces(t *testing.T) {
	spec := tracesSpec(append(DefaultColumns(), testColumns()...)...)
	e := newTestEncoder(t, spec)
	var entries []Entry
	for i, c := range tracesCases()[:11] {
		entries = append(entries, tracesEntries(t, c.fill)...)
		entries[i].ReceivedAt += int64(i)
	}
	golden(t, "testdata/traces-v1.parquet", object(t, e, stage(t, e, entries), stage(t, e, entries[2:3])))
	old, err := os.ReadFile("testdata/traces-v1.parquet")
	if err != nil {
		t.Fatal(err)
	}
	want := tracesOracle(t, entries, spec.Columns)
	want.rows = append(want.rows, tracesOracle(t, entries[2:3], spec.Columns).rows...)
	for _, d := range differences(readParquetGo(t, old), want) {
		t.Error(d)
	}
	golden(t, "testdata/traces-v1.txt", []byte(describe(t, old)))
}

// spanMessage is a request with one span.
func spanMessage(parts ...[]byte) []byte { return record(parts...) }

func malformedTraces() map[string][]byte {
	return map[string][]byte{
		"span as number":          request(msg(2, num(2, 1))),
		"trace id of 15 bytes":    spanMessage(str(1, strings.Repeat("x", 15))),
		"span id of 9 bytes":      spanMessage(str(2, strings.Repeat("x", 9))),
		"parent id of 1 byte":     spanMessage(str(4, "x")),
		"name as number":          spanMessage(num(5, 1)),
		"kind as string":          spanMessage(str(6, "x")),
		"start as varint":         spanMessage(num(7, 1)),
		"attribute as number":     spanMessage(num(9, 1)),
		"attribute cut":           spanMessage(msg(9, []byte{0x0a, 9})),
		"event as number":         spanMessage(num(11, 1)),
		"event cut":               spanMessage(msg(11, []byte{0x12, 9})),
		"event time as varint":    spanMessage(msg(11, num(1, 1))),
		"event attribute":         spanMessage(msg(11, msg(3, num(1, 1)))),
		"event nested too deep":   spanMessage(msg(11, msg(3, str(1, "k"), msg(2, nested(3000))))),
		"link trace id":           spanMessage(msg(13, str(1, "x"))),
		"link span id":            spanMessage(msg(13, str(2, "x"))),
		"link flags as varint":    spanMessage(msg(13, num(6, 1))),
		"link attribute":          spanMessage(msg(13, msg(4, []byte{0x0a, 9}))),
		"status as number":        spanMessage(num(15, 1)),
		"status code as string":   spanMessage(msg(15, str(3, "x"))),
		"flags as varint":         spanMessage(num(16, 1)),
		"flags cut":               spanMessage([]byte{0x85, 0x01, 1}),
		"events before a bad one": spanMessage(msg(11, str(2, "a"), attr(3, "k", "v")), msg(13, attr(4, "k", "v")), msg(11, num(2, 1))),
	}
}

func FuzzStageTraces(f *testing.F) {
	for _, c := range tracesCases()[:11] {
		f.Add(tracesEntries(f, c.fill)[0].Payload)
	}
	for _, payload := range malformedTraces() {
		if len(payload) < 1000 {
			f.Add(payload)
		}
	}
	spec := tracesSpec(testColumns()...)
	e := newTestEncoder(f, spec)
	f.Fuzz(func(t *testing.T, payload []byte) { checkTracesAgainstPdata(t, e, spec, payload) })
}

// checkTracesAgainstPdata is checkAgainstPdata for spans.
func checkTracesAgainstPdata(t *testing.T, e *Encoder, spec Spec, payload []byte) {
	t.Helper()
	entries := []Entry{{Payload: payload, ReceivedAt: 1}}
	staged := stage(t, e, entries)
	got := readParquetGo(t, object(t, e, staged))
	if len(staged.Rejected) > 0 {
		checkRejected(t, spec.Signal, payload, staged, len(got.rows))
		return
	}
	if staged.Rows != len(got.rows) {
		t.Errorf("staged are %d rows, read %d", staged.Rows, len(got.rows))
	}
	if _, err := (&ptrace.ProtoUnmarshaler{}).UnmarshalTraces(payload); err != nil {
		return
	}
	for _, d := range differences(got, tracesOracle(t, entries, spec.Columns)) {
		t.Errorf("%x: %s", payload, d)
	}
}
