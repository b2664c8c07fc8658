//go:build iceberg

package icecat_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/catalog/rest"
	icetable "github.com/apache/iceberg-go/table"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/icebergsync/internal/fileio"
	"github.com/s3window/s3window/icebergsync/internal/icecat"
	"github.com/s3window/s3window/icebergsync/internal/source"
	"github.com/s3window/s3window/icebergsync/internal/syncer"
	"github.com/s3window/s3window/icebergsync/internal/synctest"
	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/testbed/s3test"
)

// restRig is a lake on a real S3 server and the Java project's REST catalog.
type restRig struct {
	*rig
	server *s3test.Server
	rest   *synctest.REST
	store  *source.Store
}

func newRESTRig(t *testing.T) *restRig {
	s := s3test.Start(t)
	r := &restRig{rig: newRig(t), server: s, rest: synctest.StartREST(t, s)}
	var err error
	r.store, err = source.OpenStore(t.Context(), synctest.S3(s, s.NewBucket(t)))
	require.NoError(t, err)
	t.Cleanup(r.store.Close)
	r.writer = synctest.NewWriter(t, r.store.Lake("otel"))
	r.catalog = r.openAt(r.rest.URI)
	below, err := rest.NewCatalog(t.Context(), "test", r.rest.URI, rest.WithWarehouseLocation(r.rest.Warehouse))
	require.NoError(t, err)
	r.below = below
	return r
}

func (r *restRig) openAt(uri string) *icecat.Catalog {
	r.t.Helper()
	c := icecat.DefaultConfig()
	c.URI, c.Warehouse = uri, r.rest.Warehouse
	is, err := icecat.Open(r.t.Context(), c, synctest.S3(r.server, "unused"), icecat.Options{OwnedByLake: true, Buckets: r.store.Bucket})
	require.NoError(r.t, err)
	r.t.Cleanup(func() { _ = is.Close() })
	return is
}

func (r *restRig) logs() []syncer.Log {
	tenants, err := source.New(r.writer.Lake).Tenants(r.t.Context(), "default")
	require.NoError(r.t, err)
	var out []syncer.Log
	for _, tenant := range tenants {
		out = append(out, synctest.ID(tenant))
	}
	return out
}

// retrying makes the table and has every writer that heeds it repeat commits.
func (r *restRig) retrying() {
	r.commit("acme", synctest.Window{})
	r.sync()
	tx := r.load().NewTransaction()
	require.NoError(r.t, tx.SetProperties(iceberg.Properties{"commit.retry.num-retries": "10", "commit.retry.min-wait-ms": "1"}))
	_, err := tx.Commit(fileio.With(r.t.Context(), r.store.Bucket))
	require.NoError(r.t, err)
}

func (r *restRig) load() *icetable.Table {
	r.t.Helper()
	is, err := r.below.LoadTable(fileio.With(r.t.Context(), r.store.Bucket), icetable.Identifier(r.name()))
	require.NoError(r.t, err)
	return is
}

// judgeFiles holds the table's files against the manifests, and its rows by
// content.
func (r *restRig) judgeFiles() {
	r.t.Helper()
	ctx := fileio.With(r.t.Context(), r.store.Bucket)
	files := map[string]int{}
	tasks, err := r.load().Scan().PlanFiles(ctx)
	require.NoError(r.t, err)
	for _, task := range tasks {
		files[task.File.FilePath()]++
	}
	want := map[string]int{}
	for _, log := range r.logs() {
		require.NoError(r.t, r.writer.Lake.Manifests(r.t.Context(), log, func(_ uint64, m lake.Manifest, _ string) error {
			for _, o := range m.Objects {
				want["s3://"+r.writer.Lake.Ref().Bucket+"/"+o.Key]++
			}
			return nil
		}))
	}
	require.Equal(r.t, want, files)
	got, err := r.load().Scan(icetable.WithSelectedFields("body", "received_at")).ToArrowTable(ctx)
	require.NoError(r.t, err)
	defer got.Release()
	var bodies []string
	at := got.Schema().FieldIndices("body")[0]
	for _, chunk := range got.Column(at).Data().Chunks() {
		for i := range chunk.Len() {
			bodies = append(bodies, chunk.ValueStr(i))
		}
	}
	slices.Sort(bodies)
	slices.Sort(r.want)
	require.Equal(r.t, r.want, bodies)
}

func TestRESTFourSyncersAtOnce(t *testing.T) {
	r := newRESTRig(t)
	r.retrying()
	for i := range 60 {
		r.commit(fmt.Sprintf("tenant-%d", i%6), synctest.Window{Rows: 2})
	}
	r.opts.MaxWindows = 4
	var all sync.WaitGroup
	var mu sync.Mutex
	outcomes := map[syncer.Outcome]int{}
	r.opts.Observer.Changed = func(_ string, o syncer.Outcome, _ time.Duration, _ int, _ error) {
		mu.Lock()
		defer mu.Unlock()
		outcomes[o]++
	}
	r.opts.Pause = func(context.Context, int) error { return nil }
	logs := r.logs()
	for range 4 {
		is := syncer.New(r.name(), r.openAt(r.rest.URI), source.New(r.writer.Lake), r.opts)
		all.Go(func() {
			for range 50 {
				if _, err := is.Pass(t.Context(), logs, true); err == nil {
					return
				}
			}
		})
	}
	all.Wait()
	r.judgeFiles()
	assert.Positive(t, outcomes[syncer.Conflict], "they met")
	t.Log(outcomes)
}

func TestRESTAnswersThatLie(t *testing.T) {
	r := newRESTRig(t)
	r.retrying()
	rnd := rand.New(rand.NewPCG(1, 2))
	proxy := synctest.StartFaults(t, r.rest.URI, func(int) synctest.Fault { return synctest.Fault(rnd.IntN(6)) })
	r.catalog = r.openAt(proxy.URI)
	r.opts.MaxWindows = 1
	for i := range 40 {
		r.commit(fmt.Sprintf("tenant-%d", i%3), synctest.Window{Rows: 1})
	}
	r.sync()
	r.judgeFiles()
	for f := synctest.Pass; f <= synctest.Refuse; f++ {
		assert.Positive(t, proxy.Count[f], "fault %d", f)
	}
	t.Log(proxy.Count)
}

// Compaction, deletes and expiry by another writer between two passes.
func TestRESTForeignCommits(t *testing.T) {
	r := newRESTRig(t)
	r.commit("acme", synctest.Window{})
	r.commit("globex", synctest.Window{})
	r.sync()
	ctx := fileio.With(t.Context(), r.store.Bucket)
	before := r.load().CurrentSnapshot().SnapshotID
	_, err := r.load().Delete(ctx, iceberg.EqualTo(iceberg.Reference("body"), "acme/1/0/3"), nil)
	require.NoError(t, err)
	r.want = slices.DeleteFunc(r.want, func(b string) bool { return b == "acme/1/0/3" })
	r.commit("acme", synctest.Window{})
	r.sync()
	is := r.load()
	assert.NotEqual(t, before, is.CurrentSnapshot().SnapshotID)
	got, err := is.Scan(icetable.WithSelectedFields("body", "received_at")).ToArrowTable(ctx)
	require.NoError(t, err)
	assert.EqualValues(t, len(r.want), got.NumRows())
	got.Release()

	// Rolled back: refused, until somebody says what is meant.
	tx := is.NewTransaction()
	require.NoError(t, tx.RollbackToSnapshot(before))
	_, err = tx.Commit(ctx)
	require.NoError(t, err)
	_, err = r.pass()
	require.ErrorContains(t, err, "was rolled back or replaced")
	s := syncer.New(r.name(), r.catalog, source.New(r.writer.Lake), r.opts)
	require.NoError(t, s.ReAdd(t.Context()))
	r.want = append(r.want, "acme/1/0/3")
	r.sync()
	r.judgeFiles()
}
