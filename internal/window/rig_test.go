package window

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.uber.org/goleak"
	"go.uber.org/zap"

	"github.com/s3window/s3window/extension/leaseextension"
	"github.com/s3window/s3window/internal/commit"
	"github.com/s3window/s3window/internal/encode"
	"github.com/s3window/s3window/internal/flush"
	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/lake/laketest"
	"github.com/s3window/s3window/internal/partition"
	"github.com/s3window/s3window/internal/wal"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// disk is a storage client that survives the processes of a test.
type disk struct {
	mu     sync.Mutex
	values map[string][]byte
	fail   func(ops []*storage.Operation) error
}

func newDisk() *disk { return &disk{values: map[string][]byte{}} }

func (d *disk) copy() *disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	return &disk{values: maps.Clone(d.values)}
}

func (d *disk) Batch(_ context.Context, ops ...*storage.Operation) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fail != nil {
		if err := d.fail(ops); err != nil {
			return err
		}
	}
	for _, op := range ops {
		switch op.Type {
		case storage.Get:
			op.Value = slices.Clone(d.values[op.Key])
		case storage.Set:
			d.values[op.Key] = slices.Clone(op.Value)
		case storage.Delete:
			delete(d.values, op.Key)
		}
	}
	return nil
}

func (d *disk) Walk(_ context.Context, f storage.WalkFunc) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, k := range slices.Sorted(maps.Keys(d.values)) {
		if _, err := f(k, d.values[k]); err != nil {
			return err
		}
	}
	return nil
}

func (d *disk) Get(ctx context.Context, key string) ([]byte, error) {
	op := storage.GetOperation(key)
	err := d.Batch(ctx, op)
	return op.Value, err
}

func (d *disk) Set(ctx context.Context, key string, value []byte) error {
	return d.Batch(ctx, storage.SetOperation(key, value))
}

func (d *disk) Delete(ctx context.Context, key string) error {
	return d.Batch(ctx, storage.DeleteOperation(key))
}

func (d *disk) Close(context.Context) error { return nil }

// world is a bucket and a lease store that outlive processes.
type world struct {
	t      testing.TB
	bucket *laketest.Memory
	store  leaseextension.Store
	ref    lake.Ref
}

func newWorld(t testing.TB) *world {
	return &world{t: t, bucket: laketest.NewMemory(), store: &kv{records: map[string]leaseextension.Record{}}, ref: lake.Ref{Bucket: "lake", Prefix: "otel"}}
}

// settings of one process; zero values are defaults that seal nothing by
// themselves within a test.
type settings struct {
	target    int64
	maxAge    time.Duration
	memory    int64
	consumers int
	segment   time.Duration
	spec      encode.Spec
	step      func(string)
	align     partition.Align
}

// testSpec uses snappy: zstd coders are pooled with channels, which a bubble of
// synctest may not share with another.
func testSpec() encode.Spec {
	return encode.Spec{Signal: partition.Logs, Format: "parquet", Codec: "snappy", RowGroupRows: 1000, RowGroupBytes: 1 << 20}
}

// process is one life of an exporter on a disk.
type process struct {
	*Runtime
	t      testing.TB
	wal    *wal.WAL
	leases *leaseextension.Participant
	seen   *recorder
	ended  chan struct{}
	stop   context.CancelFunc
}

type recorder struct {
	mu        sync.Mutex
	committed []Committed
	retried   map[string]int
	fenced    int
	lost      int
	health    []error
}

func (r *recorder) Committed(c Committed) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.committed = append(r.committed, c)
}

func (r *recorder) Retried(op, _ string, _ partition.Signal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.retried[op]++
}

func (r *recorder) Fenced(string, partition.Signal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fenced++
}

func (r *recorder) Lost(n int, _ int64, _ string, _ partition.Signal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lost += n
}

func (r *recorder) Health(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.health = append(r.health, err)
}

func (r *recorder) windows() []Committed {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.committed)
}

func (r *recorder) reasons() map[flush.Reason]int {
	out := map[flush.Reason]int{}
	for _, c := range r.windows() {
		out[c.Reason]++
	}
	return out
}

// start opens the WAL on d and runs the exporter's data path over it.
func (w *world) start(d *disk, s settings) *process {
	w.t.Helper()
	if s.target == 0 {
		s.target = 1 << 40
	}
	if s.maxAge == 0 {
		s.maxAge = time.Hour
	}
	if s.consumers == 0 {
		s.consumers = 2
	}
	if s.memory == 0 {
		s.memory = MinMemory(s.consumers) + 64<<20
	}
	if s.segment == 0 {
		s.segment = 24 * time.Hour
	}
	if s.spec.Format == "" {
		s.spec = testSpec()
	}
	if s.align == "" {
		s.align = partition.AlignHour
	}
	info, err := Origins{Sink: "default", Lake: w.ref}.Encode()
	require.NoError(w.t, err)
	var client storage.Client
	if d != nil {
		client = d
	}
	q, err := wal.Open(context.Background(), wal.Options{
		Client: client, SegmentAge: s.segment, WriterInfo: info, Logger: zap.NewNop(), Fault: s.step,
	})
	require.NoError(w.t, err)
	older := q.Writers()
	p := &process{t: w.t, wal: q, seen: &recorder{retried: map[string]int{}}, ended: make(chan struct{})}
	holder := "test/" + q.Writer()
	p.leases = leaseextension.NewLeases(w.store, leaseextension.Options{Holder: holder, TTL: 10 * time.Second})
	var logger *zap.Logger = zap.NewNop()
	p.Runtime, err = New(Options{
		Queue: q, Sink: "default", Policy: flush.Config{TargetSize: s.target, MaxAge: s.maxAge},
		Memory: s.memory, Consumers: s.consumers, Grace: 20 * time.Second,
		Retry:  Retry{Initial: 100 * time.Millisecond, Max: 2 * time.Second},
		Target: func(string, partition.Signal) Target { return Target{Lake: w.ref, Align: s.align, Spec: s.spec} },
		Open: func(ref lake.Ref) (*lake.Lake, error) {
			return lake.New(w.bucket, ref, lake.WithStep(func(l string) {
				if s.step != nil {
					s.step(l)
				}
			})), nil
		},
		Log: func(l *lake.Lake, id partition.ID) Log {
			return commit.New(l, p.leases, id, commit.Options{Holder: holder, Step: s.step,
				Predecessors: func(h string) bool {
					for writer := range older {
						if h == "test/"+writer && h != holder {
							return true
						}
					}
					return false
				}})
		},
		Observer: p.seen, Logger: logger, Step: s.step,
	})
	require.NoError(w.t, err)
	ctx, stop := context.WithCancel(context.Background())
	p.stop = stop
	go func() {
		defer close(p.ended)
		_ = p.Run(ctx)
	}()
	return p
}

// crash ends the process without letting it finish anything.
func (p *process) crash() {
	p.stop()
	<-p.ended
	p.leases.Close()
	_ = p.wal.Close(context.Background())
}

// shutdown ends the process in good order.
func (p *process) shutdown() {
	require.NoError(p.t, p.Shutdown(context.Background()))
	p.stop()
	<-p.ended
	p.leases.Close()
	require.NoError(p.t, p.wal.Close(context.Background()))
}

// append appends one request per tenant with the ids as bodies.
func (p *process) append(tenant string, ids ...string) {
	p.t.Helper()
	require.NoError(p.t, p.wal.Append(context.Background(), record(tenant, ids...)))
}

func record(tenant string, ids ...string) wal.Record {
	return wal.Record{Tenant: tenant, Signal: "logs", Items: len(ids), Payload: payload(ids...)}
}

func payload(ids ...string) []byte {
	ld := plog.NewLogs()
	rl := ld.ResourceLogs().AppendEmpty()
	rl.Resource().Attributes().PutStr("service.name", "svc")
	sl := rl.ScopeLogs().AppendEmpty()
	for _, id := range ids {
		lr := sl.LogRecords().AppendEmpty()
		lr.Body().SetStr(id)
		lr.SetTimestamp(pcommon.NewTimestampFromTime(time.Now()))
	}
	b, err := (&plog.ProtoMarshaler{}).MarshalLogs(ld)
	if err != nil {
		panic(err)
	}
	return b
}

func ids(prefix string, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("%s-%05d", prefix, i)
	}
	return out
}

type row struct {
	Body string `parquet:"body"`
}

// window is a committed window as the bucket has it.
type committedWindow struct {
	lake.Manifest
	bodies []string
}

// lake reads the committed windows of a tenant from the bucket alone, and
// checks that they form 1..k.
func (w *world) windows(tenant string) []committedWindow {
	w.t.Helper()
	l := lake.New(w.bucket, w.ref)
	var out []committedWindow
	id := partition.ID{Sink: "default", Tenant: tenant, Signal: partition.Logs}
	ends := map[string]int64{}
	err := l.Manifests(context.Background(), id, func(k uint64, m lake.Manifest, _ string) error {
		require.EqualValues(w.t, len(out)+1, k, "k has no gap")
		require.Equal(w.t, ends[m.Writer], m.After, "windows of one writer follow each other")
		ends[m.Writer] = m.End
		cw := committedWindow{Manifest: m}
		for _, o := range m.Objects {
			b, ok := w.bucket.Content(o.Key)
			require.True(w.t, ok, "object %s exists", o.Key)
			rows, err := parquet.Read[row](bytes.NewReader(b), int64(len(b)))
			require.NoError(w.t, err)
			require.Len(w.t, rows, int(o.Records))
			for _, r := range rows {
				cw.bodies = append(cw.bodies, r.Body)
			}
		}
		out = append(out, cw)
		return nil
	})
	require.NoError(w.t, err)
	return out
}

func (w *world) bodies(tenant string) []string {
	var out []string
	for _, cw := range w.windows(tenant) {
		out = append(out, cw.bodies...)
	}
	return out
}

// eventually waits in the bubble's time until f holds.
func eventually(t testing.TB, f func() bool) {
	t.Helper()
	for range 2000 {
		if f() {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal("does not come true")
}

var errDown = errors.New("503 SlowDown: the bucket is down")

// kv is a lease store that can be copied.
type kv struct {
	mu      sync.Mutex
	writes  int
	records map[string]leaseextension.Record
}

func (s *kv) copy() *kv {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &kv{writes: s.writes, records: maps.Clone(s.records)}
}

func (s *kv) Get(_ context.Context, key string) (leaseextension.Record, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.records[key]
	if !ok {
		return leaseextension.Record{}, leaseextension.ErrNotFound
	}
	return r, nil
}

func (s *kv) Put(_ context.Context, key string, value []byte, ifRevision string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.records[key].Revision != ifRevision {
		return "", leaseextension.ErrConflict
	}
	s.writes++
	r := leaseextension.Record{Key: key, Value: slices.Clone(value), Revision: fmt.Sprint(s.writes)}
	s.records[key] = r
	return r.Revision, nil
}

func (s *kv) Delete(_ context.Context, key, ifRevision string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.records[key].Revision != ifRevision {
		return leaseextension.ErrConflict
	}
	delete(s.records, key)
	return nil
}

func (s *kv) List(_ context.Context, prefix string) ([]leaseextension.Record, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []leaseextension.Record
	for _, k := range slices.Sorted(maps.Keys(s.records)) {
		if strings.HasPrefix(k, prefix) {
			out = append(out, s.records[k])
		}
	}
	return out, nil
}

// uncommitted are a tenant's objects that no manifest names.
func (w *world) uncommitted(tenant string) []string {
	named := map[string]bool{}
	for _, cw := range w.windows(tenant) {
		for _, o := range cw.Objects {
			named[o.Key] = true
		}
	}
	id := partition.ID{Tenant: tenant, Signal: partition.Logs}
	return slices.DeleteFunc(w.bucket.Keys(partition.DataPrefix(w.ref.Prefix, id)), func(k string) bool { return named[k] })
}
