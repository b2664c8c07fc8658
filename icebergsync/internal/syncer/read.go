package syncer

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/s3window/s3window/icebergsync/internal/progress"
	"github.com/s3window/s3window/icebergsync/internal/table"
	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/partition"
)

// readers is how many logs are looked at at once.
const readers = 16

// look reads the next window of every log that is due, then as many more of each
// as a commit has room for. more says that some logs had to be left out.
func (t *Table) look(ctx context.Context, is table.State, logs []Log, all bool) (found []news, more bool, err error) {
	heads := make([]news, len(logs))
	err = t.each(ctx, len(logs), func(ctx context.Context, i int) error {
		heads[i] = t.head(ctx, is, logs[i], all)
		return ctx.Err()
	})
	if err != nil {
		return nil, false, err
	}
	found = slices.DeleteFunc(heads, func(n news) bool { return len(n.windows) == 0 && n.problem == nil })
	found, more = t.atMost(found, t.opts.MaxWindows)
	share := max(1, t.opts.MaxWindows/max(1, len(found)))
	err = t.each(ctx, len(found), func(ctx context.Context, i int) error {
		t.read(ctx, &found[i], share)
		return ctx.Err()
	})
	return found, more, err
}

// atMost leaves out logs with windows beyond the first n. The next step looks at
// them again, and begins with others.
func (t *Table) atMost(found []news, n int) (out []news, more bool) {
	out = found[:0]
	for _, is := range found {
		if len(is.windows) > 0 {
			if n--; n < 0 {
				t.remember(is.log).wake()
				more = true
				continue
			}
		}
		out = append(out, is)
	}
	return out, more
}

// each calls f for 0 to n-1, several at once.
func (t *Table) each(ctx context.Context, n int, f func(ctx context.Context, i int) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(readers)
	for i := range n {
		g.Go(func() error { return f(ctx, i) })
	}
	return g.Wait()
}

// head looks for the window behind what the table has of a log.
func (t *Table) head(ctx context.Context, is table.State, log Log, all bool) news {
	mem := t.remember(log)
	n := news{log: log, key: progress.Key(t.lake.Ref(), log)}
	if !all && t.opts.Now().Before(mem.due) {
		return n
	}
	mark, err := progress.Of(is, n.key)
	if err != nil {
		return n.blocked(mark.K, err.Error())
	}
	n.from = mem.from(mark)
	m, sha, err := t.lake.Manifest(ctx, log, n.from.to.K+1)
	switch {
	case errors.Is(err, lake.ErrNotExist):
		return t.idle(ctx, n, mark, mem)
	case errors.Is(err, lake.ErrNoManifest):
		return n.blocked(n.from.to.K+1, err.Error())
	case err != nil:
		return n.failing(n.from.to.K+1, err)
	}
	if why := follows(n.from.to, m); why != "" {
		return n.blocked(m.K, why)
	}
	n.windows = []window{{manifest: m, sha: sha}}
	return n
}

// follows says why a manifest cannot be the next one behind a mark; empty if it
// is.
func follows(mark progress.Mark, m lake.Manifest) string {
	if mark.K == 0 || m.Prev != nil && mark.Is(m.Prev.SHA256) {
		return ""
	}
	return fmt.Sprintf("it does not follow on window %d that the table has: the lake was begun anew under the same name, or is another one", mark.K)
}

// idle is a log with nothing new. From time to time the manifest that the mark
// names is compared with it.
func (t *Table) idle(ctx context.Context, n news, mark progress.Mark, mem *memory) news {
	mem.behind, mem.problem = 0, nil
	mem.rest(t.opts)
	if mark.K == 0 || t.opts.Now().Sub(mem.checked) < recheck {
		return n
	}
	_, sha, err := t.lake.Manifest(ctx, n.log, mark.K)
	switch {
	case errors.Is(err, lake.ErrNotExist):
		return n.blocked(mark.K, "the table has this window and the lake has not: the lake was begun anew under the same name, or lost windows")
	case err != nil && !errors.Is(err, lake.ErrNoManifest):
		return n.failing(mark.K, err)
	case err != nil || !mark.Is(sha):
		return n.blocked(mark.K, "the lake has another window of this number than the table: the lake was begun anew under the same name")
	}
	mem.checked = t.opts.Now()
	return n
}

func (n news) blocked(k uint64, why string) news {
	n.problem = &Problem{Log: n.log, K: k, Blocked: true, Why: why}
	return n
}

func (n news) failing(k uint64, err error) news {
	n.problem = &Problem{Log: n.log, K: k, Why: lake.Reason(err)}
	return n
}

// read completes the windows of one log: at most share, up to the first that
// does not fit.
func (t *Table) read(ctx context.Context, n *news, share int) {
	if n.problem != nil {
		return
	}
	last := n.windows[0]
	n.more = share == 1
	if share > 1 {
		err := t.lake.ManifestsAfter(ctx, n.log, last.manifest.K, share-1, func(k uint64, m lake.Manifest, sha string) error {
			if why := follows(last.mark(), m); why != "" {
				n.problem = &Problem{Log: n.log, K: k, Blocked: true, Why: why}
				return errEnd
			}
			last = window{manifest: m, sha: sha}
			n.windows = append(n.windows, last)
			return nil
		})
		if err != nil && !errors.Is(err, errEnd) {
			*n = n.failing(last.manifest.K+1, err)
		}
		n.more = len(n.windows) == share
	}
	t.readContents(ctx, n)
}

var errEnd = errors.New("end of the log")

// readContents reads the objects of all windows, several at once, and cuts the
// windows before the first that the table cannot take.
func (t *Table) readContents(ctx context.Context, n *news) {
	problems := make([]*Problem, len(n.windows))
	_ = t.each(ctx, len(n.windows), func(ctx context.Context, i int) error { // its problems are in problems
		problems[i] = t.complete(ctx, n.log, &n.windows[i])
		return nil
	})
	for i, p := range problems {
		if p != nil {
			n.windows, n.problem, n.more = n.windows[:i], p, false
			return
		}
	}
}

// complete reads what the objects of a window say of themselves, and holds it
// against the manifest.
func (t *Table) complete(ctx context.Context, log Log, w *window) *Problem {
	m := w.manifest
	problem := func(blocked bool, why string) *Problem {
		return &Problem{Log: log, K: m.K, Blocked: blocked, Why: why}
	}
	if m.Format != "parquet" {
		if w.skip = true; !t.opts.SkipLines && len(m.Objects) > 0 {
			return problem(true, fmt.Sprintf("its format is %q, which no table reads: set on_jsonl to skip to go on without it", m.Format))
		}
		return nil
	}
	for _, o := range m.Objects {
		if id, _, err := partition.ParseObjectKey(t.lake.Ref().Prefix, o.Key); err != nil || id.Tenant != log.Tenant || id.Signal != log.Signal {
			return problem(true, fmt.Sprintf("object %q is not one of this tenant and signal", o.Key))
		}
		c, err := t.lake.Contents(ctx, o)
		var unreadable *Unreadable
		switch {
		case errors.Is(err, lake.ErrNotExist):
			return problem(true, fmt.Sprintf("object %q does not exist, and its manifest names it: was it deleted by an engine, or by a lifecycle rule?", o.Key))
		case errors.As(err, &unreadable):
			return problem(true, fmt.Sprintf("object %q: %s", o.Key, unreadable.Why))
		case err != nil:
			return problem(false, fmt.Sprintf("read object %q: %s", o.Key, lake.Reason(err)))
		}
		if why := t.disagrees(m, o, c); why != "" {
			return problem(true, fmt.Sprintf("object %q %s", o.Key, why))
		}
		w.contents = append(w.contents, c)
	}
	return nil
}

// disagrees says what is wrong with an object's contents; empty if nothing is.
func (t *Table) disagrees(m lake.Manifest, o lake.Object, c Contents) string {
	switch {
	case c.Bytes != o.Bytes:
		return fmt.Sprintf("has %d bytes, its manifest says %d", c.Bytes, o.Bytes)
	case c.Records != o.Records:
		return fmt.Sprintf("has %d rows, its manifest says %d", c.Records, o.Records)
	}
	has := func(name string) bool {
		return slices.ContainsFunc(c.Columns, func(c table.Column) bool { return c.Name == name })
	}
	if !has(TenantColumn) {
		return fmt.Sprintf("has no column %s: readers would filter it wrongly, and no release writes such objects", TenantColumn)
	}
	if !has(ReceivedColumn) {
		return fmt.Sprintf("has no column %s, which tables are partitioned by", ReceivedColumn)
	}
	return outside(m, c.Stats)
}

// outside says which statistics contradict the partition that the manifest puts
// the object in: a table would prune such rows away, or show them to another
// tenant.
func outside(m lake.Manifest, all []table.Stats) string {
	for _, s := range all {
		switch {
		case s.Lower == nil || s.Upper == nil:
		case s.Column == TenantColumn:
			if own := []byte(m.Tenant); bytes.Compare(s.Lower, own) > 0 || bytes.Compare(s.Upper, own) < 0 {
				return fmt.Sprintf("holds rows of tenant %q", s.Lower)
			}
		case s.Column == ReceivedColumn && len(s.Lower) == 8 && len(s.Upper) == 8:
			from, to := int64(binary.LittleEndian.Uint64(s.Lower)), int64(binary.LittleEndian.Uint64(s.Upper))
			if from < m.Start || to >= m.End {
				return fmt.Sprintf("holds rows that were received outside its window (%d to %d)", from, to)
			}
		}
	}
	return ""
}
