package encode

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/s3window/s3window/internal/encode/encodetest"
	"github.com/s3window/s3window/internal/partition"
	"github.com/s3window/s3window/testbed/duckdbtest"
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
		if h := idleStagers(e)[0].held(); h > ScratchBytes {
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
			best := time.Duration(math.MaxInt64)
			for b.Loop() {
				from := cpu()
				s := stage(b, e, entries)
				rows, size, best = s.Rows, s.Bytes, min(best, cpu()-from)
			}
			b.ReportMetric(float64(best.Nanoseconds())/float64(rows), "cpu-ns/row-min")
			b.ReportMetric(float64(size)/float64(rows), "B/row")
		})
	}
}

// A filter finds exactly the rows that have the value, whatever DuckDB skips by
// statistics and bloom filters.
func TestFiltersFindEverySpanAndPoint(t *testing.T) {
	columns := map[partition.Signal][]string{
		partition.Traces:  {"ts", "duration_nano", "trace_id", "parent_span_id", "name", "kind", "status_code", "service_name", "http_route", "host_name"},
		partition.Metrics: {"ts", "metric_name", "metric_type", "is_monotonic", "service_name", "http_route", "value", "value_int", "count", "scale", "positive_offset"},
	}
	db := duckdbtest.Open(t)
	for signal, requests := range generated(11, 6000) {
		spec := signalSpec(signal)
		e := newTestEncoder(t, spec)
		var staged []Staged
		var want grid
		for _, entry := range asEntries(requests) {
			staged = append(staged, stage(t, e, []Entry{entry}))
			g := tracesOrMetricsOracle(t, []Entry{entry}, spec)
			want.columns, want.rows = g.columns, append(want.rows, g.rows...)
		}
		from := " FROM read_parquet(" + duckdbtest.Quote(saved(t, object(t, e, staged...))) + ") WHERE "
		for _, name := range columns[signal] {
			at := slices.Index(want.columns, name)
			rows := map[string]int{}
			for _, r := range want.rows {
				rows[r[at]]++
			}
			n := 0
			for v, k := range rows {
				if n++; n > 5 {
					break
				}
				where := name + " = " + duckdbtest.Quote(v)
				switch {
				case v == nullCell:
					where = name + " IS NULL"
				case name == "ts":
					where = "ts = make_timestamptz(" + v + ")"
				}
				if got := db.Query("SELECT count(*)" + from + where).Rows[0][0].(string); got != fmt.Sprint(k) {
					t.Errorf("%s: %s: %s rows, want %d", signal, where, got, k)
				}
			}
		}
	}
}

func tracesOrMetricsOracle(t testing.TB, entries []Entry, spec Spec) grid {
	t.Helper()
	if spec.Signal == partition.Traces {
		return tracesOracle(t, entries, spec.Columns)
	}
	return metricsOracle(t, entries, spec.Columns)
}

// The types that DuckDB sees are part of the format.
func TestDuckDBTypesOfSpansAndPoints(t *testing.T) {
	db := duckdbtest.Open(t)
	for signal, entries := range map[partition.Signal][]Entry{
		partition.Traces: tracesEntries(t, oneSpan(everySpanField)), partition.Metrics: metricsEntries(t, everyMetric),
	} {
		spec := signalSpec(signal)
		spec.Columns = nil
		e := newTestEncoder(t, spec)
		file := saved(t, object(t, e, stage(t, e, entries)))
		got := ""
		for _, r := range db.Query("DESCRIBE FROM read_parquet(" + duckdbtest.Quote(file) + ")").Rows {
			got += fmt.Sprintf("%s %s\n", r[0], r[1])
		}
		golden(t, "testdata/"+string(signal)+"-v1.duckdb.txt", []byte(got))
	}
}
