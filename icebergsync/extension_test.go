package icebergsync

import (
	"context"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/extension"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/metric/metricdata/metricdatatest"

	"github.com/s3window/s3window/extension/leaseextension/lease"
	"github.com/s3window/s3window/extension/leaseextension/lease/memory"
	"github.com/s3window/s3window/icebergsync/internal/metadatatest"
	"github.com/s3window/s3window/icebergsync/internal/run"
	"github.com/s3window/s3window/icebergsync/internal/source"
	"github.com/s3window/s3window/icebergsync/internal/synctest"
	"github.com/s3window/s3window/testbed/s3test"
)

// host is a component.Host with extensions that keeps what status it was told.
type host struct {
	extensions map[component.ID]component.Component

	// mu guards everything declared below.
	mu     sync.Mutex
	events []*componentstatus.Event
}

func (h *host) GetExtensions() map[component.ID]component.Component { return h.extensions }

func (h *host) Report(event *componentstatus.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events = append(h.events, event)
}

// last returns the last status; StatusNone before the first.
func (h *host) last() (componentstatus.Status, string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.events) == 0 {
		return componentstatus.StatusNone, ""
	}
	e := h.events[len(h.events)-1]
	if e.Err() == nil {
		return e.Status(), ""
	}
	return e.Status(), e.Err().Error()
}

// lab is a lake on a real S3 server behind a proxy, with a catalog in SQLite.
type lab struct {
	t         *testing.T
	server    *s3test.Server
	proxy     *s3test.Proxy
	config    *run.Config
	writer    *synctest.Writer
	host      *host
	telemetry *componenttest.Telemetry
}

func newLab(t *testing.T) *lab {
	s := s3test.Start(t)
	l := &lab{t: t, server: s, host: &host{}, telemetry: componenttest.NewTelemetry()}
	t.Cleanup(func() { require.NoError(t, l.telemetry.Shutdown(context.Background())) })
	settings := synctest.S3(s, s.NewBucket(t))
	store, err := source.OpenStore(t.Context(), settings)
	require.NoError(t, err)
	t.Cleanup(store.Close)
	l.writer = synctest.NewWriter(t, store.Lake("otel"))

	var endpoint string
	l.proxy, endpoint = s3test.StartProxy(t, s.Endpoint)
	settings.Endpoint, settings.Timeout = endpoint, 2*time.Second
	l.config = run.Default()
	l.config.S3 = run.S3Config{S3ClientConfig: run.S3ClientConfig(settings), Prefix: "otel"}
	l.config.Catalog.Type, l.config.Catalog.URI = "sql", "file:"+filepath.Join(t.TempDir(), "catalog.sqlite")
	l.config.Catalog.Warehouse = "s3://" + s.NewBucket(t)
	l.config.Signals, l.config.Interval = []string{"logs"}, time.Second
	require.NoError(t, l.config.Validate())
	return l
}

// start runs the extension until the test ends.
func (l *lab) start() extension.Extension {
	l.t.Helper()
	e, err := NewFactory().Create(l.t.Context(), metadatatest.NewSettings(l.telemetry), l.config)
	require.NoError(l.t, err)
	require.NoError(l.t, e.Start(l.t.Context(), l.host))
	l.t.Cleanup(func() { require.NoError(l.t, e.Shutdown(context.Background())) })
	return e
}

func (l *lab) await(what string, done func() bool) {
	l.t.Helper()
	for end := time.Now().Add(60 * time.Second); !done(); time.Sleep(20 * time.Millisecond) {
		status, text := l.host.last()
		require.True(l.t, time.Now().Before(end), "it did not happen: %s; last status %v %s", what, status, text)
	}
}

// windows is the metric of windows that were added.
func (l *lab) windows() int64 {
	got, err := l.telemetry.GetMetric("otelcol_iceberg_windows")
	if err != nil {
		return 0 // none yet
	}
	var n int64
	for _, p := range got.Data.(metricdata.Sum[int64]).DataPoints {
		n += p.Value
	}
	return n
}

func TestWindowsGetIntoTables(t *testing.T) {
	l := newLab(t)
	l.writer.Commit("acme", synctest.Window{})
	l.writer.Commit("acme", synctest.Window{Format: "jsonl"})
	l.start()
	l.await("the first window", func() bool { return l.windows() == 1 })
	l.writer.Commit("globex", synctest.Window{})
	l.await("a later window", func() bool { return l.windows() == 2 })
	of := attribute.NewSet(attribute.String("table", "otel.logs"))
	metadatatest.AssertEqualIcebergWindowsSkipped(t, l.telemetry, []metricdata.DataPoint[int64]{{Value: 1, Attributes: of}}, metricdatatest.IgnoreTimestamp())
	l.await("no lag", func() bool {
		got, err := l.telemetry.GetMetric("otelcol_iceberg_lag_windows")
		return err == nil && got.Data.(metricdata.Gauge[int64]).DataPoints[0].Value == 0
	})
	status, _ := l.host.last()
	assert.Equal(t, componentstatus.StatusNone, status, "nothing was wrong")
}

// A lake that does not answer shows in the status, and is forgotten when it does.
func TestOutagesShowInTheStatus(t *testing.T) {
	l := newLab(t)
	l.writer.Commit("acme", synctest.Window{})
	l.proxy.Break(s3test.Rule{Do: s3test.Answer, Status: 403})
	l.start()
	l.await("the status", func() bool {
		status, text := l.host.last()
		return status == componentstatus.StatusRecoverableError && strings.Contains(text, "403 AccessDenied")
	})
	l.proxy.Heal()
	l.await("the window", func() bool { return l.windows() == 1 })
	l.await("the status", func() bool { status, _ := l.host.last(); return status == componentstatus.StatusOK })
}

// Objects that may not be read hold up their log, and say so.
func TestObjectsThatMayNotBeReadShowInTheStatus(t *testing.T) {
	l := newLab(t)
	l.writer.Commit("acme", synctest.Window{})
	l.writer.Commit("globex", synctest.Window{})
	l.proxy.Break(s3test.Rule{Method: "GET", Key: "/otel/tenant=acme/", Do: s3test.Answer, Status: 403})
	l.start()
	l.await("the other log", func() bool { return l.windows() == 1 })
	l.await("the status", func() bool {
		_, text := l.host.last()
		return strings.HasPrefix(text, `table otel.logs: tenant "acme", logs of sink "default", window 1: read object "otel/tenant=acme/`) &&
			strings.HasSuffix(text, "403 AccessDenied: broken by a test")
	})
	l.proxy.Heal()
	l.await("the window", func() bool { return l.windows() == 2 })
	l.await("the status", func() bool { status, _ := l.host.last(); return status == componentstatus.StatusOK })
}

// leases is a lease extension.
type leases struct {
	component.StartFunc
	component.ShutdownFunc
	*lease.Participant
}

func TestOfTwoWithALeaseOneWorks(t *testing.T) {
	l := newLab(t)
	id := component.MustNewID("lease")
	participant := lease.NewParticipant(memory.New(), lease.Options{TTL: 2 * time.Second})
	t.Cleanup(participant.Close)
	l.host.extensions = map[component.ID]component.Component{id: &leases{Participant: participant}}
	l.config.Lease = &id
	l.writer.Commit("acme", synctest.Window{})
	first := l.start()
	require.Equal(t, []component.ID{id}, first.(interface{ Dependencies() []component.ID }).Dependencies())
	l.await("the window", func() bool { return l.windows() == 1 })
	l.start()
	require.NoError(t, first.Shutdown(t.Context()))
	l.writer.Commit("acme", synctest.Window{})
	l.await("the next one's turn", func() bool { return l.windows() == 2 })
}

func TestAMissingLeaseExtensionStopsTheStart(t *testing.T) {
	l := newLab(t)
	id := component.MustNewID("lease")
	l.config.Lease = &id
	e, err := NewFactory().Create(t.Context(), metadatatest.NewSettings(l.telemetry), l.config)
	require.NoError(t, err)
	require.EqualError(t, e.Start(t.Context(), l.host), "find lease extension \"lease\": it is not among `service::extensions`")
	require.NoError(t, e.Shutdown(t.Context()))
}
