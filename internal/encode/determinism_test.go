package encode

import (
	"bytes"
	"crypto/sha256"
	"slices"
	"sync"
	"testing"

	pq "github.com/parquet-go/parquet-go"

	"github.com/s3window/s3window/internal/encode/encodetest"
)

// The same entries give the same bytes on a new encoder, a used one, and on
// many goroutines at once.
func TestSameEntriesSameBytes(t *testing.T) {
	spec := testSpec(DefaultColumns()...)
	batches, _, _ := calls(t, encodetest.Logs(1, 60000))
	odd := encodeCase(t, inputCase{fill: valueCases()[0].fill})
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
					t.Errorf("batch %d has other bytes on worker %d", i, worker)
				}
			}
		})
	}
	wg.Wait()
}

// Staging in parts and assembling gives the rows of all parts in order, and
// nothing is retained of the payloads.
func TestAssembleJoinsStages(t *testing.T) {
	spec := testSpec(DefaultColumns()...)
	e := newTestEncoder(t, spec)
	var staged []Staged
	var want grid
	for i, p := range encodetest.Logs(5, 4000) {
		entries := []Entry{{Payload: p, ReceivedAt: int64(i)}}
		g := oracle(t, entries, spec.Columns)
		want.columns, want.rows = g.columns, append(want.rows, g.rows...)
		staged = append(staged, stage(t, e, entries), stage(t, e, nil))
		clear(p)
	}
	o, err := e.Assemble(testID(), "q7m2q7m2q7m2q", staged)
	if err != nil {
		t.Fatal(err)
	}
	file := bytes.Join(o.Segments, nil)
	if o.SHA256 != sha256.Sum256(file) || o.Size != int64(len(file)) || o.Records != int64(len(want.rows)) {
		t.Errorf("object says %d records, %d bytes, %x", o.Records, o.Size, o.SHA256)
	}
	if o.Ext != "parquet" || o.Encoder != "s3window/0.1.0 parquet-go/0.32.0" || o.ContentType != "application/vnd.apache.parquet" {
		t.Errorf("object says %q %q %q", o.Ext, o.Encoder, o.ContentType)
	}
	lo, hi := want.rows[0][0], want.rows[0][0]
	for _, r := range want.rows {
		lo, hi = min(lo, r[0]), max(hi, r[0])
	}
	if itoa(o.MinTime) != lo || itoa(o.MaxTime) != hi {
		t.Errorf("times are %d to %d, want %s to %s", o.MinTime, o.MaxTime, lo, hi)
	}
	for _, d := range differences(readParquetGo(t, file), want) {
		t.Error(d)
	}
}

func TestNoRecordsNoRowGroup(t *testing.T) {
	e := newTestEncoder(t, testSpec())
	o, err := e.Assemble(testID(), "w", []Staged{stage(t, e, nil)})
	if err != nil {
		t.Fatal(err)
	}
	file := bytes.Join(o.Segments, nil)
	f, err := pq.OpenFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	if o.Records != 0 || len(f.RowGroups()) != 0 || o.MinTime != 0 || o.MaxTime != 0 {
		t.Errorf("%d records, %d row groups, times %d to %d", o.Records, len(f.RowGroups()), o.MinTime, o.MaxTime)
	}
}

// A single request with more rows than a row group may have is cut, inside a
// scope too.
func TestHugeEntryIsCut(t *testing.T) {
	rec := msg(2, num(2, 9), attr(6, "k", "v"))
	payload := request(msg(1, attr(1, "service.name", "s")), msg(2, bytes.Repeat(rec, MaxRowGroupRows+5), str(3, "late")), msg(2, bytes.Repeat(rec, 3)))
	e := newTestEncoder(t, testSpec())
	staged := stage(t, e, []Entry{{Payload: payload}})
	if n := len(staged.groups); n != 2 || staged.groups[0].Rows != MaxRowGroupRows || staged.Rows != MaxRowGroupRows+8 {
		t.Fatalf("%d row groups, %d rows", n, staged.Rows)
	}
	g := readParquetGo(t, object(t, e, staged))
	at := slices.Index(g.columns, "scope_schema_url")
	service := slices.Index(g.columns, "service_name")
	for i, row := range g.rows {
		want := "late"
		if i >= MaxRowGroupRows+5 {
			want = ""
		}
		if row[at] != want || row[service] != "s" {
			t.Fatalf("row %d has the scope %q and the service %q", i, row[at], row[service])
		}
	}
}

func TestReplacedIsCounted(t *testing.T) {
	e := newTestEncoder(t, testSpec())
	good, bad := record(msg(5, str(1, "ok"))), record(msg(5, str(1, "\xff")), str(3, "\xff"), attr(6, "\xff", "\xff"))
	for _, c := range []struct {
		entries []Entry
		want    int
	}{{[]Entry{{Payload: good}}, 0}, {[]Entry{{Payload: bad}}, 4}, {[]Entry{{Payload: bad}, {Payload: []byte{7}}, {Payload: bad}}, 8}} {
		if s := stage(t, e, c.entries); s.Replaced != c.want {
			t.Errorf("%d strings replaced, want %d", s.Replaced, c.want)
		}
	}
}
