// Package levels finds the partitions of a lake by walking the levels of its
// keys.
//
// It lists with a delimiter, so it costs one listing per tenant and one per
// thousand tenants, however many windows they have. Listings run in parallel.
package levels

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/partition"
)

// Walk says where to look, for what, and whom to tell. Found and Stray are
// never called at the same time.
type Walk struct {
	Bucket  lake.Bucket
	Prefix  string // of the lake
	Workers int    // listings at once; 1 or more

	Sink, Tenant string // empty = all

	// Found is told of each partition once, in no order.
	Found func(partition.ID)
	// Stray is told of each key, or beginning of keys with a slash at its end,
	// that stands where only a partition's should. It may be nil.
	Stray func(key string)

	mu sync.Mutex // held while Found or Stray run
}

// Logs finds the partitions that have a commit log.
func (w *Walk) Logs(ctx context.Context) error {
	var sinks []string
	err := w.list(ctx, partition.SystemPrefix(w.Prefix), func(name string) {
		level := strings.TrimPrefix(name, partition.SystemPrefix(w.Prefix))
		switch {
		case !strings.HasPrefix(level, "sink="):
		case !strings.HasSuffix(name, "/"):
			w.stray(name)
		case w.Sink == "" || name == partition.LogsPrefix(w.Prefix, w.Sink):
			sinks = append(sinks, name)
		}
	})
	for _, sink := range sinks {
		if err == nil {
			err = w.tenants(ctx, sink, func(name string) (partition.ID, bool) { return parse(w.Prefix, name) })
		}
	}
	return err
}

// Data finds the partitions that have data objects, or other keys where these
// are. Their IDs have no sink: keys of data objects do not carry it.
func (w *Walk) Data(ctx context.Context) error {
	root := strings.TrimSuffix(partition.SystemPrefix(w.Prefix), partition.SystemPrefix(""))
	return w.tenants(ctx, root, func(name string) (partition.ID, bool) {
		id, ok := parse("", partition.LogsPrefix("", "any")+strings.TrimPrefix(name, root))
		id.Sink = ""
		return id, ok
	})
}

// parse takes the name of a partition's directory apart. A manifest's key has
// the same levels, and a parser.
func parse(prefix, name string) (partition.ID, bool) {
	id, _, err := partition.ParseManifestKey(prefix, name+"windows/0000000001.json")
	return id, err == nil
}

// tenants finds the partitions below root, where every directory is a tenant's.
func (w *Walk) tenants(ctx context.Context, root string, id func(name string) (partition.ID, bool)) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(w.Workers)
	err := w.list(ctx, root, func(name string) {
		tenant, isTenant := strings.CutPrefix(name, root+"tenant=")
		tenant, isDir := strings.CutSuffix(tenant, "/")
		switch {
		case !isTenant && w.outside(root, name):
		case !isTenant || !isDir:
			w.stray(name)
		case w.Tenant == "" || tenant == partition.Escape(w.Tenant):
			g.Go(func() error {
				return w.list(ctx, name, func(name string) {
					if found, ok := id(name); ok {
						w.found(found)
					} else {
						w.stray(name)
					}
				})
			})
		}
	})
	return errors.Join(g.Wait(), err)
}

// outside says that a name beside the tenants' is no stray one: others share the
// root of the data, and the layout stands among the commit logs.
func (w *Walk) outside(root, name string) bool {
	if !strings.HasPrefix(root, partition.SystemPrefix(w.Prefix)) {
		return true
	}
	_, ok := partition.ParseLayoutKey(w.Prefix, name)
	return ok
}

// list visits what lies directly below a level.
func (w *Walk) list(ctx context.Context, level string, visit func(name string)) error {
	err := w.Bucket.Dirs(ctx, level, func(name string) error {
		visit(name)
		return ctx.Err()
	})
	if err != nil {
		return fmt.Errorf("list %q: %w", level, err)
	}
	return nil
}

func (w *Walk) found(id partition.ID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.Found(id)
}

func (w *Walk) stray(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.Stray != nil {
		w.Stray(name)
	}
}
