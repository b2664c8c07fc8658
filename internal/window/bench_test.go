package window

import (
	"context"
	"fmt"
	"runtime"
	"syscall"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/s3window/s3window/extension/leaseextension/lease"
	memoryleases "github.com/s3window/s3window/extension/leaseextension/lease/memory"
	"github.com/s3window/s3window/internal/commit"
	"github.com/s3window/s3window/internal/flush"
	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/lake/laketest"
	"github.com/s3window/s3window/internal/partition"
	"github.com/s3window/s3window/internal/wal"
	"github.com/s3window/s3window/internal/window/memory"
	"github.com/s3window/s3window/internal/window/sealed"
)

type nobody struct{}

func (nobody) Committed(Committed)                           {}
func (nobody) Retried(sealed.Step, string, partition.Signal) {}
func (nobody) Fenced(string, partition.Signal)               {}
func (nobody) Lost(int, int64, string, partition.Signal)     {}
func (nobody) Health(error)                                  {}

// benchRuntime runs over a queue and a bucket in memory.
func benchRuntime(b *testing.B, target int64, rows int) (*wal.WAL, *Runtime) {
	b.Helper()
	q, err := wal.Open(context.Background(), wal.Options{Logger: zap.NewNop()})
	if err != nil {
		b.Fatal(err)
	}
	bucket := laketest.NewMemory()
	leases := lease.NewParticipant(memoryleases.New(), lease.Options{Holder: "bench", TTL: time.Minute})
	ref := lake.Ref{Bucket: "lake"}
	r, err := New(Options{
		Queue: q, Sink: "s", Limits: flush.Limits{TargetSize: target, MaxAge: 30 * time.Second}, Memory: 512 << 20, Encoders: 2,
		Grace: time.Minute, Retry: Retry{Initial: time.Second, Max: time.Second},
		Target: func(string, partition.Signal) Target {
			s := testSpec()
			s.RowGroupRows, s.RowGroupBytes = rows, 16<<20
			return Target{Lake: ref, Align: partition.AlignHour, Spec: s}
		},
		Open:     func(_ string, ref lake.Ref) (*lake.Lake, error) { return lake.New(bucket, ref), nil },
		Log:      func(l *lake.Lake, id partition.ID) Log { return commit.New(l, leases, id, commit.Options{}) },
		Observer: nobody{}, Logger: zap.NewNop(),
	})
	if err != nil {
		b.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = r.Run(ctx) }()
	b.Cleanup(func() { stop(); <-ended; leases.Close(); _ = q.Close(context.Background()) })
	return q, r
}

// BenchmarkRuntime moves 100 records a request through the whole of it: the
// queue, windows, encoder and commits. Requests go to tenants in turn.
func BenchmarkRuntime(b *testing.B) {
	for _, tenants := range []int{1, 100, 10000} {
		b.Run(fmt.Sprintf("tenants=%d", tenants), func(b *testing.B) {
			q, _ := benchRuntime(b, 4<<20, 32768)
			recs := make([]wal.Record, tenants)
			for i := range recs {
				recs[i] = record(fmt.Sprintf("tenant-%05d", i), ids("a line of a log as it may come", 100)...)
			}
			i := 0
			b.ReportAllocs()
			began := cpu(b)
			for b.Loop() {
				if err := q.Append(context.Background(), recs[i%tenants]); err != nil {
					b.Fatal(err)
				}
				i++
			}
			for q.Stats().UnreadEntries > 0 {
				runtime.Gosched()
			}
			b.ReportMetric(float64(i)*100/b.Elapsed().Seconds(), "records/s")
			b.ReportMetric(float64(cpu(b)-began)/float64(i)/100, "cpu-ns/record")
		})
	}
}

// cpu is the processor time that this process has used, in nanoseconds.
func cpu(b *testing.B) int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}

// BenchmarkAccept is the loop's own share: entries of a group put into open
// windows, without storage, encoder and bucket.
func BenchmarkAccept(b *testing.B) {
	for _, tenants := range []int{1, 100, 10000} {
		b.Run(fmt.Sprintf("tenants=%d", tenants), func(b *testing.B) {
			_, r := benchRuntime(b, 1<<40, 1<<30)
			done := make(chan struct{})
			r.events <- func() { r.share(1 << 40); close(done) } // nobody waits
			<-done
			payload := payload(ids("a line", 100)...)
			group := make([]wal.Entry, 100)
			names := make([]string, tenants)
			for i := range names {
				names[i] = fmt.Sprintf("tenant-%05d", i)
			}
			var seq uint64
			stamp := time.Now().Add(time.Hour).UnixMicro() // nothing is due
			b.ReportAllocs()
			for b.Loop() {
				stamp++
				for i := range group {
					seq++
					group[i] = wal.Entry{
						Seq: seq, Writer: "w", Stamp: stamp, Segment: 1 << 40, Tenant: names[seq%uint64(tenants)],
						Signal: "logs", Items: 1, Payload: payload,
					}
				}
				done := make(chan struct{})
				r.events <- func() { acceptOpen(r, group, stamp); close(done) }
				<-done
			}
			b.ReportMetric(float64(seq)/b.Elapsed().Seconds(), "entries/s")
		})
	}
}

// acceptOpen takes a group into partitions whose heads are known, and empties
// windows before they are worth encoding.
func acceptOpen(r *Runtime, group []wal.Entry, stamp int64) {
	for i := range group {
		p := r.part(key{group[i].Tenant, "logs"})
		if p.state != live {
			o := origin{r.opt.Sink, lake.Ref{Bucket: "lake"}}
			p.state, p.dests = live, map[origin]*destination{o: newDestination(o, nil, nil)}
		}
		if p.open != nil && p.open.entries >= 1000 {
			p.open.release()
			r.budget.Windows(-1)
			p.open = nil
			r.policy.Remove(p.key)
		}
	}
	hold, err := r.budget.Acquire(context.Background(), 1, 0, memory.Load)
	if err != nil {
		panic(err)
	}
	r.accept(wal.Group{Stamp: stamp, Segment: 1 << 40}, group, hold)
}

// BenchmarkTenantWithOneRecord says what a tenant with a record costs.
func BenchmarkTenantWithOneRecord(b *testing.B) {
	q, r := benchRuntime(b, 1<<40, 1<<30)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	n := 0
	for b.Loop() {
		if err := q.Append(context.Background(), record(fmt.Sprintf("tenant-%07d", n), "x")); err != nil {
			b.Fatal(err)
		}
		n++
	}
	for r.Stats().Open < n {
		time.Sleep(10 * time.Millisecond)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(n), "B/tenant")
}
