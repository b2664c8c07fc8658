//go:build iceberg

package icecat_test

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/iceberg-go"
	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/icebergsync/internal/fileio"
	"github.com/s3window/s3window/icebergsync/internal/syncer"
	"github.com/s3window/s3window/icebergsync/internal/table"
	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/partition"
)

// madeUp is a lake that is made up as it is read.
type madeUp struct {
	mu   sync.Mutex // guards k
	k    map[syncer.Log]uint64
	gets atomic.Int64
}

func (*madeUp) Ref() lake.Ref { return lake.Ref{Bucket: "lake", Prefix: "otel"} }

func sumOf(id syncer.Log, k uint64) string {
	s := sha256.Sum256(fmt.Appendf(nil, "%s %d", id, k))
	return hex.EncodeToString(s[:])
}

func (l *madeUp) Manifest(_ context.Context, id partition.ID, k uint64) (lake.Manifest, string, error) {
	l.gets.Add(1)
	l.mu.Lock()
	defer l.mu.Unlock()
	if k > l.k[id] {
		return lake.Manifest{}, "", lake.ErrNotExist
	}
	start := int64(1796000000000000) + int64(k)*300_000_000
	name := partition.ObjectName{Start: start, End: start + 1000, Writer: "q7m2q7m2q7m2q", Ext: "parquet"}
	key := partition.PlacedKey("otel", id, partition.Place{Time: start, Align: partition.AlignHour}, name)
	m := lake.Manifest{
		Sink: id.Sink, Tenant: id.Tenant, Signal: id.Signal, K: k, Start: start, End: start + 1000, Format: "parquet",
		Objects: []lake.Object{{Key: key, Bytes: 5 << 20, Records: 100_000}},
	}
	if k > 1 {
		m.Prev = &lake.Prev{K: k - 1, SHA256: sumOf(id, k-1)}
	}
	return m, sumOf(id, k), nil
}

func (l *madeUp) ManifestsAfter(ctx context.Context, id partition.ID, after uint64, n int, visit lake.Visit) error {
	for k := after + 1; n > 0; k, n = k+1, n-1 {
		m, sha, err := l.Manifest(ctx, id, k)
		if err != nil {
			return nil //nolint:nilerr // the end of the log
		}
		if err := visit(k, m, sha); err != nil {
			return err
		}
	}
	return nil
}

// Contents are those of a file with 40 columns, of which 20 have bounds.
func (l *madeUp) Contents(_ context.Context, o lake.Object) (syncer.Contents, error) {
	l.gets.Add(1)
	c := syncer.Contents{Bytes: o.Bytes, Records: o.Records, Columns: []table.Column{
		{Name: "received_at", Type: iceberg.PrimitiveTypes.TimestampTz}, {Name: "tenant_id", Type: iceberg.PrimitiveTypes.String},
	}}
	for i := range 38 {
		name := fmt.Sprintf("column_%02d", i)
		c.Columns = append(c.Columns, table.Column{Name: name, Type: iceberg.PrimitiveTypes.Int64})
		s := table.Stats{Column: name, Values: o.Records, Size: 1000}
		if i < 20 {
			s.Lower, s.Upper = binary.LittleEndian.AppendUint64(nil, uint64(i)), binary.LittleEndian.AppendUint64(nil, uint64(i+1000))
		}
		c.Stats = append(c.Stats, s)
	}
	return c, nil
}

// TestRESTDay is a day of 2,880 commits of 20 windows, of 3,000 logs, in little
// time: what a commit takes and what metadata there is stay flat. DAY_COMMITS and
// DAY_LOGS are other numbers.
func TestRESTDay(t *testing.T) {
	number := func(name string, otherwise int) int {
		if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
			return n
		}
		return otherwise
	}
	commits, logs, windows := number("DAY_COMMITS", 200), number("DAY_LOGS", 3000), 20
	r := newRESTRig(t)
	r.opts.Keep, r.opts.Interval, r.opts.MaxIdle = 100, 30*time.Second, 30*time.Second // all logs are asked in every pass
	now := time.Unix(1796000000, 0)
	r.opts.Now = func() time.Time { return now }
	made := &madeUp{k: map[syncer.Log]uint64{}}
	var all []syncer.Log
	for i := range logs {
		all = append(all, syncer.Log{Sink: "default", Tenant: fmt.Sprintf("tenant-%05d", i), Signal: "logs"})
	}
	s := syncer.New(r.name(), r.catalog, made, r.opts)
	var took []time.Duration
	every := max(commits/8, 1)
	for c := range commits {
		made.mu.Lock()
		for w := range windows {
			made.k[all[(c*windows+w)%logs]]++
		}
		made.mu.Unlock()
		now = now.Add(30 * time.Second)
		started := time.Now()
		_, err := s.Pass(t.Context(), all, false)
		require.NoError(t, err)
		took = append(took, time.Since(started))
		if (c+1)%every > 0 {
			continue
		}
		part := slices.Clone(took[len(took)-every:])
		slices.Sort(part)
		is := r.load()
		io, err := is.FS(fileio.With(t.Context(), r.store.Bucket))
		require.NoError(t, err)
		f, err := io.Open(is.MetadataLocation())
		require.NoError(t, err)
		info, err := f.Stat()
		require.NoError(t, err)
		manifests, err := is.CurrentSnapshot().Manifests(io)
		require.NoError(t, err)
		runtime.GC()
		var mem runtime.MemStats
		runtime.ReadMemStats(&mem)
		t.Logf("%5d commits, %6d windows: pass p50 %4d ms, p99 %4d ms; metadata.json %4d KiB, %3d snapshots, %3d manifests, %4d logs; heap %2d MiB; %.0f GETs a pass",
			c+1, (c+1)*windows, part[len(part)/2].Milliseconds(), part[len(part)*99/100].Milliseconds(), info.Size()>>10,
			len(is.Metadata().Snapshots()), len(manifests), strings.Count(fmt.Sprint(is.Properties()), "s3window.k."), mem.HeapAlloc>>20,
			float64(made.gets.Load())/float64(c+1))
	}
}
