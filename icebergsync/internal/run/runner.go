package run

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/s3window/s3window/icebergsync/internal/icecat"
	"github.com/s3window/s3window/icebergsync/internal/source"
	"github.com/s3window/s3window/icebergsync/internal/syncer"
	"github.com/s3window/s3window/icebergsync/internal/table"
	"github.com/s3window/s3window/internal/partition"
)

// tablesAtOnce is how many tables are worked on at once.
const tablesAtOnce = 4

// idleFactor is how many intervals an idle log is left alone at most.
const idleFactor = 4

// Observer is told what a Runner does, by several goroutines at once.
type Observer struct {
	Changed  func(label, kind string, outcome syncer.Outcome, took time.Duration, windows int, err error)
	Skipped  func(label string, name table.Name, log syncer.Log, k uint64, format string)
	Progress func(name table.Name, r syncer.Report)
}

// Runner keeps the tables of a configuration up to date. One goroutine uses it.
type Runner struct {
	config  *Config
	observe Observer
	store   *source.Store
	source  *source.Source

	catalog *icecat.Catalog // nil until it answered once
	tables  map[string]*one
}

// one is a table and the logs that go into it.
type one struct {
	*syncer.Table
	label string
	logs  []syncer.Log
}

// New makes a runner of a valid configuration. It connects to nothing.
func New(ctx context.Context, c *Config, o Observer) (*Runner, error) {
	store, err := source.OpenStore(ctx, c.client())
	if err != nil {
		return nil, err
	}
	return &Runner{
		config: c, observe: o, store: store, source: source.New(store.Lake(c.S3.Prefix)), tables: map[string]*one{},
	}, nil
}

// Close ends its connections.
func (r *Runner) Close() {
	if r.catalog != nil {
		_ = r.catalog.Close() // it holds nothing but connections
	}
	r.store.Close()
}

// Result is what a pass came to for one table.
type Result struct {
	Name   table.Name
	Label  string // the name without a tenant
	Report syncer.Report
	Err    error // why the table as a whole does not go on
}

// Pass brings all tables up to date. all looks at every log, also at those that
// were idle. An error means that nothing could be done at all: the lake or the
// catalog does not answer. What is wrong with one table is in its result.
func (r *Runner) Pass(ctx context.Context, all bool) ([]Result, error) {
	tables, err := r.list(ctx)
	if err != nil {
		return nil, err
	}
	results := make([]Result, len(tables))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(tablesAtOnce)
	for i, t := range tables {
		g.Go(func() error {
			report, err := t.Pass(ctx, t.logs, all)
			results[i] = Result{Name: t.Name(), Label: t.label, Report: report, Err: err}
			return ctx.Err()
		})
	}
	err = g.Wait()
	return results, err
}

// open connects to the catalog, if that did not succeed before.
func (r *Runner) open(ctx context.Context) error {
	if r.catalog != nil {
		return nil
	}
	c := r.config
	is, err := icecat.Open(ctx, c.Catalog, c.client(), icecat.Options{
		OwnedByLake: c.Ownership == OwnedByLake, Buckets: r.store.Bucket, Location: r.locationOf,
	})
	if err != nil {
		return err
	}
	r.catalog = is
	return nil
}

// locationOf is where a new table lies.
func (r *Runner) locationOf(name table.Name) string {
	if r.config.Location == "" {
		return ""
	}
	t, ok := r.tables[name.String()]
	if !ok || len(t.logs) == 0 {
		return ""
	}
	return fill(r.config.Location, t.logs[0])
}

// list returns the tables that there are logs for, in the order of their names.
func (r *Runner) list(ctx context.Context) ([]*one, error) {
	if err := r.open(ctx); err != nil {
		return nil, err
	}
	tenants, err := r.source.Tenants(ctx, r.config.Sink)
	if err != nil {
		return nil, err
	}
	for _, t := range r.tables {
		t.logs = nil
	}
	for _, tenant := range tenants {
		for _, signal := range r.config.Signals {
			log := syncer.Log{Sink: r.config.Sink, Tenant: tenant, Signal: partition.Signal(signal)}
			t := r.table(log)
			t.logs = append(t.logs, log)
		}
	}
	var out []*one
	for _, t := range r.tables {
		if len(t.logs) > 0 {
			out = append(out, t)
		}
	}
	slices.SortFunc(out, func(a, b *one) int { return strings.Compare(a.Name().String(), b.Name().String()) })
	return out, nil
}

func (r *Runner) table(log syncer.Log) *one {
	name := r.config.tableOf(log)
	t := r.tables[name.String()]
	if t == nil {
		label := r.config.labelOf(log)
		t = &one{Table: syncer.New(name, r.catalog, r.source, r.options(name, label)), label: label}
		r.tables[name.String()] = t
	}
	return t
}

func (r *Runner) options(name table.Name, label string) syncer.Options {
	c, o := r.config, r.observe
	return syncer.Options{
		MaxWindows: c.MaxWindowsPerCommit, SkipLines: c.OnJSONL == onSkip,
		Keep: c.Snapshots.Keep, Interval: c.Interval, MaxIdle: idleFactor * c.Interval, Now: time.Now, Pause: pause,
		Observer: syncer.Observer{
			Changed: func(kind string, outcome syncer.Outcome, took time.Duration, windows int, err error) {
				if o.Changed != nil {
					o.Changed(label, kind, outcome, took, windows, err)
				}
			},
			Skipped: func(log syncer.Log, k uint64, format string) {
				if o.Skipped != nil {
					o.Skipped(label, name, log, k, format)
				}
			},
			Progress: func(report syncer.Report) {
				if o.Progress != nil {
					o.Progress(name, report)
				}
			},
		},
	}
}

// pause waits longer with every attempt, and never as long as another one.
func pause(ctx context.Context, n int) error {
	most := min(100*time.Millisecond<<min(n, 10), 10*time.Second)
	t := time.NewTimer(most/4 + rand.N(3*most/4))
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// errNoTable says that a name is none of the configuration's tables.
var errNoTable = errors.New("no such table")

// Settle says what a rollback of a table means: accept it, or add the windows
// again that it took out.
func (r *Runner) Settle(ctx context.Context, name string, accept bool) error {
	if _, err := r.list(ctx); err != nil {
		return err
	}
	t, ok := r.tables[name]
	if !ok {
		return fmt.Errorf("%w: %q is not one of %s", errNoTable, name, strings.Join(r.names(), ", "))
	}
	if accept {
		return t.AcceptRollback(ctx)
	}
	return t.ReAdd(ctx)
}

func (r *Runner) names() []string {
	var out []string
	for name := range r.tables {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}
