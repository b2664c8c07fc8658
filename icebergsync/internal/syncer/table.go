package syncer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/s3window/s3window/icebergsync/internal/progress"
	"github.com/s3window/s3window/icebergsync/internal/table"
)

// Table brings the windows of commit logs into one table. One goroutine uses it;
// any number of Tables, in any number of processes, may work on one table.
type Table struct {
	name    table.Name
	catalog Catalog
	lake    Lake
	opts    Options
	turn    int // which log is first in the next step

	mu   sync.Mutex // guards logs, not what it points to: that is one reader's at a time
	logs map[Log]*memory
}

// New makes the synchronisation of one table. It does no I/O.
func New(name table.Name, c Catalog, l Lake, o Options) *Table {
	return &Table{name: name, catalog: c, lake: l, opts: o, logs: map[Log]*memory{}}
}

// Name returns the table's name.
func (t *Table) Name() table.Name { return t.name }

func (t *Table) remember(log Log) *memory {
	t.mu.Lock()
	defer t.mu.Unlock()
	m := t.logs[log]
	if m == nil {
		m = &memory{}
		t.logs[log] = m
	}
	return m
}

// Report is what a pass did and what it left.
type Report struct {
	Commits  int
	Windows  int // added to the table
	Files    int
	Records  int64
	Skipped  int // passed over
	Problems []Problem
	Behind   int       // windows that wait; at least
	Oldest   time.Time // when the oldest of them was committed; zero if none waits
}

// Blocked returns how many logs wait for somebody to act.
func (r Report) Blocked() int {
	n := 0
	for _, p := range r.Problems {
		if p.Blocked {
			n++
		}
	}
	return n
}

// Pass adds every committed window of the logs that the table does not have yet.
// It returns after a step in which nothing was left to do. all looks at every
// log, also at those that were idle.
//
// An error means that the table as a whole does not go on: *progress.RolledBack
// and *Refused until somebody acts, any other until the next pass. A log that
// does not go on is in the report. Whatever happens, no window is added twice,
// and the report has what was seen to succeed.
func (t *Table) Pass(ctx context.Context, logs []Log, all bool) (Report, error) {
	var r Report
	if !all && !t.due(logs) {
		t.summarise(logs, &r)
		return r, nil
	}
	logs = slices.Clone(logs)
	for failed := 0; ; all = false {
		done, err := t.step(ctx, logs, all, &r)
		var refused *Refused
		var rolled *progress.RolledBack
		switch {
		case err == nil && done:
			return r, nil
		case errors.Is(err, table.ErrAgain):
			continue
		case err == nil:
			failed = 0
			if t.opts.Observer.Progress != nil {
				t.summarise(logs, &r)
				t.opts.Observer.Progress(r)
			}
			continue
		case errors.As(err, &refused), errors.As(err, &rolled), ctx.Err() != nil:
			return r, err
		}
		if failed++; failed == tries {
			return r, fmt.Errorf("after %d attempts: %w", tries, err)
		}
		if err := t.opts.Pause(ctx, failed); err != nil {
			return r, err
		}
	}
}

// due says whether any of the logs is to be looked at again.
func (t *Table) due(logs []Log) bool {
	now := t.opts.Now()
	return slices.ContainsFunc(logs, func(log Log) bool { return !now.Before(t.remember(log).due) })
}

// Refused says why a table is not written to.
type Refused struct{ Why string }

func (r *Refused) Error() string { return r.Why }

// step loads the table and makes one change to it, if there is one to make.
func (t *Table) step(ctx context.Context, logs []Log, all bool, r *Report) (done bool, err error) {
	is, err := t.catalog.Load(ctx, t.name)
	missing := errors.Is(err, table.ErrNotExist)
	switch {
	case missing:
		is = table.State{Name: t.name}
	case err != nil:
		return false, fmt.Errorf("load table %s: %w", t.name, err)
	default:
		if err := t.Check(is); err != nil {
			return false, err
		}
	}
	t.turn++
	found, more, err := t.look(ctx, is, rotated(logs, t.turn), all)
	if err != nil {
		return false, err
	}
	p := t.plan(is, found)
	p.more = p.more || more
	t.summarise(logs, r)
	switch {
	case missing && len(p.columns) > 0:
		started := t.opts.Now()
		err := t.catalog.Create(ctx, t.name, p.columns)
		t.opts.changed("create", started, 0, err, false)
		if err != nil {
			return false, fmt.Errorf("create table %s: %w", t.name, err)
		}
		return false, nil
	case missing:
		return !p.more, nil // no window has an object yet
	case len(p.columns) > 0:
		return false, t.apply(ctx, is, "schema", table.Change{Columns: p.columns}, 0)
	case len(p.files) == 0 && !p.writeDown:
		return !p.more, nil
	}
	change, err := p.change(is)
	if err != nil {
		return false, &Refused{err.Error()}
	}
	if len(change.Files) > 0 {
		change.Expire = expired(is, t.opts.Keep)
	}
	kind := "append"
	if len(change.Files) == 0 {
		kind = "skip"
	}
	if err := t.apply(ctx, is, kind, change, p.windows); err != nil {
		return false, err
	}
	r.Commits, r.Windows, r.Files = r.Commits+1, r.Windows+p.windows, r.Files+len(p.files)
	for _, f := range p.files {
		r.Records += f.Records
	}
	return false, nil
}

// apply makes a change. The two lines of every durable step here:
//
// Crash before this: the next pass reads the same windows and makes the change.
// Crash after it: the next pass loads the table and finds them in its marks.
func (t *Table) apply(ctx context.Context, is table.State, kind string, c table.Change, windows int) error {
	started := t.opts.Now()
	err := t.catalog.Apply(ctx, is, c)
	if errors.Is(err, table.ErrAgain) {
		return err
	}
	t.opts.changed(kind, started, windows, err, errors.Is(err, table.ErrConflict))
	if err != nil {
		return fmt.Errorf("commit to table %s: %w", t.name, err)
	}
	return nil
}

// rotated returns the logs with another one first each time, so that none waits
// behind others for ever.
func rotated(logs []Log, turn int) []Log {
	if len(logs) == 0 {
		return nil
	}
	n := turn % len(logs)
	return append(slices.Clone(logs[n:]), logs[:n]...)
}

// Check returns why a table must not be written to: *Refused, *progress.RolledBack.
func (t *Table) Check(is table.State) error {
	switch {
	case is.Format != 2:
		return &Refused{fmt.Sprintf("table %s has format version %d: only 2 is written, which every engine reads", t.name, is.Format)}
	case is.Properties[progress.PropVersion] == "":
		return &Refused{fmt.Sprintf("table %s exists and s3window did not make it (it has no property %s): name another one", t.name, progress.PropVersion)}
	case is.Properties[progress.PropVersion] != progress.Version:
		return &Refused{fmt.Sprintf("table %s has %s %q, this release writes %s", t.name, progress.PropVersion, is.Properties[progress.PropVersion], progress.Version)}
	}
	if ref := t.lake.Ref(); Holds(is.Location, ref.Bucket, ref.Prefix) {
		return &Refused{fmt.Sprintf("table %s lies at %s, which holds the lake %s: an engine that removes orphan files would delete the lake; put the table elsewhere", t.name, is.Location, ref)}
	}
	return progress.Check(is)
}

// Holds says whether a location is at or above a lake's prefix.
func Holds(location, bucket, prefix string) bool {
	rest := location
	for _, scheme := range []string{"s3://", "s3a://", "s3n://"} {
		rest = strings.TrimPrefix(rest, scheme)
	}
	if rest == location {
		return false // not in an object store
	}
	lake := bucket + "/"
	if prefix != "" {
		lake += prefix + "/"
	}
	return strings.HasPrefix(lake, strings.TrimRight(rest, "/")+"/")
}

// summarise puts what is known of the logs into the report.
func (t *Table) summarise(logs []Log, r *Report) {
	r.Problems, r.Behind, r.Oldest = nil, 0, time.Time{}
	for _, log := range logs {
		m := t.remember(log)
		if m.problem != nil {
			r.Problems = append(r.Problems, *m.problem)
		}
		if m.behind == 0 {
			continue
		}
		r.Behind += m.behind
		if r.Oldest.IsZero() || m.oldest.Before(r.Oldest) {
			r.Oldest = m.oldest
		}
	}
}
