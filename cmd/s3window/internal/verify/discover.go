package verify

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/s3window/s3window/cmd/s3window/internal/levels"
	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/partition"
)

// discover finds every partition with a manifest, a head or a data object, and the
// keys that stand where only theirs should.
func (v *verifier) discover(ctx context.Context) (map[table][]string, []Finding, error) {
	logs := map[table][]string{}
	strays := []Finding{}
	w := levels.Walk{Bucket: v.bucket, Prefix: v.prefix, Workers: v.Workers}
	// Objects first: those of a new partition are then met by its manifests.
	w.Found = func(id partition.ID) {
		logs[table{id.Tenant, id.Signal}] = nil // objects, and maybe no manifest yet
		v.progress.Found.Add(1)
	}
	w.Stray = func(key string) {
		strays = append(strays, found(Stray, key, "stands among the data objects and is none of a partition's"))
	}
	if err := w.Data(ctx); err != nil {
		return nil, nil, err
	}
	w.Found = func(id partition.ID) {
		t := table{id.Tenant, id.Signal}
		logs[t] = append(logs[t], id.Sink)
		v.progress.Found.Add(1)
	}
	w.Stray = func(key string) {
		strays = append(strays, found(Stray, key, "stands among the commit logs and is none of a partition's"))
	}
	if err := w.Logs(ctx); err != nil {
		return nil, nil, err
	}
	for id, known := range v.heads {
		if t := (table{id.Tenant, id.Signal}); slices.ContainsFunc(known, head.of) && !slices.Contains(logs[t], id.Sink) {
			logs[t] = append(logs[t], id.Sink)
		}
	}
	partitions := int64(0)
	for _, sinks := range logs {
		slices.Sort(sinks)
		partitions += int64(max(len(sinks), 1))
	}
	v.progress.Found.Store(partitions)
	v.progress.Discovered.Store(true)
	return logs, strays, nil
}

// dataPrefix is what the keys of all data objects begin with.
func (v *verifier) dataPrefix() string {
	return strings.TrimSuffix(partition.SystemPrefix(v.prefix), "_s3window/") + "tenant="
}

// listed is what a listing says of an object.
type listed struct {
	size int64
	etag string // kept only where it is needed
}

// listObjects lists the data objects of a table.
func (v *verifier) listObjects(ctx context.Context, t table) (map[string]listed, error) {
	out := map[string]listed{}
	prefix := partition.DataPrefix(v.prefix, t.id(""))
	err := v.bucket.List(ctx, prefix, "", func(i lake.Info) error {
		is := listed{size: i.Size}
		if v.Resume != nil {
			is.etag = i.ETag
		}
		out[i.Key] = is
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list %q: %w", prefix, err)
	}
	return out, nil
}
