package encode

import (
	"encoding/binary"
	"math"
	"os"
	"testing"

	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/s3window/s3window/internal/partition"
	"github.com/s3window/s3window/testbed/duckdbtest"
)

func metricsSpec(columns ...Column) Spec {
	return Spec{Signal: partition.Metrics, Format: "parquet", Codec: "zstd", Columns: columns}
}

func metricsEntries(t testing.TB, fill func(pmetric.Metrics)) []Entry {
	t.Helper()
	m := pmetric.NewMetrics()
	fill(m)
	b, err := (&pmetric.ProtoMarshaler{}).MarshalMetrics(m)
	if err != nil {
		t.Fatal(err)
	}
	return []Entry{{Payload: b, ReceivedAt: 1789990000654321}}
}

func TestMetricsAsEveryReaderReadsThem(t *testing.T) {
	db := duckdbtest.Open(t)
	spec := metricsSpec(testColumns()...)
	e := newTestEncoder(t, spec)
	for _, c := range metricsCases() {
		t.Run(c.name, func(t *testing.T) {
			checkMetrics(t, e, metricsEntries(t, c.fill)[0].Payload, readers(db))
		})
	}
}

// checkMetrics checks a request that pdata accepts.
func checkMetrics(t *testing.T, e *Encoder, payload []byte, rs []reader) {
	t.Helper()
	entries := []Entry{{Payload: payload, ReceivedAt: 1789990000654321}}
	staged := stage(t, e, entries)
	if len(staged.Rejected) > 0 {
		t.Fatal(staged.Rejected)
	}
	want := metricsOracle(t, entries, e.spec.Columns)
	if staged.Rows != len(want.rows) {
		t.Errorf("%d are staged, want %d", staged.Rows, len(want.rows))
	}
	file := object(t, e, staged)
	for _, r := range rs {
		for _, d := range differences(r.read(t, file), want) {
			t.Errorf("%s: %s", r.name, d)
		}
	}
}

func TestGoldenMetrics(t *testing.T) {
	spec := metricsSpec(append(DefaultColumns(), testColumns()...)...)
	e := newTestEncoder(t, spec)
	var entries []Entry
	for i, c := range metricsCases()[:11] {
		entries = append(entries, metricsEntries(t, c.fill)...)
		entries[i].ReceivedAt += int64(i)
	}
	golden(t, "testdata/metrics-v1.parquet", object(t, e, stage(t, e, entries), stage(t, e, entries[3:4])))
	old, err := os.ReadFile("testdata/metrics-v1.parquet")
	if err != nil {
		t.Fatal(err)
	}
	want := metricsOracle(t, entries, spec.Columns)
	want.rows = append(want.rows, metricsOracle(t, entries[3:4], spec.Columns).rows...)
	for _, d := range differences(readParquetGo(t, old), want) {
		t.Error(d)
	}
	golden(t, "testdata/metrics-v1.txt", []byte(describe(t, old)))
}

func f64(f float64) []byte { return binary.LittleEndian.AppendUint64(nil, math.Float64bits(f)) }

// metric is a request with one metric.
func metric(parts ...[]byte) []byte { return record(parts...) }

func TestWireFormsOfMetrics(t *testing.T) {
	e := newTestEncoder(t, metricsSpec(testColumns()...))
	for name, payload := range map[string][]byte{
		"numbers that are not packed": metric(msg(9, msg(1, fixed64(6, 1), field(7, 1, f64(.5)), fixed64(6, 2)))),
		"buckets that are not packed": metric(msg(10, msg(1, msg(8, num(2, 1), num(2, 300), msg(2, []byte{4, 5}))))),
		"buckets in two parts":        metric(msg(10, msg(1, msg(8, num(1, 3), num(2, 1)), msg(8, num(2, 2))))),
		"kinds of data in turn":       metric(str(1, "m"), msg(5, msg(1, fixed64(6, 1))), msg(9, msg(1), msg(1)), num(2000, 1)),
		"one kind of data twice":      metric(msg(7, msg(1), num(3, 1)), msg(7, msg(1), msg(1), num(2, 2))),
		"values in turn":              metric(msg(5, msg(1, field(4, 1, f64(1)), fixed64(6, 7)), msg(1, fixed64(6, 7), field(4, 1, f64(1))))),
		"header behind its points":    metric(msg(7, msg(1, fixed64(6, 1)), num(3, 1), num(2, 2)), str(3, "u"), str(1, "n"), attr(12, "k", "v")),
		"scalars twice":               metric(msg(9, msg(1, fixed64(4, 1), fixed64(4, 2), field(5, 1, f64(1)), field(5, 1, f64(2))))),
		"unknown fields":              metric(num(99, 1), msg(11, num(77, 1), msg(1, num(66, 2), msg(6, num(55, 3))))),
	} {
		t.Run(name, func(t *testing.T) {
			checkMetrics(t, e, payload, []reader{{"parquet-go", readParquetGo}})
		})
	}
}

func malformedMetrics() map[string][]byte {
	point := func(kind int, parts ...[]byte) []byte { return metric(msg(kind, msg(1, parts...))) }
	return map[string][]byte{
		"metric as number":          request(msg(2, num(2, 1))),
		"name as number":            metric(num(1, 1), msg(5, msg(1))),
		"data as number":            metric(num(5, 1)),
		"data cut":                  metric(msg(5, []byte{0x0a, 9})),
		"points as number":          metric(msg(5, num(1, 1))),
		"temporality as string":     metric(msg(7, str(2, "x"), msg(1))),
		"monotonic as string":       metric(msg(7, str(3, "x"), msg(1))),
		"time as varint":            point(5, num(3, 1)),
		"value as varint":           point(5, num(4, 1)),
		"integer as varint":         point(5, num(6, 1)),
		"flags as string":           point(5, str(8, "x")),
		"attribute cut":             point(5, msg(7, []byte{0x0a, 9})),
		"attributes nested deep":    point(5, msg(7, str(1, "k"), msg(2, nested(3000)))),
		"exemplar trace id":         point(5, msg(5, str(5, "x"))),
		"exemplar span id":          point(5, msg(5, str(4, "x"))),
		"exemplar value as varint":  point(5, msg(5, num(3, 1))),
		"exemplar attribute":        point(5, msg(5, msg(7, num(1, 1)))),
		"histogram count as varint": point(9, num(4, 1)),
		"packed counts of 9 bytes":  point(9, msg(6, make([]byte, 9))),
		"packed bounds of 7 bytes":  point(9, msg(7, make([]byte, 7))),
		"counts as varint":          point(9, num(6, 1)),
		"scale as string":           point(10, str(6, "x")),
		"buckets cut":               point(10, msg(8, []byte{0x12, 9})),
		"bucket varint cut":         point(10, msg(8, msg(2, []byte{0x80}))),
		"offset as string":          point(10, msg(9, str(1, "x"))),
		"quantile as varint":        point(11, msg(6, num(1, 1))),
		"summary count as varint":   point(11, num(4, 1)),
		"metadata as number":        metric(num(12, 1), msg(5, msg(1))),
		"metadata value":            metric(msg(12, msg(2, num(1, 1))), msg(5, msg(1))),
		"a bad one behind lists":    point(9, msg(6, make([]byte, 16)), msg(8, attr(7, "k", "v")), num(5, 1)),
	}
}

func FuzzStageMetrics(f *testing.F) {
	for _, c := range metricsCases()[:11] {
		f.Add(metricsEntries(f, c.fill)[0].Payload)
	}
	for _, payload := range malformedMetrics() {
		if len(payload) < 1000 {
			f.Add(payload)
		}
	}
	e := newTestEncoder(f, metricsSpec(testColumns()...))
	f.Fuzz(func(t *testing.T, payload []byte) {
		staged := stage(t, e, []Entry{{Payload: payload, ReceivedAt: 1}})
		if len(staged.Rejected) > 0 {
			return
		}
		m, err := (&pmetric.ProtoUnmarshaler{}).UnmarshalMetrics(payload)
		if err != nil {
			return
		}
		// As pdata writes it: what it makes of a list that is packed in parts is
		// not what protobuf says.
		again, err := (&pmetric.ProtoMarshaler{}).MarshalMetrics(m)
		if err != nil {
			t.Fatal(err)
		}
		checkMetrics(t, e, again, []reader{{"parquet-go", readParquetGo}})
	})
}
