package encode

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/s3window/s3window/internal/encode/encodetest"
	"github.com/s3window/s3window/testbed/duckdbtest"
)

// DuckDB skips row groups and pages by statistics and bloom filters: a filter
// must find exactly the rows that have the value.
func TestFiltersFindEveryRow(t *testing.T) {
	spec := testSpec(DefaultColumns()...)
	e := newTestEncoder(t, spec)
	var staged []Staged
	var want grid
	for i, p := range encodetest.Logs(11, 25000) {
		entries := []Entry{{Payload: p, ReceivedAt: encodetest.Start/1000 + int64(i)}}
		staged = append(staged, stage(t, e, entries))
		g := oracle(t, entries, spec.Columns)
		want.columns, want.rows = g.columns, append(want.rows, g.rows...)
	}
	db := duckdbtest.Open(t)
	from := " FROM read_parquet(" + duckdbtest.Quote(saved(t, object(t, e, staged...))) + ") WHERE "
	count := func(where string) string { return db.Query("SELECT count(*)" + from + where).Rows[0][0].(string) }
	for _, name := range []string{
		"ts", "severity_number", "severity_text", "service_name", "trace_id", "span_id", "k8s_pod_name", "cloud_region",
		"http_request_method", "http_response_status_code", "http_route", "url_path", "host_name",
	} {
		at := slices.Index(want.columns, name)
		rows := map[string]int{}
		for _, r := range want.rows {
			rows[r[at]]++
		}
		n := 0
		for v, k := range rows {
			if n++; n > 25 {
				break
			}
			where := name + " = " + duckdbtest.Quote(v)
			switch {
			case v == nullCell:
				where = name + " IS NULL"
			case name == "ts":
				where = "ts = make_timestamptz(" + v + ")"
			}
			if got := count(where); got != fmt.Sprint(k) {
				t.Errorf("%s: %s rows, want %d", where, got, k)
			}
		}
	}
	for where, want := range map[string]string{
		"trace_id = '00000000000000000000000000000001'": "0",
		"service_name < 'a'":                            "0",
		"http_response_status_code > 503":               "0",
		"attributes['thread.id'][1] IS NULL":            "0",
	} {
		if got := count(where); got != want {
			t.Errorf("%s: %s rows, want %s", where, got, want)
		}
	}
}

// The types that DuckDB sees are part of the format.
func TestDuckDBTypes(t *testing.T) {
	e := newTestEncoder(t, testSpec(testColumns()[:12]...))
	db := duckdbtest.Open(t)
	file := saved(t, object(t, e, stage(t, e, encodeCase(t, inputCase{fill: one(everyField)}))))
	var got []string
	for _, r := range db.Query("DESCRIBE FROM read_parquet(" + duckdbtest.Quote(file) + ")").Rows {
		got = append(got, fmt.Sprintf("%s %s", r[0], r[1]))
	}
	golden(t, "testdata/logs-v1.duckdb.txt", []byte(strings.Join(got, "\n")+"\n"))
}
