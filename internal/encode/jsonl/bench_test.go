package jsonl

import (
	"bytes"
	"io"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/s3window/s3window/internal/encode/encodetest"
	"github.com/s3window/s3window/internal/encode/otlp"
	"github.com/s3window/s3window/internal/partition"
)

const benchRecords = 30_000

// batches cuts requests into Stage calls of about 16 MiB, as windows do.
func batches(requests [][]byte) (out [][]otlp.Entry) {
	var call []otlp.Entry
	size := 0
	for i, p := range requests {
		call, size = append(call, otlp.Entry{Payload: p, ReceivedAt: encodetest.Start/1000 + int64(i)}), size+len(p)
		if size >= 16<<20 {
			out, call, size = append(out, call), nil, 0
		}
	}
	return append(out, call)
}

func cpu() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkFloor measures the encoder beside compressing the same lines alone,
// in turns, and prints the ratio of their CPU times. Run it with -benchtime 1x.
func BenchmarkFloor(b *testing.B) {
	for _, s := range signals() {
		calls := batches(s.generated(42, benchRecords))
		for _, codec := range []string{"zstd", "gzip"} {
			b.Run(string(s.signal)+"/"+codec, func(b *testing.B) { benchmarkFloor(b, calls, Config{Signal: s.signal, Codec: codec}) })
		}
	}
}

type signal struct {
	signal    partition.Signal
	generated func(seed int64, n int) [][]byte
}

func signals() []signal {
	return []signal{{partition.Logs, encodetest.Logs}, {partition.Traces, encodetest.Traces}, {partition.Metrics, encodetest.Metrics}}
}

func benchmarkFloor(b *testing.B, calls [][]otlp.Entry, c Config) {
	codec := c.Codec
	e := newEncoder(b, c)
	c.Codec = "none"
	lines := stageAll(b, newEncoder(b, c), calls)
	z, err := newStager(Config{Signal: c.Signal, Codec: codec})
	if err != nil {
		b.Fatal(err)
	}
	var encode, floor []time.Duration
	var ratios []float64
	size := 0
	for b.Loop() {
		for range 15 {
			t := cpu()
			size = len(bytes.Join(stageAll(b, e, calls), nil))
			encode = append(encode, cpu()-t)
			t = cpu()
			for _, call := range lines {
				z.lines.compressor.Reset(io.Discard)
				for part := range slices.Chunk(call, flushBytes) {
					_, _ = z.lines.compressor.Write(part)
				}
				_ = z.lines.compressor.Close()
			}
			floor = append(floor, cpu()-t)
			ratios = append(ratios, float64(encode[len(encode)-1])/float64(floor[len(floor)-1]))
		}
	}
	slices.Sort(ratios)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(slices.Min(encode))/benchRecords, "ns/record-min")
	b.ReportMetric(float64(slices.Min(floor))/benchRecords, "floor-ns-min")
	b.ReportMetric(ratios[len(ratios)/2], "x-floor")
	b.ReportMetric(float64(size)/benchRecords, "B/record")
	b.ReportMetric(float64(len(bytes.Join(lines, nil)))/benchRecords, "line-B/record")
}

func stageAll(t testing.TB, e *Encoder, calls [][]otlp.Entry) (out [][]byte) {
	for _, call := range calls {
		out = append(out, bytes.Join(stage(t, e, call).Segments, nil))
	}
	return out
}

func BenchmarkStage(b *testing.B) {
	for _, s := range signals() {
		calls := batches(s.generated(42, 20_000))
		for _, codec := range []string{"zstd", "gzip", "none"} {
			b.Run(string(s.signal)+"/"+codec, func(b *testing.B) {
				e := newEncoder(b, Config{Signal: s.signal, Codec: codec})
				b.ReportAllocs()
				for b.Loop() {
					for _, call := range calls {
						stage(b, e, call)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/20_000, "ns/record")
			})
		}
	}
}
