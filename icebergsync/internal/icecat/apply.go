package icecat

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/apache/iceberg-go"
	icetable "github.com/apache/iceberg-go/table"

	"github.com/s3window/s3window/icebergsync/internal/table"
)

// Apply makes one change to a table in the state that was loaded, with exactly
// one request to the catalog. See syncer.Catalog.
//
// The fence is the requirement that main is where it was. iceberg-go's own commit
// is not used: it tries again on a conflict, on top of whatever is there then,
// which may be this very change.
func (c *Catalog) Apply(ctx context.Context, is table.State, change table.Change) error {
	ctx, end := c.opts.begin(ctx)
	defer end()
	t, ok := is.Loaded.(*icetable.Table)
	if !ok {
		return errors.New("the state was not loaded from this catalog")
	}
	if len(change.Columns) > 0 {
		return c.addColumns(ctx, t, change.Columns)
	}
	t, err := c.withSpecs(ctx, t, change.Files)
	if err != nil {
		return err
	}
	tx := t.NewTransaction()
	if err := tx.AssertRefSnapshotID(icetable.MainBranch); err != nil {
		return err
	}
	if len(change.Properties) > 0 {
		if err := tx.SetProperties(change.Properties); err != nil {
			return err
		}
	}
	if len(change.Files) > 0 {
		files, err := dataFiles(t, change.Files)
		if err != nil {
			return err
		}
		if err := tx.AddDataFiles(ctx, files, change.Summary, icetable.WithoutDuplicateCheck()); err != nil {
			return fmt.Errorf("write the table's manifests: %w", err)
		}
	}
	var expire []icetable.Update
	if len(change.Expire) > 0 { // an empty list is refused by servers
		expire = append(expire, icetable.NewRemoveSnapshotsUpdate(change.Expire, false))
	}
	return c.send(ctx, t, tx, expire...)
}

// send makes the one request.
//
// Crash before this: manifests lie beside the table that no snapshot names.
// Crash after it: the change is made.
func (c *Catalog) send(ctx context.Context, t *icetable.Table, tx *icetable.Transaction, more ...icetable.Update) error {
	commit, err := tx.TableCommit()
	if err != nil {
		return err
	}
	after, _, err := c.below.CommitTable(ctx, commit.Identifier, commit.Requirements, append(commit.Updates, more...))
	if errors.Is(err, icetable.ErrCommitFailed) {
		return fmt.Errorf("%w: %w", table.ErrConflict, err)
	}
	if err == nil && c.opts.RemovesMetadata {
		c.forget(ctx, t, after)
	}
	return err
}

// forget removes metadata files that fell out of the table's log. One that stays
// costs its bytes.
func (c *Catalog) forget(ctx context.Context, before *icetable.Table, after icetable.Metadata) {
	io, err := before.FS(ctx)
	if err != nil {
		return
	}
	kept := map[string]bool{}
	for e := range after.PreviousFiles() {
		kept[e.MetadataFile] = true
	}
	for e := range before.Metadata().PreviousFiles() {
		if !kept[e.MetadataFile] {
			if err := io.Remove(e.MetadataFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return // the next change tries the next one
			}
		}
	}
}

// addColumns adds columns and names them in the mapping: files carry no field
// ids, so a column that is not in it reads as null.
func (c *Catalog) addColumns(ctx context.Context, t *icetable.Table, columns []table.Column) error {
	mapping := t.NameMapping()
	if mapping == nil {
		mapping = t.Schema().NameMapping()
	}
	tx := t.NewTransaction()
	if err := tx.AssertRefSnapshotID(icetable.MainBranch); err != nil {
		return err
	}
	update := tx.UpdateSchema(true, false, icetable.WithNameMapping(mapping))
	for _, column := range columns {
		update = update.AddColumn([]string{column.Name}, renumbered(column.Type, 0), "", false, nil)
	}
	if err := update.Commit(); err != nil {
		return fmt.Errorf("add columns: %w", err)
	}
	return c.send(ctx, t, tx)
}

// withSpecs returns the table with a spec for every shape of the files. One that
// is missing is added, not as the default, in a change of its own: nothing
// changes by it for whoever reads.
func (c *Catalog) withSpecs(ctx context.Context, t *icetable.Table, files []table.File) (*icetable.Table, error) {
	for _, s := range []shape{byHour, byTenant} {
		used := slices.ContainsFunc(files, func(f table.File) bool { return shapeOf(f) == s })
		if _, there := s.in(t.Metadata().PartitionSpecs(), t.Schema()); !used || there {
			continue
		}
		spec, err := s.of(t.Schema(), highest(t.Metadata().PartitionSpecs())+1)
		if err != nil {
			return nil, err
		}
		_, _, err = c.below.CommitTable(ctx, t.Identifier(), []icetable.Requirement{icetable.AssertTableUUID(t.Metadata().TableUUID())},
			[]icetable.Update{icetable.NewAddPartitionSpecUpdate(&spec, false)})
		if err != nil {
			return nil, fmt.Errorf("add partition spec: %w", err)
		}
		return nil, fmt.Errorf("%w: a partition spec was added", table.ErrAgain)
	}
	return t, nil
}

func highest(specs []iceberg.PartitionSpec) int {
	n := 0
	for _, s := range specs {
		n = max(n, s.ID())
	}
	return n
}

func dataFiles(t *icetable.Table, files []table.File) ([]iceberg.DataFile, error) {
	out := make([]iceberg.DataFile, 0, len(files))
	specs := map[shape]iceberg.PartitionSpec{}
	for _, s := range []shape{byHour, byTenant} {
		if spec, ok := s.in(t.Metadata().PartitionSpecs(), t.Schema()); ok {
			specs[s] = spec
		}
	}
	for _, f := range files {
		s := shapeOf(f)
		spec := specs[s]
		b, err := iceberg.NewDataFileBuilder(spec, iceberg.EntryContentData, f.URI, iceberg.ParquetFile, s.values(spec, f), nil, nil, f.Records, f.Bytes)
		if err != nil {
			return nil, fmt.Errorf("file %q: %w", f.URI, err)
		}
		out = append(out, withStats(b, t.Schema(), f.Stats).Build())
	}
	return out, nil
}

// withStats adds what is known of a file's columns. Bounds that are long are left
// out: they only serve to pass files over.
func withStats(b *iceberg.DataFileBuilder, schema *iceberg.Schema, stats []table.Stats) *iceberg.DataFileBuilder {
	const longest = 64
	lower, upper := map[int][]byte{}, map[int][]byte{}
	values, nulls, sizes := map[int]int64{}, map[int]int64{}, map[int]int64{}
	for _, s := range stats {
		f, ok := schema.FindFieldByName(s.Column)
		if !ok {
			continue
		}
		values[f.ID], sizes[f.ID] = s.Values, s.Size
		if s.Nulls >= 0 {
			nulls[f.ID] = s.Nulls
		}
		if len(s.Lower) > 0 && len(s.Lower) <= longest && len(s.Upper) > 0 && len(s.Upper) <= longest {
			lower[f.ID], upper[f.ID] = s.Lower, s.Upper
		}
	}
	return b.LowerBoundValues(lower).UpperBoundValues(upper).ValueCounts(values).NullValueCounts(nulls).ColumnSizes(sizes)
}
