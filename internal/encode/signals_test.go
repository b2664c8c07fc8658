package encode

import (
	"bytes"
	"testing"

	"github.com/s3window/s3window/internal/encode/encodetest"
	"github.com/s3window/s3window/internal/partition"
)

// generated are requests of the signals that have lists.
func generated(seed int64, n int) map[partition.Signal][][]byte {
	return map[partition.Signal][][]byte{
		partition.Traces: encodetest.Traces(seed, n), partition.Metrics: encodetest.Metrics(seed, n),
	}
}

func asEntries(requests [][]byte) (entries []Entry) {
	for i, p := range requests {
		entries = append(entries, Entry{Payload: p, ReceivedAt: int64(i)})
	}
	return entries
}

func signalSpec(s partition.Signal) Spec {
	return Spec{Signal: s, Format: "parquet", Codec: "zstd", Columns: DefaultColumns()}
}

// The same entries give the same bytes on a new encoder and a used one, also
// behind a request that is malformed in the middle of a list.
func TestSameSpansAndPointsSameBytes(t *testing.T) {
	for signal, requests := range generated(1, 20000) {
		entries := asEntries(requests)
		fresh := newTestEncoder(t, signalSpec(signal))
		want := object(t, fresh, stage(t, fresh, entries))
		bad := spanMessage(msg(11, attr(3, "k", "v")), msg(11, num(2, 1)))
		if signal == partition.Metrics {
			bad = malformedMetrics()["a bad one behind lists"]
		}
		used := newTestEncoder(t, signalSpec(signal))
		stage(t, used, []Entry{entries[len(entries)-1], {Payload: bad}})
		for range 2 {
			if got := object(t, used, stage(t, used, entries)); !bytes.Equal(got, want) {
				t.Errorf("%s: a used encoder gives other bytes", signal)
			}
		}
	}
}

func TestAllocationsPerSpanAndPoint(t *testing.T) {
	for signal, requests := range generated(2, 20000) {
		e := newTestEncoder(t, signalSpec(signal))
		entries := asEntries(requests)
		rows := stage(t, e, entries).Rows
		n := testing.AllocsPerRun(2, func() { stage(t, e, entries) })
		if per := n / float64(rows); per >= 0.05 {
			t.Errorf("%s: %.4f allocations per row, want less than 0.05", signal, per)
		}
		if h := e.idle[0].held(); h > ScratchBytes {
			t.Errorf("%s: the stager holds %d bytes, more than ScratchBytes", signal, h)
		}
	}
}

// A single metric with more points than a row group may have rows is cut.
func TestHugeMetricAndScopeAreCut(t *testing.T) {
	const rows = MaxRowGroupRows + 5
	for signal, payload := range map[partition.Signal][]byte{
		partition.Traces:  request(msg(1, attr(1, "service.name", "s")), msg(2, bytes.Repeat(msg(2, str(5, "late")), rows), str(3, "url"))),
		partition.Metrics: request(msg(1, attr(1, "service.name", "s")), msg(2, msg(2, msg(5, bytes.Repeat(msg(1, fixed64(6, 3)), rows)), str(1, "late")), str(3, "url"))),
	} {
		e := newTestEncoder(t, signalSpec(signal))
		staged := stage(t, e, []Entry{{Payload: payload}})
		if n := len(staged.groups); n != 2 || staged.groups[0].Rows != MaxRowGroupRows || staged.Rows != rows {
			t.Fatalf("%s: %d row groups, %d rows", signal, n, staged.Rows)
		}
		g := readParquetGo(t, object(t, e, staged))
		name := map[partition.Signal]string{partition.Traces: "name", partition.Metrics: "metric_name"}[signal]
		want := map[string]string{name: "late", "service_name": "s", "scope_schema_url": "url"}
		for i, row := range g.rows {
			for j, column := range g.columns {
				if w, ok := want[column]; ok && row[j] != w {
					t.Fatalf("%s: row %d has %s %q", signal, i, column, row[j])
				}
			}
		}
	}
}

func BenchmarkSignals(b *testing.B) {
	for signal, requests := range generated(42, 30000) {
		b.Run(string(signal), func(b *testing.B) {
			e := newTestEncoder(b, signalSpec(signal))
			entries := asEntries(requests)
			rows, size := 0, int64(0)
			b.ReportAllocs()
			for b.Loop() {
				s := stage(b, e, entries)
				rows, size = s.Rows, s.Bytes
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(rows), "ns/row")
			b.ReportMetric(float64(size)/float64(rows), "B/row")
		})
	}
}
