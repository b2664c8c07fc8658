package s3windowexporter

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/partition"
	"github.com/s3window/s3window/testbed/odd"
)

// consumeOdd gives a case to the exporter of its signal, as a receiver would.
func consumeOdd(t *testing.T, s signals, c odd.Case) error {
	switch c.Signal {
	case partition.Traces:
		td, err := (&ptrace.ProtoUnmarshaler{}).UnmarshalTraces(c.Payload)
		require.NoError(t, err)
		return s.ConsumeTraces(t.Context(), td)
	case partition.Metrics:
		md, err := (&pmetric.ProtoUnmarshaler{}).UnmarshalMetrics(c.Payload)
		require.NoError(t, err)
		return s.ConsumeMetrics(t.Context(), md)
	}
	ld, err := (&plog.ProtoUnmarshaler{}).UnmarshalLogs(c.Payload)
	require.NoError(t, err)
	return s.ConsumeLogs(t.Context(), ld)
}

// The door takes every odd request that a receiver can hand on, and each of
// its records is committed: what is acknowledged is never quarantined later.
func TestOddRequestsAreCommitted(t *testing.T) {
	for _, format := range []string{formatParquet, formatJSONL} {
		t.Run(format, func(t *testing.T) {
			r := newRig(t)
			r.cfg.Format = format
			s := r.startSignals()
			defer r.shutdownSignals(s)
			want := map[partition.Signal]int64{}
			for _, signal := range odd.Signals() {
				for _, c := range odd.Cases(signal) {
					if !c.Valid {
						continue // no receiver reads it
					}
					n, err := c.Records()
					require.NoError(t, err)
					err = consumeOdd(t, s, c)
					if err != nil {
						assert.True(t, consumererror.IsPermanent(err), "%s, %s: %v", signal, c.Name, err)
						assert.NoError(t, err, "%s, %s", signal, c.Name)
						continue
					}
					want[signal] += int64(n)
				}
			}
			for _, signal := range odd.Signals() {
				r.await(func() bool { return r.committedOf(r.cfg.Tenant.Default, signal) >= want[signal] })
				assert.Equal(t, want[signal], r.committedOf(r.cfg.Tenant.Default, signal))
				at := r.cfg.S3
				at.Endpoint = r.server.Endpoint
				r.manifestsIn(at, r.cfg.Tenant.Default, signal, func(m lake.Manifest) { assert.Empty(t, m.Lost) })
			}
		})
	}
}
