package wal

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/open-telemetry/opentelemetry-collector-contrib/extension/storage/filestorage"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/extension/extensiontest"
	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if childMain() {
		return
	}
	goleak.VerifyTestMain(m)
}

// openFile opens the collector's own file_storage on dir.
func openFile(dir, name string, fsync bool) (storage.Client, error) {
	factory := filestorage.NewFactory()
	cfg := factory.CreateDefaultConfig().(*filestorage.Config)
	cfg.Directory, cfg.FSync = dir, fsync
	ext, err := factory.Create(context.Background(), extensiontest.NewNopSettings(factory.Type()), cfg)
	if err != nil {
		return nil, err
	}
	if err := ext.Start(context.Background(), componenttest.NewNopHost()); err != nil {
		return nil, err
	}
	id := component.MustNewID("s3window")
	return ext.(storage.Extension).GetClient(context.Background(), component.KindExporter, id, name)
}

// store is a place that survives a WAL's Close or crash.
type store interface {
	client(t testing.TB) storage.Client
}

type fileStore struct {
	dir   string
	fsync bool
}

func (s fileStore) client(t testing.TB) storage.Client {
	c, err := openFile(s.dir, "wal", s.fsync)
	require.NoError(t, err)
	return c
}

// stores are the storages that every test of behaviour runs on.
func stores(t *testing.T, run func(t *testing.T, s store)) {
	for name, s := range map[string]func(t *testing.T) store{
		"file":       func(t *testing.T) store { return fileStore{dir: t.TempDir()} },
		"file fsync": func(t *testing.T) store { return fileStore{dir: t.TempDir(), fsync: true} },
		"map":        func(*testing.T) store { return newFake() },
		"map, no walker": func(*testing.T) store {
			f := newFake()
			f.noWalk = true
			return f
		},
	} {
		t.Run(name, func(t *testing.T) { run(t, s(t)) })
	}
}

// call is one call of the storage as a test sees it.
type call struct {
	n    int // counts up
	ops  []*storage.Operation
	sets []string
	dels []string
}

func (c *call) touches(prefix string) bool {
	for _, k := range append(slices.Clone(c.sets), c.dels...) {
		if k[:1] == prefix {
			return true
		}
	}
	return false
}

var errInjected = errors.New("injected")

// fake is a storage in memory with faults: before is asked ahead of every
// Batch, after once it took effect.
type fake struct {
	noWalk   bool
	shuffle  bool
	mu       sync.Mutex
	values   map[string][]byte
	calls    int
	before   func(c *call) error
	after    func(c *call) error
	maxBytes int // of one read
	closed   int
}

func newFake() *fake { return &fake{values: map[string][]byte{}} }

func (f *fake) client(testing.TB) storage.Client {
	if f.noWalk {
		return struct{ storage.Client }{f}
	}
	return f
}

func (f *fake) Batch(_ context.Context, ops ...*storage.Operation) error {
	c := &call{ops: ops}
	for _, op := range ops {
		switch op.Type {
		case storage.Set:
			c.sets = append(c.sets, op.Key)
		case storage.Delete:
			c.dels = append(c.dels, op.Key)
		}
	}
	f.mu.Lock()
	c.n = f.calls
	f.calls++
	before, after := f.before, f.after
	f.mu.Unlock()
	if before != nil {
		if err := before(c); err != nil {
			return err
		}
	}
	f.apply(ops)
	if after != nil {
		return after(c)
	}
	return nil
}

func (f *fake) apply(ops []*storage.Operation) {
	f.mu.Lock()
	defer f.mu.Unlock()
	read := 0
	for _, op := range ops {
		switch op.Type {
		case storage.Get:
			v, ok := f.values[op.Key]
			op.Value = nil
			if ok {
				op.Value = append([]byte{}, v...)
			}
			read += len(v)
		case storage.Set:
			f.values[op.Key] = append([]byte{}, op.Value...)
		case storage.Delete:
			delete(f.values, op.Key)
		}
	}
	f.maxBytes = max(f.maxBytes, read)
}

func (f *fake) Walk(_ context.Context, fn storage.WalkFunc) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	keys := slices.Sorted(maps.Keys(f.values))
	if f.shuffle {
		slices.Reverse(keys)
	}
	for _, k := range keys {
		if _, err := fn(k, f.values[k]); err != nil {
			return err
		}
	}
	return nil
}

func (f *fake) Get(ctx context.Context, key string) ([]byte, error) {
	op := storage.GetOperation(key)
	err := f.Batch(ctx, op)
	return op.Value, err
}

func (f *fake) Set(ctx context.Context, key string, value []byte) error {
	return f.Batch(ctx, storage.SetOperation(key, value))
}

func (f *fake) Delete(ctx context.Context, key string) error {
	return f.Batch(ctx, storage.DeleteOperation(key))
}

func (f *fake) Close(context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed++
	return nil
}

func (f *fake) fail(before, after func(c *call) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.before, f.after = before, after
}

func (f *fake) keys(prefix string) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var keys []string
	for k := range f.values {
		if k[:1] == prefix {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	return keys
}

// clone is the storage as a crash would leave it.
func (f *fake) clone() *fake {
	f.mu.Lock()
	defer f.mu.Unlock()
	return &fake{values: maps.Clone(f.values), noWalk: f.noWalk}
}

// open opens a WAL that is closed with the test.
func open(t testing.TB, opts Options) *WAL {
	t.Helper()
	w, err := Open(t.Context(), opts)
	require.NoError(t, err)
	t.Cleanup(func() { _ = w.Close(context.Background()) })
	return w
}

func rec(tenant, payload string) Record {
	return Record{Tenant: tenant, Signal: "logs", Items: 1, Payload: []byte(payload)}
}

func add(t testing.TB, w *WAL, recs ...Record) {
	t.Helper()
	require.NoError(t, w.Append(t.Context(), recs...))
}

// drain reads all that is unread.
func drain(t testing.TB, w *WAL) []Entry {
	t.Helper()
	var all []Entry
	for w.Stats().UnreadEntries > 0 {
		g, err := w.Next(t.Context())
		require.NoError(t, err)
		entries, err := w.Read(t.Context())
		require.NoError(t, err)
		size := int64(0)
		for _, e := range entries {
			require.Equal(t, g.Stamp, e.Stamp)
			require.Equal(t, g.Segment, e.Segment)
			require.Equal(t, g.Writer, e.Writer)
			size += int64(len(e.Payload))
		}
		require.LessOrEqual(t, size, g.Bytes)
		all = append(all, entries...)
	}
	return all
}

func payloads(entries []Entry) []string {
	all := []string{}
	for _, e := range entries {
		all = append(all, string(e.Payload))
	}
	return all
}

func seqsOf(entries []Entry) []uint64 {
	var all []uint64
	for _, e := range entries {
		all = append(all, e.Seq)
	}
	return all
}

func names(from, to int) []string {
	all := []string{}
	for i := from; i < to; i++ {
		all = append(all, fmt.Sprint(i))
	}
	return all
}
