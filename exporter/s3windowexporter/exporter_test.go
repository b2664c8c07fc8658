package s3windowexporter

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/open-telemetry/opentelemetry-collector-contrib/extension/storage/filestorage"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/exporter/exporterhelper"
	"go.opentelemetry.io/collector/extension/extensiontest"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/metric/metricdata/metricdatatest"
	"go.uber.org/zap"
	zapobserver "go.uber.org/zap/zaptest/observer"

	"github.com/s3window/s3window/exporter/s3windowexporter/internal/metadatatest"
	"github.com/s3window/s3window/extension/leaseextension/lease"
	"github.com/s3window/s3window/extension/leaseextension/lease/memory"
	"github.com/s3window/s3window/internal/partition"
	"github.com/s3window/s3window/internal/wal"
)

func TestRecordsReachTheirTenantsWindows(t *testing.T) {
	r := newRig(t)
	e := r.start()
	require.NoError(t, e.ConsumeLogs(t.Context(), logs(3, "a", "b", "a")))
	require.NoError(t, e.ConsumeLogs(t.Context(), plog.NewLogs()))
	r.awaitCommitted("a", 6)
	r.awaitCommitted("b", 3)
	r.shutdown(e)
	assert.Empty(t, r.host.statuses(), "nothing failed")
}

// A collector comes up and accepts data while the bucket is down, says so, and
// recovers by itself.
func TestBucketIsDownAtStart(t *testing.T) {
	r := newRig(t)
	r.bucketDown()
	core, logged := zapobserver.New(zap.WarnLevel)
	set := settings()
	set.Logger = zap.New(core)
	e := r.create(set)
	require.NoError(t, e.Start(t.Context(), r.host))
	for range 5 {
		require.NoError(t, e.ConsumeLogs(t.Context(), logs(1, "a")))
	}
	r.await(func() bool { s, _ := r.host.last(); return s == componentstatus.StatusRecoverableError })
	_, err := r.host.last()
	require.ErrorContains(t, err, "500 InternalError")
	r.await(func() bool { return r.probes() >= 3 })
	assert.Equal(t, 1, logged.FilterMessageSnippet("Bucket cannot be used yet").Len(), "said once, not once per try")
	require.Zero(t, r.committed("a"))
	r.proxy.Heal()
	r.awaitCommitted("a", 5)
	r.await(func() bool { s, _ := r.host.last(); return s == componentstatus.StatusOK })
	r.shutdown(e)
}

func TestBucketFailsLater(t *testing.T) {
	r := newRig(t)
	e := r.start()
	require.NoError(t, e.ConsumeLogs(t.Context(), logs(1, "a")))
	r.awaitCommitted("a", 1)
	r.bucketDown()
	require.NoError(t, e.ConsumeLogs(t.Context(), logs(1, "a")))
	r.await(func() bool { s, _ := r.host.last(); return s == componentstatus.StatusRecoverableError })
	r.proxy.Heal()
	r.awaitCommitted("a", 2)
	r.await(func() bool { s, _ := r.host.last(); return s == componentstatus.StatusOK })
	r.shutdown(e)
}

// I1: what a shutdown leaves in the queue is committed by the next start, once.
func TestNextStartCommitsWhatIsLeft(t *testing.T) {
	r := newRig(t)
	r.bucketDown()
	e := r.start()
	require.NoError(t, e.ConsumeLogs(t.Context(), logs(7, "a")))
	r.shutdown(e)
	require.Zero(t, r.committed("a"))
	r.proxy.Heal()
	e = r.start()
	r.awaitCommitted("a", 7)
	r.shutdown(e)
	e = r.start()
	require.NoError(t, e.ConsumeLogs(t.Context(), logs(1, "a")))
	r.awaitCommitted("a", 8)
	r.shutdown(e)
	_, open := r.storage.opens()
	assert.Zero(t, open, "clients are closed")
}

func TestMetrics(t *testing.T) {
	r := newRig(t)
	r.cfg.Telemetry.PerTenant = true
	tel := componenttest.NewTelemetry()
	set := metadatatest.NewSettings(tel)
	set.ID = settings().ID
	e := r.create(set)
	require.NoError(t, e.Start(t.Context(), r.host))
	require.NoError(t, e.ConsumeLogs(t.Context(), logs(3, "a")))
	r.awaitCommitted("a", 3)
	of := []attribute.KeyValue{attribute.String("exporter", "s3window/test"), attribute.String("signal", "logs"), attribute.String("tenant", "a")}
	r.await(func() bool { _, err := tel.GetMetric("otelcol_exporter_s3window_commit_duration"); return err == nil }) // told last
	assert.EqualValues(t, 1, counter(t, tel, "windows", append(of, attribute.String("reason", "age"))...))
	assert.EqualValues(t, 3, counter(t, tel, "committed_records", of...))
	own := attribute.NewSet(of[0])
	metadatatest.AssertEqualExporterS3windowMemoryLimit(t, tel, []metricdata.DataPoint[int64]{{Attributes: own, Value: 512 << 20}}, metricdatatest.IgnoreTimestamp(), metricdatatest.IgnoreExemplars())
	metadatatest.AssertEqualExporterS3windowWalEntries(t, tel, []metricdata.DataPoint[int64]{{Attributes: own, Value: 0}}, metricdatatest.IgnoreTimestamp(), metricdatatest.IgnoreExemplars())
	metadatatest.AssertEqualExporterQueueSize(t, tel, []metricdata.DataPoint[int64]{{Attributes: own, Value: 0}}, metricdatatest.IgnoreTimestamp(), metricdatatest.IgnoreExemplars())
	metadatatest.AssertEqualExporterQueueCapacity(t, tel, []metricdata.DataPoint[int64]{{Attributes: own, Value: 10 << 30}}, metricdatatest.IgnoreTimestamp(), metricdatatest.IgnoreExemplars())
	for _, name := range []string{"object_bytes", "raw_bytes", "flush_duration", "commit_duration", "lag", "memory_held", "wal_bytes"} {
		_, err := tel.GetMetric("otelcol_exporter_s3window_" + name)
		assert.NoError(t, err)
	}
	r.shutdown(e)
	require.NoError(t, tel.Shutdown(context.Background()))
}

// leases is a lease extension.
type leases struct {
	component.StartFunc
	component.ShutdownFunc
	*lease.Participant
}

func TestLeaseExtensionIsUsed(t *testing.T) {
	r := newRig(t)
	id := component.MustNewID("lease")
	r.cfg.Lease = &id
	own := &leases{Participant: lease.NewParticipant(memory.New(), lease.Options{})}
	defer own.Close()
	r.host.extensions[id] = own
	e := r.start()
	require.NoError(t, e.ConsumeLogs(t.Context(), logs(1, "a")))
	r.awaitCommitted("a", 1)
	r.shutdown(e)
	head := partition.HeadName(r.cfg.S3.Bucket, "", partition.ID{Sink: "default", Tenant: "a", Signal: partition.Logs})
	state, err := own.Read(t.Context(), head)
	require.NoError(t, err)
	assert.Contains(t, string(state), `"k":1`)
	for _, seen := range r.proxy.Seen() {
		assert.NotContains(t, seen.Path, "/leases/", "the bucket holds no lease")
	}
}

// A store that does not honour If-None-Match is refused for as long as it does
// not, and nothing but the probe is put there.
func TestUnconditionalStoreIsRefused(t *testing.T) {
	store := startUnconditionalStore(t)
	r := newOfflineRig(t, store.URL)
	core, logged := zapobserver.New(zap.WarnLevel)
	set := settings()
	set.Logger = zap.New(core)
	e := r.create(set)
	require.NoError(t, e.Start(t.Context(), r.host))
	require.NoError(t, e.ConsumeLogs(t.Context(), logs(1, "a")))
	r.await(func() bool {
		s, err := r.host.last()
		return s == componentstatus.StatusRecoverableError && strings.Contains(err.Error(), "does not honour If-None-Match")
	})
	r.await(func() bool { return logged.FilterField(zap.String("operation", "open lake")).Len() > 0 })
	r.shutdown(e)
	for _, path := range store.puts {
		assert.Contains(t, path, "/_s3window/probe/")
	}
}

// The same on a real storage, which gives its file to one process at a time.
func TestNextStartOnFileStorage(t *testing.T) {
	r := newRig(t)
	factory := filestorage.NewFactory()
	cfg := factory.CreateDefaultConfig().(*filestorage.Config)
	cfg.Directory, cfg.FSync, cfg.Timeout = t.TempDir(), true, 100*time.Millisecond
	ext, err := factory.Create(t.Context(), extensiontest.NewNopSettings(factory.Type()), cfg)
	require.NoError(t, err)
	require.NoError(t, ext.Start(t.Context(), r.host))
	r.host.extensions[storageID()] = ext

	r.bucketDown()
	e := r.start()
	require.NoError(t, e.ConsumeLogs(t.Context(), logs(7, "a", "b")))
	second := &rig{t: t, host: r.host, cfg: r.cfg, factory: NewFactory()}
	twin := second.create(settings())
	require.ErrorContains(t, twin.Start(t.Context(), r.host), "check that it can be written, and that no other collector uses it")
	r.shutdown(twin)
	r.shutdown(e)
	r.proxy.Heal()
	e = r.start()
	r.awaitCommitted("a", 7)
	r.awaitCommitted("b", 7)
	r.shutdown(e)
	require.NoError(t, ext.Shutdown(t.Context()))
}

func TestMemoryQueue(t *testing.T) {
	r := newRig(t)
	r.cfg.QueueConfig.Get().StorageID = nil
	core, logged := zapobserver.New(zap.WarnLevel)
	set := settings()
	set.Logger = zap.New(core)
	e := r.create(set)
	require.NoError(t, e.Start(t.Context(), r.host))
	assert.Equal(t, 1, logged.FilterField(zap.Int64("limit_bytes", 512<<20)).Len(), "the memory limit bounds it")
	require.NoError(t, e.ConsumeLogs(t.Context(), logs(2, "a")))
	r.awaitCommitted("a", 2)
	r.shutdown(e)
	names, _ := r.storage.opens()
	assert.Empty(t, names)
}

// Where the queue does not survive the process, what is small and young is
// committed too within the grace.
func TestMemoryQueueIsCommittedAtShutdown(t *testing.T) {
	r := newRig(t)
	r.cfg.QueueConfig.Get().StorageID = nil
	r.cfg.Flush.MaxAge, r.cfg.Flush.ShutdownGrace = 10*time.Minute, 20*time.Second
	e := r.start()
	require.NoError(t, e.ConsumeLogs(t.Context(), logs(1, "a", "b")))
	began := time.Now()
	r.shutdown(e)
	assert.Less(t, time.Since(began), 10*time.Second)
	assert.EqualValues(t, 1, r.committed("a"))
	assert.EqualValues(t, 1, r.committed("b"))
}

func TestSizers(t *testing.T) {
	for in, want := range map[exporterhelper.RequestSizerType]wal.Sizer{
		exporterhelper.RequestSizerTypeBytes:    wal.Bytes,
		exporterhelper.RequestSizerTypeItems:    wal.Items,
		exporterhelper.RequestSizerTypeRequests: wal.Requests,
	} {
		assert.Equal(t, want, sizer(in))
	}
}
