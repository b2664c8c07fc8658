package window

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.uber.org/goleak"
	"go.uber.org/zap"

	"github.com/s3window/s3window/extension/leaseextension/lease"
	"github.com/s3window/s3window/internal/commit"
	"github.com/s3window/s3window/internal/encode"
	"github.com/s3window/s3window/internal/flush"
	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/lake/laketest"
	"github.com/s3window/s3window/internal/partition"
	"github.com/s3window/s3window/internal/wal"
	"github.com/s3window/s3window/internal/window/sealed"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a bucket and a lease store that outlive processes.
type world struct {
	t      testing.TB
	bucket *laketest.Memory
	store  lease.Store
	ref    lake.Ref
	own    map[string]*world // tenants that are filed elsewhere
	turns  bool              // commits take turns
}

// of is where the tenant is filed.
func (w *world) of(tenant string) *world {
	if o, ok := w.own[tenant]; ok {
		return o
	}
	return w
}

// in is the bucket that ref names.
func (w *world) in(ref lake.Ref) *laketest.Memory {
	for _, o := range w.own {
		if o.ref.Bucket == ref.Bucket {
			return o.bucket
		}
	}
	return w.bucket
}

func newWorld(t testing.TB) *world {
	return &world{t: t, bucket: laketest.NewMemory(), store: &kv{records: map[string]lease.Record{}}, ref: lake.Ref{Bucket: "lake", Prefix: "otel"}}
}

// settings of one process; zero values are defaults that seal nothing by
// themselves within a test.
type settings struct {
	target    int64
	maxAge    time.Duration
	memory    int64
	consumers int
	uploads   int
	segment   time.Duration
	spec      encode.Spec
	step      func(string)
	align     partition.Align
	data      int64                  // of the budget, where less than MinMemory is wanted
	queue     func(q *wal.WAL) Queue // wraps the queue
	log       func(l Log) Log        // wraps every commit log
	grace     time.Duration
	limits    func(tenant string) flush.Limits
	backlog   func(tenant string) Backlog
	volatile  bool
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
	leases *lease.Participant
	seen   *recorder
	ended  chan struct{}
	stop   context.CancelFunc
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
	origins := Origins{Sink: "default", Lake: w.ref, Tenants: map[string]lake.Ref{}}
	for tenant, o := range w.own {
		origins.Tenants[tenant] = o.ref
	}
	info, err := origins.Encode()
	require.NoError(w.t, err)
	var client storage.Client
	if d != nil {
		client = d
	}
	damage := &Damage{}
	q, err := wal.Open(context.Background(), wal.Options{
		Client: client, SegmentAge: s.segment, WriterInfo: info, Logger: zap.NewNop(), Step: s.step,
		OnDamage: damage.Add,
	})
	require.NoError(w.t, err)
	older := q.Writers()
	var queue Queue = q
	if s.queue != nil {
		queue = s.queue(q)
	}
	if s.grace == 0 {
		s.grace = 20 * time.Second
	}
	if s.limits == nil {
		s.limits = func(string) flush.Limits { return flush.Limits{} }
	}
	if s.log == nil {
		s.log = func(l Log) Log { return l }
	}
	p := &process{t: w.t, wal: q, seen: &recorder{retried: map[sealed.Step]int{}}, ended: make(chan struct{})}
	holder := "test/" + q.Writer()
	p.leases = lease.NewParticipant(w.store, lease.Options{Holder: holder, TTL: 10 * time.Second})
	p.Runtime, err = New(Options{
		Queue: queue, Volatile: s.volatile, Damage: damage, Sink: "default", Limits: flush.Limits{TargetSize: s.target, MaxAge: s.maxAge},
		Memory: s.memory, Encoders: s.consumers, Uploads: s.uploads, Grace: s.grace, Backlog: s.backlog,
		Retry: Retry{Initial: 100 * time.Millisecond, Max: 2 * time.Second},
		Target: func(tenant string, _ partition.Signal) Target {
			return Target{Lake: w.of(tenant).ref, Align: s.align, Spec: s.spec, Limits: s.limits(tenant)}
		},
		Open: func(_ string, ref lake.Ref) (*lake.Lake, error) {
			return lake.New(w.in(ref), ref, lake.WithStep(func(l string) {
				if s.step != nil {
					s.step(l)
				}
			})), nil
		},
		Log: func(l *lake.Lake, id partition.ID) Log {
			return s.log(commit.New(l, p.leases, id, commit.Options{Turns: w.turns, Holder: holder, Step: s.step,
				Predecessors: func(h string) bool {
					for _, writer := range older {
						if h == "test/"+writer.ID && h != holder {
							return true
						}
					}
					return false
				}}))
		},
		Observer: p.seen, Logger: zap.NewNop(), Step: s.step,
	})
	require.NoError(w.t, err)
	if s.data != 0 {
		p.share(s.data)
	}
	ctx, stop := context.WithCancel(context.Background())
	p.stop = stop
	go func() {
		defer close(p.ended)
		_ = p.Run(ctx)
	}()
	return p
}

// do has f done on the loop.
func (p *process) do(f func()) {
	done := make(chan struct{})
	p.events <- func() { defer close(done); f() }
	<-done
}

// quiet waits until everything is committed and trimmed, and checks that
// nothing is left behind, in memory or in the WAL.
func (p *process) quiet() {
	p.t.Helper()
	defer func() {
		if p.t.Failed() {
			p.dump()
		}
	}()
	eventually(p.t, func() bool { return p.wal.Stats().Entries == 0 })
	eventually(p.t, func() bool { held, _, _ := p.budget.Usage(); return held == 0 })
	eventually(p.t, func() bool { return p.windowsHeld() == 0 })
	eventually(p.t, func() bool { return len(p.wal.Seals()) == 0 })
	_, _, peak := p.budget.Usage()
	require.LessOrEqual(p.t, peak, p.budget.Limit(), "held bytes never exceed the limit")
}

// dump says how every partition is.
func (p *process) dump() {
	p.do(func() {
		p.t.Logf("seen %d, scanning %+v, short %+v, held %v, lines %+v, wal %+v", p.Runtime.seen, p.scanning, p.budget.Short(), p.budget, p.lines, p.wal.Stats())
		for k, x := range p.parts {
			p.t.Logf("%v is %s: cursor %v, %d wait, %d pins, %d queued, settling %d, faults %v, unproven %v, heads %+v, flushes %+v, turn %+v",
				k, x.state, x.cursor, len(x.waiting), len(x.pins), len(x.queue), x.settling, x.faults, x.unproven, x.heads, x.flushes, x.turn)
			if x.open != nil {
				p.t.Logf("  open %+v", x.open.Window)
			}
			for _, f := range x.queue {
				p.t.Logf("  window [%d, %d) %s durable %v uploaded %v flight %+v", f.window.Start, f.window.End, f.window.Reason, f.durable != nil, f.uploaded != nil, f.flight)
			}
		}
	})
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

// windowsHeld is what the windows are counted as.
func (p *process) windowsHeld() int64 {
	_, windows, _ := p.budget.Usage()
	return windows
}
