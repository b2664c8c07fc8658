package storage_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/open-telemetry/opentelemetry-collector-contrib/extension/storage/filestorage"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/extension/extensiontest"
	xstorage "go.opentelemetry.io/collector/extension/xextension/storage"
	"go.uber.org/goleak"

	"github.com/s3window/s3window/extension/leaseextension/internal/storage"
	"github.com/s3window/s3window/extension/leaseextension/lease"
	"github.com/s3window/s3window/extension/leaseextension/leasetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var leaseID = component.MustNewID("lease")

// file is a store on the real file_storage that can be closed and opened again
// under its users.
type file struct {
	directory string

	// mu guards everything declared below.
	mu        sync.RWMutex
	extension xstorage.Extension
	client    xstorage.Client
	store     lease.Store
}

func openFile(t testing.TB) *file {
	f := &file{directory: t.TempDir()}
	f.open(t)
	t.Cleanup(func() { f.close(t) })
	return f
}

func (f *file) open(t testing.TB) {
	factory := filestorage.NewFactory()
	cfg := factory.CreateDefaultConfig().(*filestorage.Config)
	cfg.Directory = f.directory
	ext, err := factory.Create(context.Background(), extensiontest.NewNopSettings(factory.Type()), cfg)
	require.NoError(t, err)
	f.extension = ext.(xstorage.Extension)
	require.NoError(t, ext.Start(context.Background(), componenttest.NewNopHost()))
	f.client, err = f.extension.GetClient(context.Background(), component.KindExtension, leaseID, "")
	require.NoError(t, err)
	f.store = storage.New(f.client)
}

func (f *file) close(t testing.TB) {
	require.NoError(t, f.client.Close(context.Background()))
	require.NoError(t, f.extension.Shutdown(context.Background()))
}

func (f *file) restart(t testing.TB) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.close(t)
	f.open(t)
}

func (f *file) Get(ctx context.Context, key string) (lease.Record, error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.store.Get(ctx, key)
}

func (f *file) Put(ctx context.Context, key string, value []byte, ifRevision string) (string, error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.store.Put(ctx, key, value, ifRevision)
}

func (f *file) Delete(ctx context.Context, key, ifRevision string) error {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.store.Delete(ctx, key, ifRevision)
}

func (f *file) List(ctx context.Context, prefix string) ([]lease.Record, error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.store.List(ctx, prefix)
}

func TestConformance(t *testing.T) {
	leasetest.Run(t, leasetest.Bubble, func(t testing.TB) leasetest.Backend {
		f := openFile(t)
		return leasetest.Backend{
			Open:    func(testing.TB) lease.Store { return f },
			Restart: f.restart,
		}
	})
}

// brokenClient fails what is named, and returns what it is told to.
type brokenClient struct {
	xstorage.Client
	get   []byte // of a record
	page  []byte // of the index
	gets  error
	batch error
}

func (c brokenClient) Get(_ context.Context, key string) ([]byte, error) {
	if strings.HasPrefix(key, "i/") {
		return c.page, c.gets
	}
	return c.get, c.gets
}
func (c brokenClient) Batch(context.Context, ...*xstorage.Operation) error { return c.batch }

func TestBrokenStorageIsAnErrorOfItsOwn(t *testing.T) {
	ctx, listed := t.Context(), []byte(`["a"]`)
	for name, client := range map[string]brokenClient{
		"reads fail":        {gets: xstorage.ErrStorageFull},
		"record is damaged": {get: []byte("no revision"), page: listed},
		"record has none":   {get: []byte("\nvalue"), page: listed},
	} {
		t.Run(name, func(t *testing.T) {
			store := storage.New(client)
			_, err := store.Get(ctx, "a")
			require.Error(t, err)
			require.NotErrorIs(t, err, lease.ErrNotFound)
			_, err = store.Put(ctx, "a", nil, "1")
			require.Error(t, err)
			require.NotErrorIs(t, err, lease.ErrConflict)
			require.Error(t, store.Delete(ctx, "a", "1"))
			_, err = store.List(ctx, "")
			require.Error(t, err)
		})
	}
	_, err := storage.New(brokenClient{page: []byte("no JSON")}).List(ctx, "")
	require.Error(t, err)
	_, err = storage.New(brokenClient{batch: xstorage.ErrStorageFull}).Put(ctx, "a", nil, "")
	require.ErrorIs(t, err, xstorage.ErrStorageFull)
}

// A storage that says yes and keeps what it has.
func TestForgedAnswers(t *testing.T) {
	ctx := t.Context()
	_, err := storage.New(brokenClient{}).Put(ctx, "a", []byte("x"), "")
	require.EqualError(t, err, "read record back: the storage holds something else than what it was given")
	store := storage.New(brokenClient{get: []byte("1\nx"), page: []byte(`["a"]`)})
	_, err = store.Put(ctx, "a", []byte("y"), "1")
	require.EqualError(t, err, "read record back: the storage holds something else than what it was given")
	require.EqualError(t, store.Delete(ctx, "a", "1"), "look after deletion: the storage holds something else than what it was given")
}

func TestOpenNamesWhatIsMissing(t *testing.T) {
	cfg := storage.Config{Extension: component.MustNewIDWithName("file_storage", "leases")}
	_, _, err := storage.Open(t.Context(), cfg, componenttest.NewNopHost(), leaseID)
	require.EqualError(t, err, "find storage extension \"file_storage/leases\": it is not among `service::extensions`")
	require.Error(t, (&storage.Config{}).Check())
	require.NoError(t, cfg.Check())
}
