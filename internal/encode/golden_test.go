package encode

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	pq "github.com/parquet-go/parquet-go"
)

var update = flag.Bool("update", false, "write the golden files")

// The bytes of an object never change under one Version.
func TestGoldenObject(t *testing.T) {
	spec := testSpec(append(DefaultColumns(), testColumns()...)...)
	e := newTestEncoder(t, spec)
	var entries []Entry
	for i, c := range append(inputCases()[:14], valueCases()[:12]...) {
		entries = append(entries, encodeCase(t, c)...)
		entries[i].ReceivedAt += int64(i)
	}
	golden(t, "testdata/logs-v1.parquet", object(t, e, stage(t, e, entries), stage(t, e, entries[4:5])))
	want := oracle(t, entries, spec.Columns)
	want.rows = append(want.rows, oracle(t, entries[4:5], spec.Columns).rows...)
	old, err := os.ReadFile("testdata/logs-v1.parquet")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range differences(readParquetGo(t, old), want) {
		t.Error(d)
	}
	golden(t, "testdata/logs-v1.txt", []byte(describe(t, old)))
}

func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil { //nolint:gosec // a file of the repository
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s: the bytes have changed; if that is meant, run the test with -update and raise Version", path)
	}
}

// describe prints what a footer says.
func describe(t testing.TB, file []byte) string {
	t.Helper()
	f, err := pq.OpenFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	m := f.Metadata()
	var b strings.Builder
	fmt.Fprintf(&b, "version %d, created by %q\n", m.Version, m.CreatedBy)
	for _, kv := range m.KeyValueMetadata {
		fmt.Fprintf(&b, "%s = %s\n", kv.Key, kv.Value)
	}
	fmt.Fprintf(&b, "\n%s\n", f.Schema())
	for _, rg := range m.RowGroups {
		fmt.Fprintf(&b, "\nrow group of %d rows, sorted by %v\n", rg.NumRows, rg.SortingColumns)
		for i := range rg.Columns {
			c := &rg.Columns[i]
			s := c.MetaData.Statistics
			fmt.Fprintf(&b, "  %s %v %v %d values, %d null, %q to %q, bloom %d, column index %v, pages %v\n",
				strings.Join(c.MetaData.PathInSchema, "."), c.MetaData.Encoding, c.MetaData.Codec, c.MetaData.NumValues,
				s.NullCount, s.MinValue, s.MaxValue, c.MetaData.BloomFilterLength, c.ColumnIndexLength > 0, c.MetaData.EncodingStats)
		}
	}
	return b.String()
}
