package s3windowexporter

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.uber.org/zap"

	"github.com/s3window/s3window/exporter/s3windowexporter/internal/metadatatest"
	"github.com/s3window/s3window/internal/wal"
)

// fromTheFuture puts an entry into the queue of the rig's exporter that was
// accepted while the wall clock was forty years ahead.
func (r *rig) fromTheFuture() {
	r.t.Helper()
	synctest.Test(r.t, func(t *testing.T) {
		client, err := r.storage.GetClient(t.Context(), component.KindExporter, settings().ID, clientName)
		require.NoError(t, err)
		d := newDirectory(r.cfg)
		info, err := d.origins(r.cfg.Sink).Encode()
		require.NoError(t, err)
		time.Sleep(66 * 365 * 24 * time.Hour) // the clock of a bubble begins in 2000
		q, err := wal.Open(t.Context(), wal.Options{Client: client, WriterInfo: info, Logger: zap.NewNop()})
		require.NoError(t, err)
		b, err := (&plog.ProtoMarshaler{}).MarshalLogs(logs(1, "a"))
		require.NoError(t, err)
		require.NoError(t, q.Append(t.Context(), wal.Record{Tenant: "a", Signal: "logs", Items: 1, Payload: b}))
		require.NoError(t, q.Close(context.Background()))
	})
}

// A queue whose stamps are years ahead says so, in the status and in a metric,
// for as long as it owes what was stamped then. The next start after that takes
// the wall clock.
func TestClockThatWasWrongOnce(t *testing.T) {
	r := newRig(t)
	r.cfg.Flush.ShutdownGrace = 20 * time.Second // what is committed leaves the queue
	r.fromTheFuture()
	tel := componenttest.NewTelemetry()
	set := metadatatest.NewSettings(tel)
	set.ID = settings().ID
	ahead := func() float64 {
		m, err := tel.GetMetric("otelcol_exporter_s3window_clock_ahead")
		require.NoError(t, err)
		return m.Data.(metricdata.Gauge[float64]).DataPoints[0].Value
	}
	e := r.create(set)
	require.NoError(t, e.Start(t.Context(), r.host))
	r.awaitTrouble("the stamps of the queue are", "ahead of the wall clock", "let the queue run empty and restart")
	assert.Greater(t, ahead(), (30 * 365 * 24 * time.Hour).Seconds())
	require.NoError(t, e.ConsumeLogs(t.Context(), logs(1, "a")))
	r.awaitCommitted("a", 2)
	r.shutdown(e)

	r.host.events = nil
	tel = componenttest.NewTelemetry()
	set = metadatatest.NewSettings(tel)
	set.ID = settings().ID
	e = r.create(set)
	require.NoError(t, e.Start(t.Context(), r.host))
	require.NoError(t, e.ConsumeLogs(t.Context(), logs(1, "a")))
	r.awaitCommitted("a", 3)
	assert.Less(t, ahead(), 1.0)
	_, err := r.host.last()
	require.NoError(t, err)
	now := 0
	for dir := range r.dirs("a", "logs") {
		if dir < "dt=2060" {
			now++
		}
	}
	assert.Equal(t, 1, now, "what came after the restart is filed under this hour")
	r.shutdown(e)
}

// The status follows the clock within ten seconds, and says the same of the same
// trouble once.
func TestClockIsWatched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &host{}
		c := &core{status: &status{logger: zap.NewNop()}, stopping: make(chan struct{})}
		c.status.join(h)
		var by atomic.Int64 // a duration
		done := make(chan struct{})
		go func() { defer close(done); c.watchClock(func() time.Duration { return time.Duration(by.Load()) }) }()
		synctest.Wait()
		assert.Empty(t, h.statuses())
		by.Store(int64(wal.FarAhead))
		time.Sleep(10 * time.Second)
		assert.Empty(t, h.statuses(), "a minute is nothing")
		by.Store(int64(time.Hour))
		time.Sleep(10 * time.Second)
		by.Add(int64(time.Second))
		time.Sleep(time.Hour)
		_, err := h.last()
		require.ErrorContains(t, errors.Join(err), "1h0m0s ahead")
		by.Store(0)
		time.Sleep(10 * time.Second)
		assert.Equal(t, []componentstatus.Status{componentstatus.StatusRecoverableError, componentstatus.StatusOK}, h.statuses())
		close(c.stopping)
		<-done
	})
}
