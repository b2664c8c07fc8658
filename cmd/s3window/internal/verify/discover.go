package verify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/partition"
)

var errStop = errors.New("stop listing")

// discover finds every partition with a manifest, a head or a data object, and the
// keys that stand where only theirs should. It skips from one partition to the
// next, so it costs one listing each.
func (v *verifier) discover(ctx context.Context) (map[table][]string, []Finding, error) {
	logs := map[table][]string{}
	strays := []Finding{}
	system := partition.SystemPrefix(v.prefix) + "sink="
	err := v.skip(ctx, system, func(key string) string {
		id, _, err := partition.ParseManifestKey(v.prefix, key)
		if err != nil {
			strays = append(strays, found(Stray, key, "stands among the commit logs and is no manifest"))
			return key
		}
		t := table{id.Tenant, id.Signal}
		if !slices.Contains(logs[t], id.Sink) {
			logs[t] = append(logs[t], id.Sink)
		}
		return behind(partition.ManifestPrefix(v.prefix, id))
	})
	if err != nil {
		return nil, nil, err
	}
	for id, known := range v.heads {
		if t := (table{id.Tenant, id.Signal}); slices.ContainsFunc(known, head.of) && !slices.Contains(logs[t], id.Sink) {
			logs[t] = append(logs[t], id.Sink)
		}
	}
	err = v.skip(ctx, v.dataPrefix(), func(key string) string {
		id, _, err := partition.ParseObjectKey(v.prefix, key)
		if err != nil {
			strays = append(strays, found(Stray, key, "stands among the data objects and is none (%v)", err))
			return key
		}
		t := table{id.Tenant, id.Signal}
		logs[t] = slices.Clip(logs[t]) // an entry without sinks: objects, and no manifest yet
		return behind(partition.DataPrefix(v.prefix, id))
	})
	return logs, strays, err
}

// dataPrefix is what the keys of all data objects begin with.
func (v *verifier) dataPrefix() string {
	return strings.TrimSuffix(partition.SystemPrefix(v.prefix), "_s3window/") + "tenant="
}

// behind is a key that sorts behind everything below prefix and before what
// follows it; '0' comes after '/'.
func behind(prefix string) string { return strings.TrimSuffix(prefix, "/") + "0" }

// skip calls next with the first key below prefix, then with the first key
// behind what next returned, and so on.
func (v *verifier) skip(ctx context.Context, prefix string, next func(key string) (after string)) error {
	after := ""
	for {
		first := ""
		err := v.bucket.List(ctx, prefix, after, func(i lake.Info) error {
			first = i.Key
			return errStop
		})
		if err != nil && !errors.Is(err, errStop) {
			return fmt.Errorf("list %q: %w", prefix, err)
		}
		if first == "" {
			return nil
		}
		after = next(first)
	}
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
