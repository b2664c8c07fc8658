// Package icecat is Iceberg catalogs through iceberg-go: the tables of package
// table in REST, Glue and SQL catalogs.
package icecat

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/catalog"
	icetable "github.com/apache/iceberg-go/table"

	"github.com/s3window/s3window/icebergsync/internal/fileio"
	"github.com/s3window/s3window/icebergsync/internal/progress"
	"github.com/s3window/s3window/icebergsync/internal/syncer"
	"github.com/s3window/s3window/icebergsync/internal/table"
)

// Options say how tables are made.
type Options struct {
	// Location is where the table of a name lies; nil or "" leaves it to the
	// catalog.
	Location func(table.Name) string
	// OwnedByLake keeps engines from deleting data files: they are objects of
	// the lake.
	OwnedByLake bool
	// RemovesMetadata is for catalogs whose server does not remove the metadata
	// files that fell out of a table's log.
	RemovesMetadata bool
	// Buckets opens the buckets that tables' metadata lies in.
	Buckets fileio.Buckets
	// Timeout bounds each call; 0 is no bound.
	Timeout time.Duration
}

// begin returns the context of one call.
func (o Options) begin(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx = fileio.With(ctx, o.Buckets)
	if o.Timeout == 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, o.Timeout)
}

// Catalog is a catalog of tables. It is safe for concurrent use.
type Catalog struct {
	below catalog.Catalog
	opts  Options
}

// New makes the catalog over one of iceberg-go. It does no I/O.
func New(below catalog.Catalog, o Options) *Catalog { return &Catalog{below: below, opts: o} }

// Close ends its connections.
func (c *Catalog) Close() error {
	if closer, ok := c.below.(catalog.Closer); ok {
		return closer.Close()
	}
	return nil
}

// Load returns a table as it is now, or table.ErrNotExist.
func (c *Catalog) Load(ctx context.Context, name table.Name) (table.State, error) {
	ctx, end := c.opts.begin(ctx)
	defer end()
	t, err := c.below.LoadTable(ctx, icetable.Identifier(name))
	if errors.Is(err, catalog.ErrNoSuchTable) || errors.Is(err, catalog.ErrNoSuchNamespace) {
		return table.State{}, fmt.Errorf("%w: %s", table.ErrNotExist, name)
	}
	if err != nil {
		return table.State{}, err
	}
	return stateOf(name, t), nil
}

func stateOf(name table.Name, t *icetable.Table) table.State {
	m := t.Metadata()
	s := table.State{
		Name: name, Format: m.Version(), Location: t.Location(), Properties: t.Properties(),
		Snapshots: map[int64]table.Snapshot{}, Refs: map[string]int64{}, Sequence: m.LastSequenceNumber(), Loaded: t,
	}
	for _, f := range t.Schema().Fields() {
		s.Columns = append(s.Columns, table.Column{Name: f.Name, Type: f.Type})
	}
	for _, is := range m.Snapshots() {
		one := table.Snapshot{ID: is.SnapshotID, Sequence: is.SequenceNumber}
		if is.ParentSnapshotID != nil {
			one.Parent = *is.ParentSnapshotID
		}
		if is.Summary != nil {
			one.Summary = is.Summary.Properties
		}
		s.Snapshots[one.ID] = one
	}
	for ref, is := range m.Refs() {
		s.Refs[ref] = is.SnapshotID
	}
	return s
}

// Create makes an empty table, and its namespace if that is missing.
//
// Crash before this: there is no table. Crash after it: there is an empty one,
// which the next pass goes on with.
func (c *Catalog) Create(ctx context.Context, name table.Name, columns []table.Column) error {
	if !slices.ContainsFunc(columns, func(c table.Column) bool { return c.Name == syncer.TenantColumn }) {
		columns = append(slices.Clone(columns), table.Column{Name: syncer.TenantColumn, Type: iceberg.PrimitiveTypes.String})
	}
	schema, err := schemaOf(columns)
	if err != nil {
		return err
	}
	spec, err := byHour.of(schema, 0)
	if err != nil {
		return err
	}
	ctx, end := c.opts.begin(ctx)
	defer end()
	if err := c.namespace(ctx, name[:len(name)-1]); err != nil {
		return err
	}
	opts := []catalog.CreateTableOpt{catalog.WithPartitionSpec(&spec), catalog.WithProperties(c.properties())}
	if c.opts.Location != nil {
		if at := c.opts.Location(name); at != "" {
			opts = append(opts, catalog.WithLocation(at))
		}
	}
	_, err = c.below.CreateTable(ctx, icetable.Identifier(name), schema, opts...)
	return err
}

// properties of a new table. Metadata stays small however long the table lives.
func (c *Catalog) properties() iceberg.Properties {
	p := iceberg.Properties{
		progress.PropVersion:                         progress.Version,
		"format-version":                             "2",
		"commit.manifest-merge.enabled":              "true",
		"commit.manifest.min-count-to-merge":         "50",
		"write.metadata.delete-after-commit.enabled": "true",
		"write.metadata.previous-versions-max":       "20",
	}
	if c.opts.OwnedByLake {
		p["gc.enabled"] = "false"
	}
	return p
}

// namespace makes a namespace and those above it.
func (c *Catalog) namespace(ctx context.Context, ns table.Name) error {
	there, err := c.below.CheckNamespaceExists(ctx, icetable.Identifier(ns))
	if err != nil {
		return fmt.Errorf("look for namespace %s: %w", ns, err)
	}
	if there {
		return nil
	}
	for i := range ns {
		err = c.below.CreateNamespace(ctx, icetable.Identifier(ns[:i+1]), nil)
		if err != nil && !errors.Is(err, catalog.ErrNamespaceAlreadyExists) {
			return fmt.Errorf("create namespace %s: %w", ns[:i+1], err)
		}
	}
	return nil
}

func schemaOf(columns []table.Column) (*iceberg.Schema, error) {
	fields := make([]iceberg.NestedField, len(columns))
	for i, c := range columns {
		fields[i] = iceberg.NestedField{ID: i + 1, Name: c.Name, Type: renumbered(c.Type, 1000*(i+1))}
	}
	return iceberg.AssignFreshSchemaIDs(iceberg.NewSchema(0, fields...), nil)
}

// renumbered gives the fields within a type numbers from from on: columns come
// from several files, each with numbers of its own.
func renumbered(t iceberg.Type, from int) iceberg.Type {
	next := func() int { from++; return from }
	var walk func(iceberg.Type) iceberg.Type
	walk = func(t iceberg.Type) iceberg.Type {
		switch t := t.(type) {
		case *iceberg.StructType:
			fields := slices.Clone(t.FieldList)
			for i := range fields {
				fields[i].ID, fields[i].Type = next(), walk(fields[i].Type)
			}
			return &iceberg.StructType{FieldList: fields}
		case *iceberg.ListType:
			return &iceberg.ListType{ElementID: next(), Element: walk(t.Element), ElementRequired: t.ElementRequired}
		case *iceberg.MapType:
			return &iceberg.MapType{
				KeyID: next(), KeyType: walk(t.KeyType), ValueID: next(), ValueType: walk(t.ValueType), ValueRequired: t.ValueRequired,
			}
		}
		return t
	}
	return walk(t)
}
