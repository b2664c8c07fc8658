package icecat

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/iceberg-go"
	icetable "github.com/apache/iceberg-go/table"

	"github.com/s3window/s3window/icebergsync/internal/syncer"
	"github.com/s3window/s3window/icebergsync/internal/table"
)

// Held is what a table holds of one tenant.
type Held struct {
	Files   int
	Rows    int64 // of its data files
	Deleted int64 // rows that delete files take away; by equality they are not counted
	Twice   []string
}

// Rows returns what the current snapshot of a table holds of each tenant, by its
// manifests alone. It reads no data.
func (c *Catalog) Rows(ctx context.Context, is table.State) (map[string]*Held, error) {
	ctx, end := c.opts.begin(ctx)
	defer end()
	t, ok := is.Loaded.(*icetable.Table)
	if !ok {
		return nil, errors.New("the state was not loaded from this catalog")
	}
	out := map[string]*Held{}
	snapshot := t.CurrentSnapshot()
	if snapshot == nil {
		return out, nil
	}
	io, err := t.FS(ctx)
	if err != nil {
		return nil, err
	}
	manifests, err := snapshot.Manifests(io)
	if err != nil {
		return nil, fmt.Errorf("read manifest list: %w", err)
	}
	seen := map[string]bool{}
	for _, m := range manifests {
		field, ok := tenantField(t, int(m.PartitionSpecID()))
		if !ok {
			return nil, fmt.Errorf("partition spec %d has no field of %s: rows cannot be told by tenant", m.PartitionSpecID(), syncer.TenantColumn)
		}
		for e, err := range m.Entries(io, true) {
			if err != nil {
				return nil, fmt.Errorf("read manifest %q: %w", m.FilePath(), err)
			}
			count(out, e.DataFile(), field, seen)
		}
	}
	return out, nil
}

func count(out map[string]*Held, f iceberg.DataFile, field int, seen map[string]bool) {
	tenant := fmt.Sprint(f.Partition()[field])
	h := out[tenant]
	if h == nil {
		h = &Held{}
		out[tenant] = h
	}
	if f.ContentType() != iceberg.EntryContentData {
		if f.ContentType() == iceberg.EntryContentPosDeletes {
			h.Deleted += f.Count()
		}
		return
	}
	h.Files++
	h.Rows += f.Count()
	if seen[f.FilePath()] {
		h.Twice = append(h.Twice, f.FilePath())
	}
	seen[f.FilePath()] = true
}

// tenantField returns the field of a partition spec that is the tenant.
func tenantField(t *icetable.Table, specID int) (int, bool) {
	column, ok := t.Schema().FindFieldByName(syncer.TenantColumn)
	if !ok {
		return 0, false
	}
	for _, spec := range t.Metadata().PartitionSpecs() {
		if spec.ID() != specID {
			continue
		}
		for i := range spec.NumFields() {
			f := spec.Field(i)
			if len(f.SourceIDs) == 1 && f.SourceIDs[0] == column.ID && f.Transform.String() == "identity" {
				return f.FieldID, true
			}
		}
	}
	return 0, false
}
