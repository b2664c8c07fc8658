package run

import (
	"context"
	"errors"

	"github.com/s3window/s3window/icebergsync/internal/icecat"
	"github.com/s3window/s3window/icebergsync/internal/progress"
	"github.com/s3window/s3window/icebergsync/internal/syncer"
	"github.com/s3window/s3window/icebergsync/internal/table"
	"github.com/s3window/s3window/internal/lake"
)

// maxCounted bounds how many windows of one log are counted.
const maxCounted = 1_000_000

// TableStatus is how far a table is.
type TableStatus struct {
	Name      table.Name
	Missing   bool // there is no such table yet
	Location  string
	Snapshots int
	Problem   string // why it is not written to; empty if it is
	Logs      []LogStatus
}

// LogStatus is how far one log is in its table.
type LogStatus struct {
	Log    syncer.Log
	K      uint64 // the newest window in the table
	Behind int    // windows that wait
}

// Status says how far every table is. It changes nothing.
func (r *Runner) Status(ctx context.Context) ([]TableStatus, error) {
	tables, err := r.list(ctx)
	if err != nil {
		return nil, err
	}
	var out []TableStatus
	for _, t := range tables {
		s, err := r.statusOf(ctx, t)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

func (r *Runner) statusOf(ctx context.Context, t *one) (TableStatus, error) {
	s := TableStatus{Name: t.Name()}
	is, err := r.catalog.Load(ctx, t.Name())
	switch {
	case errors.Is(err, table.ErrNotExist):
		s.Missing = true
	case err != nil:
		return s, err
	default:
		s.Location, s.Snapshots = is.Location, len(is.Snapshots)
		if err := t.Check(is); err != nil {
			s.Problem = err.Error()
		}
	}
	for _, log := range t.logs {
		mark, err := progress.Of(is, progress.Key(r.source.Ref(), log))
		if err != nil {
			return s, err
		}
		behind, err := r.source.Count(ctx, log, mark.K, maxCounted)
		if err != nil {
			return s, err
		}
		if mark.K > 0 || behind > 0 {
			s.Logs = append(s.Logs, LogStatus{Log: log, K: mark.K, Behind: behind})
		}
	}
	return s, nil
}

// Comparison holds what a table has of a log against the log's manifests.
type Comparison struct {
	Name  table.Name
	Log   syncer.Log
	K     uint64 // the newest window in the table
	Rows  int64  // of windows 1 to K that a table can hold
	Held  int64  // in the table, less what was deleted
	Files int
	Twice []string
	Skip  int // windows that no table can hold
}

// Verify compares the rows of every tenant in its table with the manifests of
// the windows that the table says it has. Fewer are right where somebody deleted
// rows; more never are. It changes nothing. visit is called with each log.
func (r *Runner) Verify(ctx context.Context, visit func(Comparison)) error {
	tables, err := r.list(ctx)
	if err != nil {
		return err
	}
	for _, t := range tables {
		is, err := r.catalog.Load(ctx, t.Name())
		if errors.Is(err, table.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		held, err := r.catalog.Rows(ctx, is)
		if err != nil {
			return err
		}
		for _, log := range t.logs {
			c, err := r.compare(ctx, is, log, held[log.Tenant])
			if err != nil {
				return err
			}
			if c.K > 0 {
				visit(c)
			}
		}
	}
	return nil
}

func (r *Runner) compare(ctx context.Context, is table.State, log syncer.Log, held *icecat.Held) (Comparison, error) {
	c := Comparison{Name: is.Name, Log: log}
	mark, err := progress.Of(is, progress.Key(r.source.Ref(), log))
	if err != nil {
		return c, err
	}
	c.K = mark.K
	if held != nil {
		c.Files, c.Held, c.Twice = held.Files, held.Rows-held.Deleted, held.Twice
	}
	err = r.source.ManifestsAfter(ctx, log, 0, int(mark.K), func(_ uint64, m lake.Manifest, _ string) error {
		if m.Format != "parquet" {
			c.Skip++
			return nil
		}
		c.Rows += m.Records
		return nil
	})
	return c, err
}
