package icecat_test

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/catalog"
	icetable "github.com/apache/iceberg-go/table"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/icebergsync/internal/fileio"
	"github.com/s3window/s3window/icebergsync/internal/icecat"
	"github.com/s3window/s3window/icebergsync/internal/source"
	"github.com/s3window/s3window/icebergsync/internal/syncer"
	"github.com/s3window/s3window/icebergsync/internal/synctest"
	"github.com/s3window/s3window/icebergsync/internal/table"
	"github.com/s3window/s3window/internal/encode"
	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/lake/laketest"
)

// rig is a lake and a warehouse in memory, and a catalog in SQLite.
type rig struct {
	t       *testing.T
	buckets map[string]*laketest.Memory
	writer  *synctest.Writer
	catalog *icecat.Catalog
	below   catalog.Catalog
	opts    syncer.Options
	skipped []uint64
	want    []string // the bodies that the table must have
}

func newRig(t *testing.T) *rig {
	r := &rig{t: t, buckets: map[string]*laketest.Memory{"lake": laketest.NewMemory(), "warehouse": laketest.NewMemory()}}
	r.writer = synctest.NewWriter(t, lake.New(r.buckets["lake"], lake.Ref{Bucket: "lake", Prefix: "otel"}))
	r.below = synctest.SQLite(t, "s3://warehouse")
	r.catalog = icecat.New(r.below, icecat.Options{OwnedByLake: true, RemovesMetadata: true, Buckets: r.open})
	r.opts = syncer.Options{
		MaxWindows: 100, SkipLines: true, Keep: 10, Interval: time.Second, MaxIdle: time.Minute, Now: time.Now,
		Pause:    func(context.Context, int) error { return nil },
		Observer: syncer.Observer{Skipped: func(_ syncer.Log, k uint64, _ string) { r.skipped = append(r.skipped, k) }},
	}
	return r
}

func (r *rig) open(name string) (lake.Bucket, error) {
	if b, ok := r.buckets[name]; ok {
		return b, nil
	}
	return nil, errors.New("no such bucket: " + name)
}

func (r *rig) name() table.Name { return table.Name{"otel", "logs"} }

// commit adds a window that the table must have.
func (r *rig) commit(tenant string, is synctest.Window) lake.Manifest {
	m := r.writer.Commit(tenant, is)
	if m.Format == "parquet" {
		r.want = append(r.want, synctest.Bodies(tenant, m)...)
	}
	return m
}

// sync runs one pass of a syncer that remembers nothing.
func (r *rig) sync() syncer.Report {
	r.t.Helper()
	report, err := r.pass()
	require.NoError(r.t, err)
	return report
}

func (r *rig) pass() (syncer.Report, error) {
	s := source.New(r.writer.Lake)
	tenants, err := s.Tenants(r.t.Context(), "default")
	require.NoError(r.t, err)
	var logs []syncer.Log
	for _, tenant := range tenants {
		logs = append(logs, synctest.ID(tenant))
	}
	return syncer.New(r.name(), r.catalog, s, r.opts).Pass(r.t.Context(), logs, true)
}

func (r *rig) table() *icetable.Table {
	r.t.Helper()
	t, err := r.below.LoadTable(fileio.With(r.t.Context(), r.open), icetable.Identifier(r.name()))
	require.NoError(r.t, err)
	return t
}

// column reads a column of the table through iceberg-go's own reader.
func (r *rig) column(name string, opts ...icetable.ScanOption) []string {
	r.t.Helper()
	ctx := fileio.With(r.t.Context(), r.open)
	got, err := r.table().Scan(append(opts, icetable.WithSelectedFields(name, "received_at"))...).ToArrowTable(ctx)
	require.NoError(r.t, err)
	defer got.Release()
	var out []string
	at := got.Schema().FieldIndices(name)
	require.Len(r.t, at, 1)
	for _, chunk := range got.Column(at[0]).Data().Chunks() {
		for i := range chunk.Len() {
			out = append(out, chunk.ValueStr(i))
		}
	}
	slices.Sort(out)
	return out
}

// judge holds the table's rows against all that was committed.
func (r *rig) judge() {
	r.t.Helper()
	slices.Sort(r.want)
	assert.Equal(r.t, r.want, r.column("body"))
}

func TestWindowsAreInTheTableOnce(t *testing.T) {
	r := newRig(t)
	for range 5 {
		r.commit("acme", synctest.Window{})
		r.commit("globex", synctest.Window{Rows: 3, Objects: 2})
	}
	report := r.sync()
	assert.Equal(t, 10, report.Windows)
	assert.Equal(t, 15, report.Files)
	assert.Equal(t, int64(80), report.Records)
	assert.Equal(t, 1, report.Commits)
	assert.Zero(t, report.Behind)
	assert.Empty(t, report.Problems)
	r.judge()

	report = r.sync()
	assert.Zero(t, report.Commits, "nothing is new")
	r.commit("acme", synctest.Window{})
	r.opts.MaxWindows = 1
	r.commit("initech", synctest.Window{})
	assert.Equal(t, 2, r.sync().Commits)
	r.judge()
	assert.Len(t, r.column("tenant_id", icetable.WithRowFilter(iceberg.EqualTo(iceberg.Reference("tenant_id"), "globex"))), 30)
	assert.Len(t, r.column("body", icetable.WithRowFilter(iceberg.EqualTo(iceberg.Reference("tenant_id"), "globex"))), 30)
	assert.Equal(t, "false", r.table().Properties()["gc.enabled"])
}

func TestFilesCarryStatisticsAndPartitions(t *testing.T) {
	r := newRig(t)
	m := r.commit("acme", synctest.Window{})
	r.sync()
	is := r.table()
	ctx := fileio.With(t.Context(), r.open)
	tasks, err := is.Scan().PlanFiles(ctx)
	require.NoError(t, err)
	require.Len(t, tasks, 1)
	f := tasks[0].File
	assert.Equal(t, "s3://lake/"+m.Objects[0].Key, f.FilePath())
	assert.Equal(t, m.Objects[0].Bytes, f.FileSizeBytes())
	received, ok := is.Schema().FindFieldByName("received_at")
	require.True(t, ok)
	assert.GreaterOrEqual(t, int64(binary.LittleEndian.Uint64(f.LowerBoundValues()[received.ID])), m.Start)
	assert.Less(t, int64(binary.LittleEndian.Uint64(f.UpperBoundValues()[received.ID])), m.End)
	assert.Equal(t, map[int]any{1000: "acme", 1001: int32(m.Start / 3600_000_000)}, f.Partition())
}

func TestWindowsOfEveryShape(t *testing.T) {
	r := newRig(t)
	r.commit("acme", synctest.Window{})
	r.commit("acme", synctest.Window{Long: true})
	r.commit("acme", synctest.Window{Elsewhere: true, Objects: 3})
	r.commit("acme", synctest.Window{Empty: true})
	r.commit("acme", synctest.Window{Format: "jsonl"})
	r.commit("acme", synctest.Window{Long: true})
	report := r.sync()
	assert.Empty(t, report.Problems)
	assert.Equal(t, []uint64{5}, r.skipped)
	r.judge()
	assert.Len(t, r.table().Metadata().PartitionSpecs(), 2)
	assert.Equal(t, `{"lake/otel/default/acme/logs":"1-6"}`, r.table().CurrentSnapshot().Summary.Properties["s3window.windows"])
	assert.Equal(t, `{"lake/otel/default/acme/logs":"5"}`, r.table().CurrentSnapshot().Summary.Properties["s3window.skipped"])
	r.sync()
	r.judge()
}

func TestNewColumnsAreAddedAndReadable(t *testing.T) {
	r := newRig(t)
	r.commit("acme", synctest.Window{})
	r.sync()
	column := []encode.Column{{Attribute: "http.status", As: "http_status", Type: "int64"}}
	r.commit("acme", synctest.Window{Columns: column, Set: map[string]any{"http.status": 404}})
	r.commit("globex", synctest.Window{Columns: column, Set: map[string]any{"http.status": 500}})
	assert.Empty(t, r.sync().Problems)
	r.judge()
	got := r.column("http_status")
	assert.Equal(t, 10, strings.Count(strings.Join(got, " "), "404"), "%v", got)
	assert.Equal(t, 10, strings.Count(strings.Join(got, " "), "500"))
	assert.Contains(t, r.table().Properties()["schema.name-mapping.default"], "http_status")
}

func TestATypeThatClashesBlocksItsLogAlone(t *testing.T) {
	r := newRig(t)
	number := []encode.Column{{Attribute: "code", As: "code", Type: "int64"}}
	text := []encode.Column{{Attribute: "code", As: "code", Type: "string"}}
	r.commit("acme", synctest.Window{Columns: number, Set: map[string]any{"code": 1}})
	r.sync()
	r.commit("globex", synctest.Window{})
	clash := r.writer.Commit("globex", synctest.Window{Columns: text, Set: map[string]any{"code": "a"}})
	r.writer.Commit("globex", synctest.Window{})
	r.commit("acme", synctest.Window{Columns: number, Set: map[string]any{"code": 2}})
	report := r.sync()
	require.Len(t, report.Problems, 1)
	assert.Equal(t, clash.K, report.Problems[0].K)
	assert.True(t, report.Problems[0].Blocked)
	assert.Equal(t, `column "code" is string here and long in the table: a column keeps the type it began with; give one of the two another name`, report.Problems[0].Why)
	assert.Positive(t, report.Behind)
	r.judge()
}

func TestWrongObjectsBlockTheirLog(t *testing.T) {
	for name, tc := range map[string]struct {
		harm func(r *rig, m lake.Manifest)
		want string
	}{
		"object deleted": {func(r *rig, m lake.Manifest) {
			require.NoError(r.t, r.buckets["lake"].Delete(r.t.Context(), m.Objects[0].Key))
		}, "does not exist, and its manifest names it"},
		"object replaced by rubbish": {func(r *rig, m lake.Manifest) { r.put(m.Objects[0].Key, []byte("no parquet at all")) }, "does not end as a Parquet file does"},
		"footer damaged": {func(r *rig, m lake.Manifest) {
			b := r.get(m.Objects[0].Key)
			for i := len(b) - 60; i < len(b)-8; i++ {
				b[i] ^= 0x5a
			}
			r.put(m.Objects[0].Key, b)
		}, "its footer does not decode"},
		"another object": {func(r *rig, m lake.Manifest) {
			other := r.writer.Commit("other", synctest.Window{Rows: 7})
			r.put(m.Objects[0].Key, r.get(other.Objects[0].Key))
		}, "bytes, its manifest says"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.commit("globex", synctest.Window{})
			tc.harm(r, r.writer.Commit("acme", synctest.Window{}))
			report := r.sync()
			require.Len(t, report.Problems, 1)
			assert.True(t, report.Problems[0].Blocked)
			assert.Contains(t, report.Problems[0].Why, tc.want)
			assert.Len(t, r.column("body", icetable.WithRowFilter(iceberg.EqualTo(iceberg.Reference("tenant_id"), "globex"))), 10)
		})
	}
}

func (r *rig) get(key string) []byte {
	r.t.Helper()
	b, ok := r.buckets["lake"].Content(key)
	require.True(r.t, ok)
	return slices.Clone(b)
}

func (r *rig) put(key string, b []byte) {
	r.t.Helper()
	require.NoError(r.t, r.buckets["lake"].Delete(r.t.Context(), key))
	require.NoError(r.t, r.buckets["lake"].PutIfAbsent(r.t.Context(), key, lake.NewBody("", b)))
}

func TestALakeBegunAnewIsSeen(t *testing.T) {
	r := newRig(t)
	r.commit("acme", synctest.Window{})
	r.commit("acme", synctest.Window{})
	r.sync()
	r.buckets["lake"] = laketest.NewMemory()
	r.writer = synctest.NewWriter(t, lake.New(r.buckets["lake"], lake.Ref{Bucket: "lake", Prefix: "otel"}))
	for i, want := range []string{
		"the table has this window and the lake has not", // one window in the new lake
		"the lake has another window of this number",
		"it does not follow on window 2 that the table has",
	} {
		r.writer.Commit("acme", synctest.Window{Rows: 20 + i})
		report := r.sync()
		require.Len(t, report.Problems, 1)
		assert.Contains(t, report.Problems[0].Why, want)
		assert.True(t, report.Problems[0].Blocked)
	}
}

func TestTablesThatMustNotBeWrittenTo(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(tx *icetable.Transaction) error
		want   string
	}{
		"not ours":       {func(tx *icetable.Transaction) error { return tx.RemoveProperties([]string{"s3window.version"}) }, "exists and s3window did not make it"},
		"another format": {func(tx *icetable.Transaction) error { return tx.UpgradeFormatVersion(3) }, "has format version 3: only 2 is written"},
		"another release": {func(tx *icetable.Transaction) error {
			return tx.SetProperties(iceberg.Properties{"s3window.version": "9"})
		}, `has s3window.version "9", this release writes 1`},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.commit("acme", synctest.Window{})
			r.sync()
			tx := r.table().NewTransaction()
			require.NoError(t, tc.change(tx))
			_, err := tx.Commit(fileio.With(t.Context(), r.open))
			require.NoError(t, err)
			_, err = r.pass()
			var refused *syncer.Refused
			require.ErrorAs(t, err, &refused)
			assert.Contains(t, refused.Why, tc.want)
		})
	}
	t.Run("around the lake", func(t *testing.T) {
		r := newRig(t)
		r.catalog = icecat.New(r.below, icecat.Options{Buckets: r.open, Location: func(table.Name) string { return "s3://lake" }})
		r.commit("acme", synctest.Window{})
		_, err := r.pass()
		var refused *syncer.Refused
		require.ErrorAs(t, err, &refused)
		assert.Contains(t, refused.Why, "which holds the lake lake/otel")
	})
}

func TestMetadataStaysSmall(t *testing.T) {
	r := newRig(t)
	r.opts.MaxWindows, r.opts.Keep = 1, 5
	for range 40 {
		r.commit("acme", synctest.Window{Rows: 1})
	}
	r.sync()
	r.judge()
	assert.LessOrEqual(t, len(r.table().Metadata().Snapshots()), 6)
	jsons := 0
	require.NoError(t, r.buckets["warehouse"].List(t.Context(), "", "", func(i lake.Info) error {
		if strings.HasSuffix(i.Key, ".metadata.json") {
			jsons++
		}
		return nil
	}))
	assert.LessOrEqual(t, jsons, 23)
	for _, key := range r.buckets["lake"].Keys("") {
		if strings.HasSuffix(key, ".parquet") {
			r.get(key) // none was removed
		}
	}
}
