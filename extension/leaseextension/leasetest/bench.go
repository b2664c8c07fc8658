package leasetest

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/extension/leaseextension/lease"
)

// BenchmarkPut replaces one register over and over, and reports the median and
// the 99th percentile of what a write takes.
func BenchmarkPut(b *testing.B, store lease.Store) {
	b.ReportAllocs()
	value := slices.Repeat([]byte("x"), 500)
	revision, err := store.Put(b.Context(), "bench", append(value, 0), "")
	require.NoError(b, err)
	var took []time.Duration
	for i := 0; b.Loop(); i++ {
		asked := time.Now()
		revision, err = store.Put(b.Context(), "bench", append(value, byte(i)), revision)
		took = append(took, time.Since(asked))
		require.NoError(b, err)
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
}
