package leaseextension

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/open-telemetry/opentelemetry-collector-contrib/extension/storage/filestorage"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/extension"
	"go.opentelemetry.io/collector/extension/extensiontest"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/metric/metricdata/metricdatatest"

	"github.com/s3window/s3window/extension/leaseextension/internal/metadata"
	"github.com/s3window/s3window/extension/leaseextension/internal/metadatatest"
	"github.com/s3window/s3window/extension/leaseextension/lease"
)

// host is a component.Host with extensions that keeps what status it was told.
type host struct {
	extensions map[component.ID]component.Component

	// mu guards everything declared below.
	mu       sync.Mutex
	statuses []componentstatus.Status
}

func (h *host) GetExtensions() map[component.ID]component.Component { return h.extensions }

func (h *host) Report(event *componentstatus.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.statuses = append(h.statuses, event.Status())
}

func (h *host) reported() []componentstatus.Status {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.statuses)
}

func create(t *testing.T, set extension.Settings, configName string) extension.Extension {
	t.Helper()
	cfg, err := load(t, configName)
	require.NoError(t, err)
	ext, err := NewFactory().Create(t.Context(), set, cfg)
	require.NoError(t, err)
	return ext
}

func TestLeasesNeedAStartedExtension(t *testing.T) {
	ext := create(t, extensiontest.NewNopSettings(metadata.Type), "")
	leases := ext.(lease.Leases)
	_, err := leases.Acquire(t.Context(), "x")
	require.ErrorIs(t, err, ErrNotStarted)
	require.NoError(t, ext.Start(t.Context(), componenttest.NewNopHost()))
	held, err := leases.Acquire(t.Context(), "x")
	require.NoError(t, err)
	require.NoError(t, ext.Shutdown(t.Context()))
	require.ErrorIs(t, context.Cause(held.Context()), lease.ErrClosed, "a lease that nobody released ends")
	_, err = leases.Read(t.Context(), "x")
	require.ErrorIs(t, err, ErrNotStarted)
	require.NoError(t, ext.Shutdown(t.Context()))
}

func TestMissingStorageExtensionStopsTheStart(t *testing.T) {
	ext := create(t, extensiontest.NewNopSettings(metadata.Type), "storage")
	err := ext.Start(t.Context(), componenttest.NewNopHost())
	require.EqualError(t, err, "open lease store \"storage\": find storage extension \"file_storage/leases\": it is not among `service::extensions`")
	require.NoError(t, ext.Shutdown(t.Context()))
}

func TestLeasesOnStorageSurviveTheProcess(t *testing.T) {
	directory := t.TempDir()
	factory := filestorage.NewFactory()
	cfg := factory.CreateDefaultConfig().(*filestorage.Config)
	cfg.Directory = directory
	storageID := component.MustNewIDWithName("file_storage", "leases")
	var epoch uint64
	for run, want := range []string{"", `{"run":0}`, `{"run":1}`} {
		files, err := factory.Create(t.Context(), extensiontest.NewNopSettings(factory.Type()), cfg)
		require.NoError(t, err)
		h := &host{extensions: map[component.ID]component.Component{storageID: files}}
		require.NoError(t, files.Start(t.Context(), h))
		set := extensiontest.NewNopSettings(metadata.Type)
		set.ID = component.NewID(metadata.Type) // names its file
		ext := create(t, set, "storage")
		require.Equal(t, []component.ID{storageID}, ext.(interface{ Dependencies() []component.ID }).Dependencies())
		require.NoError(t, ext.Start(t.Context(), h))

		held, err := ext.(lease.Leases).Acquire(t.Context(), "x")
		require.NoError(t, err)
		require.Equal(t, want, string(held.State()))
		require.Greater(t, held.Epoch(), epoch)
		epoch = held.Epoch()
		require.NoError(t, held.Release(t.Context(), []byte(`{"run":`+string(rune('0'+run))+`}`)))
		require.NoError(t, ext.Shutdown(t.Context()))
		require.NoError(t, files.Shutdown(t.Context()))
	}
}

func TestS3StartsWithoutItsBucket(t *testing.T) {
	ext := create(t, extensiontest.NewNopSettings(metadata.Type), "s3") // nothing listens there
	require.NoError(t, ext.Start(t.Context(), componenttest.NewNopHost()))
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := ext.(lease.Leases).Read(ctx, "x")
	require.Error(t, err)
	require.NoError(t, ext.Shutdown(t.Context()))
}

func TestTelemetry(t *testing.T) {
	telemetry := componenttest.NewTelemetry()
	defer func() { require.NoError(t, telemetry.Shutdown(context.Background())) }()
	ext := create(t, metadatatest.NewSettings(telemetry), "")
	require.NoError(t, ext.Start(t.Context(), componenttest.NewNopHost()))
	defer func() { require.NoError(t, ext.Shutdown(context.Background())) }()

	held, err := ext.(lease.Leases).Acquire(t.Context(), "x")
	require.NoError(t, err)
	e := ext.(*leaseExtension)
	rec, err := e.opened.store.Get(t.Context(), "x")
	require.NoError(t, err)
	require.NoError(t, e.opened.store.Delete(t.Context(), "x", rec.Revision))
	require.ErrorIs(t, held.Save(t.Context(), nil), lease.ErrLost)

	metadatatest.AssertEqualLeaseLost(t, telemetry, []metricdata.DataPoint[int64]{
		{Value: 1, Attributes: attribute.NewSet(attribute.String("cause", "fenced"))},
	}, metricdatatest.IgnoreTimestamp())
	request := func(op, outcome string) metricdata.HistogramDataPoint[float64] {
		return metricdata.HistogramDataPoint[float64]{Count: 1, Attributes: attribute.NewSet(attribute.String("op", op), attribute.String("outcome", outcome))}
	}
	got, err := telemetry.GetMetric("otelcol_lease_request_duration")
	require.NoError(t, err)
	var seen []attribute.Set
	for _, point := range got.Data.(metricdata.Histogram[float64]).DataPoints {
		seen = append(seen, point.Attributes)
	}
	require.ElementsMatch(t, []attribute.Set{
		request("get", "missing").Attributes, request("put", "ok").Attributes, request("put", "conflict").Attributes,
	}, seen)
	metadatatest.AssertEqualLeaseWaitDuration(t, telemetry, []metricdata.HistogramDataPoint[float64]{
		{Attributes: attribute.NewSet(attribute.Bool("takeover", false))},
	}, metricdatatest.IgnoreTimestamp(), metricdatatest.IgnoreValue())
}

func TestStatusFollowsTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &host{}
		ext := create(t, extensiontest.NewNopSettings(metadata.Type), "")
		require.NoError(t, ext.Start(t.Context(), h))
		report := newReporter(ext.(*leaseExtension), h).observer().Request
		report("get", 0, errors.New("down"))
		report("get", 0, errors.New("down"))
		report("get", 0, lease.ErrNotFound)
		report("get", 0, errors.New("down"))
		report("put", 0, errors.New("down"))
		require.Empty(t, h.reported(), "hiccups are not reported")
		report("get", 0, context.Canceled)
		report("put", 0, errors.New("down"))
		report("put", 0, errors.New("down"))
		require.Equal(t, []componentstatus.Status{componentstatus.StatusRecoverableError}, h.reported())
		report("put", 0, lease.ErrConflict)
		report("put", 0, nil)
		require.Equal(t, []componentstatus.Status{componentstatus.StatusRecoverableError, componentstatus.StatusOK}, h.reported())
		require.NoError(t, ext.Shutdown(t.Context()))
	})
}
