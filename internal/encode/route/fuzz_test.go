package route

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/internal/encode/otlp"
	"github.com/s3window/s3window/internal/partition"
)

// Whatever the bytes are, no record of an accepted request is lost or doubled.
func FuzzSplit(f *testing.F) {
	fill := filler{rand.New(rand.NewPCG(7, 8))}
	for range 3 {
		for kind, signal := range []partition.Signal{partition.Logs, partition.Traces, partition.Metrics} {
			f.Add(kind, fill.request(f, signal))
		}
	}
	f.Fuzz(func(t *testing.T, kind int, payload []byte) {
		signal := []partition.Signal{partition.Logs, partition.Traces, partition.Metrics}[uint(kind)%3]
		for _, rule := range rules() {
			r, err := New(rule, signal)
			require.NoError(t, err)
			got, err := r.Split([]otlp.Entry{at(payload, received)})
			if err != nil {
				continue
			}
			before, err := items(signal, payload)
			if err != nil {
				continue // malformed where the router does not look
			}
			after := 0
			for _, p := range got.Pieces {
				for _, e := range p.Entries {
					n, err := items(signal, e.Payload)
					require.NoError(t, err)
					after += n
				}
			}
			require.Equal(t, before, after)
		}
	})
}

func items(signal partition.Signal, payload []byte) (int, error) {
	switch signal {
	case partition.Logs:
		out, err := flattenLogs(payload)
		return len(out), err
	case partition.Traces:
		out, err := flattenTraces(payload)
		return len(out), err
	}
	out, err := flattenMetrics(payload)
	return len(out), err
}

func BenchmarkSplit(b *testing.B) {
	f := filler{rand.New(rand.NewPCG(9, 10))}
	var entries []otlp.Entry
	total := 0
	for range 200 {
		e := at(f.request(b, partition.Logs), received)
		entries = append(entries, e)
		total += len(flatten(b, partition.Logs, e.Payload))
	}
	for name, rule := range rules() {
		b.Run(name, func(b *testing.B) {
			r, err := New(rule, partition.Logs)
			require.NoError(b, err)
			b.ReportAllocs()
			for b.Loop() {
				dealt(b, r, entries...)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*total), "ns/record")
		})
	}
}
