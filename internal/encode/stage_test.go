package encode

import (
	"testing"

	"github.com/s3window/s3window/testbed/duckdbtest"
)

func TestEveryReaderReadsWhatPdataSays(t *testing.T) {
	db := duckdbtest.Open(t)
	for _, codec := range []string{"zstd", "snappy"} {
		spec := testSpec(testColumns()...)
		spec.Codec = codec
		e := newTestEncoder(t, spec)
		for _, c := range inputCases() {
			t.Run(codec+"/"+c.name, func(t *testing.T) {
				entries := encodeCase(t, c)
				staged := stage(t, e, entries)
				if len(staged.Rejected) > 0 {
					t.Fatal(staged.Rejected)
				}
				want := oracle(t, entries, spec.Columns)
				if staged.Rows != len(want.rows) {
					t.Errorf("%d rows, want %d", staged.Rows, len(want.rows))
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
}
