package encode

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"

	"github.com/s3window/s3window/internal/encode/encodetest"
	"github.com/s3window/s3window/internal/encode/route"
	"github.com/s3window/s3window/internal/partition"
)

const benchRecords = 200000

// wideColumns promotes every attribute that the generator makes.
func wideColumns() []Column {
	out := DefaultColumns()[:10]
	for _, c := range [][2]string{
		{"log.logger", "string"}, {"code.function.name", "string"}, {"code.line.number", "int64"}, {"thread.id", "int64"},
		{"thread.name", "string"}, {"user.id", "string"}, {"http.request.method", "string"},
		{"http.response.status_code", "int64"}, {"http.route", "string"}, {"url.path", "string"},
		{"client.address", "string"}, {"request.id", "string"}, {"tenant.plan", "string"}, {"duration_ms", "double"},
		{"messaging.destination.name", "string"}, {"messaging.message.body.size", "int64"}, {"messaging.message.id", "string"},
	} {
		out = append(out, Column{Attribute: c[0], As: strings.ReplaceAll(c[0], ".", "_"), Type: c[1]})
	}
	return out
}

// moving are columns that take attributes out of their maps.
func moving(columns []Column) []Column {
	for i := range columns {
		columns[i].Move = true
	}
	return columns
}

// calls cuts requests into Stage calls as windows do.
func calls(t testing.TB, requests [][]byte) (out [][]Entry, records int, bytes int64) {
	rows, size := 0, int64(0)
	var call []Entry
	for i, p := range requests {
		parts, err := route.Apart(partition.Logs, p)
		if err != nil {
			t.Fatal(err)
		}
		n := parts.Len()
		call = append(call, Entry{Payload: p, ReceivedAt: encodetest.Start/1000 + int64(i)})
		rows, size = rows+n, size+int64(len(p))
		records, bytes = records+n, bytes+int64(len(p))
		if rows >= DefaultRowGroupRows || size >= DefaultRowGroupBytes {
			out, call, rows, size = append(out, call), nil, 0, 0
		}
	}
	if len(call) > 0 {
		out = append(out, call)
	}
	return out, records, bytes
}

func cpu() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkFloor measures the encoder beside compressing the same pages alone,
// in turns, and prints the ratio of their CPU times. Run it with -benchtime 1x.
func BenchmarkFloor(b *testing.B) {
	requests := encodetest.Logs(42, benchRecords)
	batches, records, raw := calls(b, requests)
	for _, c := range []struct {
		name    string
		codec   string
		columns []Column
	}{
		{"zstd/default", "zstd", DefaultColumns()},
		{"zstd/moved", "zstd", moving(DefaultColumns())},
		{"zstd/wide", "zstd", wideColumns()},
		{"zstd/widemoved", "zstd", moving(wideColumns())},
		{"zstd/none", "zstd", nil},
		{"snappy/default", "snappy", DefaultColumns()},
	} {
		b.Run(c.name, func(b *testing.B) {
			spec := Spec{Signal: partition.Logs, Format: "parquet", Codec: c.codec, Columns: c.columns}
			f := newFloor(b, spec, batches)
			for b.Loop() {
				f.round(b)
			}
			f.report(b, records, raw)
		})
	}
}

type floor struct {
	encoder  *Encoder
	batches  [][]Entry
	pages    [][]byte
	payload  int
	out      int64
	compress func(dst, page []byte) []byte
	scratch  []byte
	encode   []time.Duration
	zstd     []time.Duration
}

func newFloor(b *testing.B, spec Spec, batches [][]Entry) *floor {
	e, err := New(spec)
	if err != nil {
		b.Fatal(err)
	}
	f := &floor{encoder: e, batches: batches}
	f.compress = func(dst, page []byte) []byte {
		dst = slices.Grow(dst, s2.MaxEncodedLen(len(page)))
		return s2.EncodeSnappy(dst[:cap(dst)], page)
	}
	if spec.Codec == "zstd" {
		z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false))
		if err != nil {
			b.Fatal(err)
		}
		f.compress = func(dst, page []byte) []byte { return z.EncodeAll(page, dst) }
	}
	f.once(b) // it has a stager then
	s := idleStagers(e)[0]
	s.table.OnPage(func(page []byte) {
		f.pages = append(f.pages, slices.Clone(page))
		f.payload += len(page)
	})
	f.once(b)
	s.table.OnPage(nil)
	return f
}

func (f *floor) once(b *testing.B) {
	f.out = 0
	var staged []Staged
	for _, call := range f.batches {
		s, err := f.encoder.Stage(call)
		if err != nil || len(s.Rejected) > 0 {
			b.Fatal(err, s.Rejected)
		}
		staged = append(staged, s)
	}
	o, err := f.encoder.Assemble(partition.ID{Sink: "default", Tenant: "acme", Signal: partition.Logs}, "aaaaaaaaaaaaa", staged)
	if err != nil {
		b.Fatal(err)
	}
	f.out = o.Size
}

func (f *floor) round(b *testing.B) {
	for range 5 {
		t := cpu()
		f.once(b)
		f.encode = append(f.encode, cpu()-t)
		t = cpu()
		for _, p := range f.pages {
			f.scratch = f.compress(f.scratch[:0], p)
		}
		f.zstd = append(f.zstd, cpu()-t)
	}
}

func (f *floor) report(b *testing.B, records int, raw int64) {
	var ratios []float64
	for i := range f.encode {
		ratios = append(ratios, float64(f.encode[i])/float64(f.zstd[i]))
	}
	slices.Sort(ratios)
	slices.Sort(f.encode)
	slices.Sort(f.zstd)
	n := float64(records)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(f.encode[0])/n, "ns/record-min")
	b.ReportMetric(float64(f.encode[len(f.encode)/2])/n, "ns/record")
	b.ReportMetric(float64(f.zstd[0])/n, "floor-ns-min")
	b.ReportMetric(ratios[len(ratios)/2], "x-floor")
	b.ReportMetric(float64(f.out)/n, "B/record")
	b.ReportMetric(float64(f.payload)/n, "page-B/record")
	b.ReportMetric(float64(raw)/n, "raw-B/record")
	b.ReportMetric(n/float64(f.encode[0])*1e6, "krec/s")
}

func BenchmarkStage(b *testing.B) {
	requests := encodetest.Logs(42, benchRecords/4)
	for _, size := range []int{1, 100, 10000} {
		small := encodetest.Logs(7, size)
		b.Run(fmt.Sprint(size, "-records"), func(b *testing.B) { benchmarkStage(b, small) })
	}
	b.Run(fmt.Sprint(benchRecords/4, "-records"), func(b *testing.B) { benchmarkStage(b, requests) })
}

func benchmarkStage(b *testing.B, requests [][]byte) {
	batches, records, bytes := calls(b, requests)
	e, err := New(Spec{Signal: partition.Logs, Format: "parquet", Codec: "zstd", Columns: DefaultColumns()})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.SetBytes(bytes)
	for b.Loop() {
		var staged []Staged
		for _, call := range batches {
			s, err := e.Stage(call)
			if err != nil {
				b.Fatal(err)
			}
			staged = append(staged, s)
		}
		if _, err := e.Assemble(partition.ID{Tenant: "acme", Signal: partition.Logs}, "aaaaaaaaaaaaa", staged); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(records), "ns/record")
}
