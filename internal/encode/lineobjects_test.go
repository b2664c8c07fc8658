package encode

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/s3window/s3window/internal/encode/encodetest"
	"github.com/s3window/s3window/internal/partition"
	"github.com/s3window/s3window/testbed/duckdbtest"
)

func TestSameEntriesSameLines(t *testing.T) {
	for _, s := range lineSignals(t) {
		sameEntriesSameLines(t, s)
	}
}

func sameEntriesSameLines(t *testing.T, s lineSignal) {
	batches, _, _ := calls(t, s.generated(1, 40000))
	odd := []Entry{s.good}
	for _, codec := range s.codecs() {
		spec := s.spec(codec, DefaultColumns()...)
		var want [][]byte
		for _, b := range batches {
			e := newTestEncoder(t, spec)
			want = append(want, object(t, e, stage(t, e, b)))
		}
		e := newTestEncoder(t, spec)
		var wg sync.WaitGroup
		for worker := range 4 {
			wg.Go(func() {
				for i := range batches {
					i := (i + worker) % len(batches)
					stage(t, e, odd)
					if got := object(t, e, stage(t, e, batches[i])); !bytes.Equal(got, want[i]) {
						t.Errorf("%s, %s: batch %d has other bytes on worker %d", s.signal, codec, i, worker)
					}
				}
			})
		}
		wg.Wait()
	}
}

func TestLinesAreJoined(t *testing.T) {
	for _, c := range []struct{ codec, ext, contentType string }{
		{"zstd", "jsonl.zst", "application/zstd"}, {"gzip", "jsonl.gz", "application/gzip"}, {"none", "jsonl", "application/jsonl"},
	} {
		e, plain := newTestEncoder(t, lineSpec(c.codec)), newTestEncoder(t, lineSpec("none"))
		var staged, lines []Staged
		for i, p := range encodetest.Logs(5, 4000) {
			entries := []Entry{{Payload: p, ReceivedAt: int64(i)}}
			lines = append(lines, stage(t, plain, entries))
			staged = append(staged, stage(t, e, entries), stage(t, e, nil))
			clear(p)
		}
		o, err := e.Assemble(testID(), "q7m2q7m2q7m2q", staged)
		if err != nil {
			t.Fatal(err)
		}
		if o.Ext != c.ext || o.ContentType != c.contentType || o.Encoder != linesVersion || o.Records != 4000 {
			t.Errorf("object says %q %q %q, %d records", o.Ext, o.ContentType, o.Encoder, o.Records)
		}
		file := bytes.Join(o.Segments, nil)
		if c.codec == "gzip" && !bytes.Equal(file[:9], []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, file[8]}) {
			t.Errorf("a gzip header of % x carries more than it must", file[:10])
		}
		if !bytes.Equal(unpacked(t, c.codec, file), object(t, plain, lines...)) {
			t.Errorf("%s: the frames do not add up to the lines", c.codec)
		}
		if none := object(t, e, stage(t, e, nil)); len(unpacked(t, c.codec, none)) != 0 || (len(none) == 0) != (c.codec == "none") {
			t.Errorf("%s: an object without records has the bytes % x", c.codec, none)
		}
	}
}

func TestLinesAllocateNothingPerRecord(t *testing.T) {
	for _, s := range lineSignals(t) {
		batches, _, _ := calls(t, s.generated(3, 10000))
		for _, codec := range lineCodecs {
			e := newTestEncoder(t, s.spec(codec, DefaultColumns()...))
			n := testing.AllocsPerRun(3, func() {
				for _, b := range batches {
					stage(t, e, b)
				}
			})
			if n/10000 > 0.01 {
				t.Errorf("%s, %s: %.3f allocations a record", s.signal, codec, n/10000)
			}
		}
	}
}

func TestReplacedIsCountedInLines(t *testing.T) {
	e := newTestEncoder(t, lineSpec("none"))
	bad := record(msg(5, str(1, "\xff")), str(3, "\xff"), attr(6, "\xff", "a\xfe\xfeb\xffc"), attr(6, `"\`, "ok"))
	if s := stage(t, e, []Entry{{Payload: bad}}); s.Replaced != 4 {
		t.Errorf("%d strings counted as mended, want 4", s.Replaced)
	}
}

func TestReplacedIsCountedInLinesOfOtherSignals(t *testing.T) {
	for signal, payload := range map[partition.Signal][]byte{
		partition.Traces:  spanMessage(str(5, "\xff"), msg(11, str(2, "\xff"), attr(3, "\xff", "a\xfe\xfeb\xffc")), msg(13, str(3, `"\`))),
		partition.Metrics: metric(str(1, "\xff"), str(2, "\xff"), msg(5, msg(1, attr(7, "\xff", "ok")), msg(1, msg(5, attr(7, "k", "\xff"))))),
	} {
		e := newTestEncoder(t, Spec{Signal: signal, Format: "jsonl", Codec: "none"})
		if s := stage(t, e, []Entry{{Payload: payload}}); s.Replaced != 4 {
			t.Errorf("%s: %d strings counted as mended, want 4", signal, s.Replaced)
		}
	}
}

// DuckDB finds names and types by itself, over several frames or members.
func TestDuckDBReadsLines(t *testing.T) {
	db := duckdbtest.Open(t)
	for _, codec := range lineCodecs {
		e := newTestEncoder(t, lineSpec(codec, DefaultColumns()...))
		var staged []Staged
		for i, p := range encodetest.Logs(5, 3000) {
			staged = append(staged, stage(t, e, []Entry{{Payload: p, ReceivedAt: encodetest.Start/1000 + int64(i)}}))
		}
		path := savedAs(t, "object."+map[string]string{"zstd": "jsonl.zst", "gzip": "jsonl.gz", "none": "jsonl"}[codec], object(t, e, staged...))
		r := db.Query(`SELECT count(*), count(DISTINCT trace_id) > 10, min(ts)::VARCHAR LIKE '2026-09-21%', typeof(any_value(time_unix_nano)),
			min(time_unix_nano) > 1789990000000000000, count(DISTINCT service_name) > 3, count(resource_attributes), sum((http_route IS NOT NULL)::INT) > 10
			FROM read_json(` + duckdbtest.Quote(path) + `)`)
		if got := fmt.Sprint(r.Rows); got != "[[3000 true true BIGINT true true 3000 true]]" {
			t.Errorf("%s: DuckDB says %s", codec, got)
		}
	}
	duckDBReadsOtherSignals(t, db)
	// With the columns spelled out it reads anything.
	e := newTestEncoder(t, lineSpec("zstd", testColumns()...))
	var entries []Entry
	for _, c := range inputCases() {
		if !strings.Contains(c.name, "10 MiB") {
			entries = append(entries, encodeCase(t, c)...)
		}
	}
	staged := stage(t, e, entries)
	path := savedAs(t, "hostile.jsonl.zst", object(t, e, staged))
	r := db.Query(`SELECT count(*), count(body) > 10 FROM read_json(` + duckdbtest.Quote(path) +
		`, format = 'newline_delimited', maximum_object_size = 100000000,
		columns = {ts: 'VARCHAR', time_unix_nano: 'BIGINT', body: 'JSON', attributes: 'JSON', resource_attributes: 'JSON', "int": 'BIGINT', "double": 'DOUBLE'})`)
	if got := fmt.Sprint(r.Rows); got != fmt.Sprintf("[[%d true]]", staged.Rows) {
		t.Errorf("DuckDB says %s of %d lines", got, staged.Rows)
	}
}

func duckDBReadsOtherSignals(t *testing.T, db *duckdbtest.DB) {
	for signal, query := range map[partition.Signal]string{
		partition.Traces: `SELECT count(*), count(DISTINCT trace_id) > 10, typeof(any_value(duration_nano)), min(ts)::VARCHAR LIKE '2026-09-21%',
			sum(len(events)) > 100, count(*) FILTER (events[1].name = 'message') > 100, count(*) FILTER (links[1].trace_id = trace_id) > 100,
			count(DISTINCT kind), sum((http_route IS NOT NULL)::INT) > 10`,
		partition.Metrics: `SELECT count(*), count(DISTINCT metric_name) > 10, typeof(any_value(value_int)), typeof(any_value(value)),
			typeof(any_value(bucket_counts)), typeof(any_value(explicit_bounds)), sum(list_sum(bucket_counts)) = sum(count) FILTER (metric_type = 'histogram'),
			min(len(exemplars)), count(*) FILTER (exemplars[1].span_id = left(exemplars[1].trace_id, 16)) > 10`,
	} {
		e := newTestEncoder(t, Spec{Signal: signal, Format: "jsonl", Codec: "zstd", Columns: DefaultColumns()})
		generated := map[partition.Signal]func(int64, int) [][]byte{partition.Traces: encodetest.Traces, partition.Metrics: encodetest.Metrics}[signal]
		var staged []Staged
		rows := 0
		for i, p := range generated(5, 3000) {
			staged = append(staged, stage(t, e, []Entry{{Payload: p, ReceivedAt: encodetest.Start/1000 + int64(i)}}))
			rows += staged[i].Rows
		}
		r := db.Query(query + " FROM read_json(" + duckdbtest.Quote(savedAs(t, "object.jsonl.zst", object(t, e, staged...))) + ")")
		want := map[partition.Signal]string{
			partition.Traces:  "[[%d true BIGINT true true true true 5 true]]",
			partition.Metrics: "[[%d true BIGINT DOUBLE BIGINT[] DOUBLE[] true 0 true]]",
		}[signal]
		if got := fmt.Sprint(r.Rows); got != fmt.Sprintf(want, rows) {
			t.Errorf("%s: DuckDB says %s", signal, got)
		}
	}
}

// DuckDB reads values that are not of their column's usual kind, with the columns
// spelled out.
func TestDuckDBReadsOddDoublesOfLines(t *testing.T) {
	db := duckdbtest.Open(t)
	e := newTestEncoder(t, Spec{Signal: partition.Metrics, Format: "jsonl", Codec: "none"})
	path := savedAs(t, "odd.jsonl", object(t, e, stage(t, e, metricsEntries(t, extremeMetrics))))
	r := db.Query(`SELECT count(*), count(*) FILTER (isnan(value)), count(*) FILTER (isinf(value)), count(*) FILTER (isnan(explicit_bounds[1])),
		min(value_int), max(value_int), min(count) FROM read_json(` + duckdbtest.Quote(path) +
		`, columns = {value: 'DOUBLE', value_int: 'BIGINT', count: 'BIGINT', explicit_bounds: 'DOUBLE[]'})`)
	if got := fmt.Sprint(r.Rows); got != "[[32 1 2 1 -9223372036854775808 9223372036854775807 -1]]" {
		t.Errorf("DuckDB says %s", got)
	}
}

func savedAs(t testing.TB, name string, file []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLineSpecIsValidated(t *testing.T) {
	for want, change := range map[string]func(*Spec){
		`codec "snappy"`:        func(s *Spec) { s.Codec = "snappy" },
		`codec "gzip" with lev`: func(s *Spec) { s.Codec, s.Level = "gzip", "9" },
		`signal "profiles"`:     func(s *Spec) { s.Signal = "profiles" },
		`which is taken`:        func(s *Spec) { s.Columns = []Column{{As: "ts", Attribute: "a"}} },
	} {
		spec := lineSpec("zstd")
		change(&spec)
		if _, err := New(spec); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want one with %q", err, want)
		}
	}
}
