package s3windowexporter

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/config/configopaque"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/exportertest"
	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/partition"
	"github.com/s3window/s3window/internal/s3client"
	"github.com/s3window/s3window/testbed/s3test"
)

const patience = 30 * time.Second // for anything that must happen at some time

// host has extensions and takes down the statuses that are reported.
type host struct {
	extensions map[component.ID]component.Component
	mu         sync.Mutex // guards everything below
	events     []*componentstatus.Event
}

func (h *host) GetExtensions() map[component.ID]component.Component { return h.extensions }

func (h *host) Report(e *componentstatus.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events = append(h.events, e)
}

func (h *host) statuses() (out []componentstatus.Status) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range h.events {
		out = append(out, e.Status())
	}
	return out
}

// last gives the newest status and its error.
func (h *host) last() (componentstatus.Status, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.events) == 0 {
		return componentstatus.StatusNone, nil
	}
	e := h.events[len(h.events)-1]
	return e.Status(), e.Err()
}

// memoryStorage is a storage extension whose content outlives its clients.
type memoryStorage struct {
	component.StartFunc
	component.ShutdownFunc

	mu      sync.Mutex // guards everything below
	content map[string]map[string][]byte
	open    map[string]int
	opened  []string
	refuse  error // of GetClient
	fail    error // of every call of a client
}

func (m *memoryStorage) GetClient(_ context.Context, _ component.Kind, id component.ID, name string) (storage.Client, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.refuse != nil {
		return nil, m.refuse
	}
	if m.content == nil {
		m.content, m.open = map[string]map[string][]byte{}, map[string]int{}
	}
	at := id.String() + "/" + name
	if m.content[at] == nil {
		m.content[at] = map[string][]byte{}
	}
	m.open[at]++
	m.opened = append(m.opened, at)
	return &memoryClient{m, at}, nil
}

func (m *memoryStorage) set(fail error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fail = fail
}

// opens gives what was opened so far, and how much of it is open.
func (m *memoryStorage) opens() (names []string, open int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for n := range maps.Values(m.open) {
		open += n
	}
	return slices.Clone(m.opened), open
}

type memoryClient struct {
	storage *memoryStorage
	at      string
}

func (c *memoryClient) Get(ctx context.Context, key string) ([]byte, error) {
	op := storage.GetOperation(key)
	err := c.Batch(ctx, op)
	return op.Value, err
}

func (c *memoryClient) Set(ctx context.Context, key string, value []byte) error {
	return c.Batch(ctx, storage.SetOperation(key, value))
}

func (c *memoryClient) Delete(ctx context.Context, key string) error {
	return c.Batch(ctx, storage.DeleteOperation(key))
}

func (c *memoryClient) Batch(_ context.Context, ops ...*storage.Operation) error {
	c.storage.mu.Lock()
	defer c.storage.mu.Unlock()
	if c.storage.fail != nil {
		return c.storage.fail
	}
	content := c.storage.content[c.at]
	for _, op := range ops {
		switch op.Type {
		case storage.Get:
			op.Value = slices.Clone(content[op.Key])
		case storage.Set:
			content[op.Key] = slices.Clone(op.Value)
		case storage.Delete:
			delete(content, op.Key)
		}
	}
	return nil
}

func (c *memoryClient) Close(context.Context) error {
	c.storage.mu.Lock()
	defer c.storage.mu.Unlock()
	c.storage.open[c.at]--
	return nil
}

// rig is a bucket behind a proxy, a storage, and the factory of exporters on
// both.
type rig struct {
	t       *testing.T
	server  *s3test.Server
	proxy   *s3test.Proxy
	storage *memoryStorage
	host    *host
	cfg     *Config
	factory exporter.Factory
}

func storageID() component.ID { return component.MustNewID("file_storage") }

// newRig starts a server with an empty bucket.
func newRig(t *testing.T) *rig {
	t.Helper()
	server := s3test.Start(t)
	proxy, address := s3test.StartProxy(t, server.Endpoint)
	r := newOfflineRig(t, address)
	r.server, r.proxy = server, proxy
	r.cfg.S3.Bucket = server.NewBucket(t)
	r.cfg.S3.AccessKeyID, r.cfg.S3.SecretAccessKey = server.AccessKey, configopaque.String(server.SecretKey)
	return r
}

// newOfflineRig is for tests that need no bucket.
func newOfflineRig(t *testing.T, endpoint string) *rig {
	t.Helper()
	r := &rig{t: t, storage: &memoryStorage{}, factory: NewFactory()}
	r.host = &host{extensions: map[component.ID]component.Component{storageID(): r.storage}}
	id := storageID()
	cfg := createDefaultConfig().(*Config)
	cfg.S3.Bucket, cfg.S3.Endpoint, cfg.S3.PathStyle = "lake", endpoint, true
	cfg.S3.AccessKeyID, cfg.S3.SecretAccessKey = "key", "secret"
	cfg.S3.Timeout = 2 * time.Second
	cfg.Tenant.From = []TenantRule{{ResourceAttribute: "tenant.id"}}
	cfg.Flush.MaxAge, cfg.Flush.ShutdownGrace = 200*time.Millisecond, 0
	cfg.Retry = RetryConfig{InitialInterval: 20 * time.Millisecond, MaxInterval: 100 * time.Millisecond}
	cfg.QueueConfig.Get().StorageID = &id
	r.cfg = cfg
	return r
}

func settings() exporter.Settings {
	set := exportertest.NewNopSettings(component.MustNewType("s3window"))
	set.ID = component.MustNewIDWithName("s3window", "test")
	return set
}

// create makes an exporter that is not started.
func (r *rig) create(set exporter.Settings) exporter.Logs {
	r.t.Helper()
	require.NoError(r.t, r.cfg.Validate())
	e, err := r.factory.CreateLogs(r.t.Context(), set, r.cfg)
	require.NoError(r.t, err)
	return e
}

// start makes an exporter and starts it.
func (r *rig) start() exporter.Logs {
	r.t.Helper()
	e := r.create(settings())
	require.NoError(r.t, e.Start(r.t.Context(), r.host))
	return e
}

func (r *rig) shutdown(e exporter.Logs) {
	r.t.Helper()
	require.NoError(r.t, e.Shutdown(context.Background()))
}

// bucketDown has every request to the bucket answered with an error.
func (r *rig) bucketDown() {
	r.proxy.Break(s3test.Rule{Do: s3test.Answer, Status: 500})
}

// probes counts the tries to check the bucket.
func (r *rig) probes() int {
	keys := map[string]struct{}{}
	for _, seen := range r.proxy.Seen() {
		if strings.Contains(seen.Path, "/_s3window/probe/") {
			keys[seen.Path] = struct{}{}
		}
	}
	return len(keys)
}

// committed gives the log records in committed windows of the tenant, in the lake
// that the configuration has for it.
func (r *rig) committed(tenant string) int64 { return r.committedOf(tenant, partition.Logs) }

// committedOf is committed for any signal.
func (r *rig) committedOf(tenant string, signal partition.Signal) int64 {
	r.t.Helper()
	at := newDirectory(r.cfg).of(tenant).S3
	if at.Endpoint == r.cfg.S3.Endpoint {
		at.Endpoint = r.server.Endpoint // not through the proxy
	}
	return r.recordsIn(at, tenant, signal)
}

// committedIn is committed in any lake.
func (r *rig) committedIn(at S3Config, tenant string) int64 {
	return r.recordsIn(at, tenant, partition.Logs)
}

func (r *rig) recordsIn(at S3Config, tenant string, signal partition.Signal) int64 {
	r.t.Helper()
	var n int64
	r.manifestsIn(at, tenant, signal, func(m lake.Manifest) { n += m.Records })
	return n
}

func (r *rig) manifestsIn(at S3Config, tenant string, signal partition.Signal, visit func(lake.Manifest)) {
	r.t.Helper()
	l, done := r.lakeAt(at)
	defer done()
	require.NoError(r.t, l.Manifests(r.t.Context(), partition.ID{Sink: r.cfg.Sink, Tenant: tenant, Signal: signal},
		func(_ uint64, m lake.Manifest, _ string) error {
			visit(m)
			return nil
		}))
}

// lakeAt opens a lake, until done is called.
func (r *rig) lakeAt(at S3Config) (l *lake.Lake, done func()) {
	r.t.Helper()
	settings := at.client()
	client, err := s3client.New(r.t.Context(), settings)
	require.NoError(r.t, err)
	return lake.New(lake.NewS3(client, lake.S3Options{Settings: settings}), at.ref()), func() { s3client.CloseIdle(client) }
}

func (r *rig) awaitCommitted(tenant string, want int64) {
	r.t.Helper()
	r.await(func() bool { return r.committed(tenant) >= want })
	require.Equal(r.t, want, r.committed(tenant))
}

func (r *rig) await(cond func() bool) {
	r.t.Helper()
	require.Eventually(r.t, cond, patience, 20*time.Millisecond)
}

// logs is a request with n records for each of the tenants.
func logs(n int, tenants ...string) plog.Logs {
	ld := plog.NewLogs()
	for _, tenant := range tenants {
		rl := ld.ResourceLogs().AppendEmpty()
		rl.Resource().Attributes().PutStr("tenant.id", tenant)
		records := rl.ScopeLogs().AppendEmpty().LogRecords()
		for range n {
			records.AppendEmpty().Body().SetStr("a line of " + tenant)
		}
	}
	ld.MarkReadOnly()
	return ld
}
