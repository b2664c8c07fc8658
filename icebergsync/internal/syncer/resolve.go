package syncer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/s3window/s3window/icebergsync/internal/progress"
	"github.com/s3window/s3window/icebergsync/internal/table"
)

// AcceptRollback has a table that was rolled back go on behind the newest window
// of each log that it ever had: what the rollback took out stays out. It returns
// the change's error; one that is made twice is made once. A table that was not
// rolled back is left alone.
func (t *Table) AcceptRollback(ctx context.Context) error {
	is, rolled, err := t.rolledBack(ctx)
	if err != nil || rolled == nil {
		return err
	}
	properties := renumbered(rolled.Found)
	if main, ok := is.Main(); ok && rolled.Found == 0 {
		properties = renumbered(main.Sequence) // from here on
	}
	// All are written, also those that stay as they are: a request that arrives
	// late then undoes what was said in between as a whole.
	for _, log := range t.Logs(is) {
		key := progress.Key(t.lake.Ref(), log)
		_, top, err := progress.Top(is, key)
		if err != nil {
			return err
		}
		if top.K > 0 {
			properties[key] = top.String()
		}
	}
	return t.apply(ctx, is, "accept", table.Change{Properties: properties}, 0)
}

// ReAdd has a table that was rolled back take the windows again that the
// rollback took out, at the next pass. Which these are is in the summaries of
// the snapshots that main does not hold any more. Where one of them was expired,
// or where main holds snapshots that nobody knows the windows of, ReAdd refuses
// and changes nothing.
func (t *Table) ReAdd(ctx context.Context) error {
	is, rolled, err := t.rolledBack(ctx)
	if err != nil || rolled == nil {
		return err
	}
	lost, err := lostWindows(is, rolled)
	if err != nil {
		return err
	}
	properties := renumbered(rolled.Found)
	for _, log := range t.Logs(is) {
		key := progress.Key(t.lake.Ref(), log)
		properties[key] = is.Properties[key]
	}
	for key, from := range lost {
		_, top, err := progress.Top(is, key)
		if err != nil {
			return err
		}
		properties[progress.TopKey(key)] = top.String()
		if properties[key], err = t.before(ctx, key, from); err != nil {
			return err
		}
	}
	return t.apply(ctx, is, "re-add", table.Change{Properties: properties}, 0)
}

func (t *Table) rolledBack(ctx context.Context) (table.State, *progress.RolledBack, error) {
	is, err := t.catalog.Load(ctx, t.name)
	if err != nil {
		return is, nil, fmt.Errorf("load table %s: %w", t.name, err)
	}
	err = t.Check(is)
	var rolled *progress.RolledBack
	if errors.As(err, &rolled) {
		return is, rolled, nil
	}
	return is, nil, err
}

// renumbered says that main goes on from the snapshot of a sequence number.
func renumbered(sequence int64) map[string]string {
	return map[string]string{progress.PropCommit: strconv.FormatInt(sequence, 10)}
}

// lostWindows returns the first window of each log that the commits added which
// main does not hold any more. It follows them from the newest back, as each
// names the one before: those of an earlier rollback, which was settled, are not
// among them.
func lostWindows(is table.State, rolled *progress.RolledBack) (map[string]uint64, error) {
	if _, ok := is.Main(); ok && rolled.Found == 0 {
		return nil, errors.New("which windows main holds is not known: none of the snapshots in its history says so; " + remedy)
	}
	lost := map[string]uint64{}
	end, err := chain(is, rolled.Commit, rolled.Found, func(ranges map[string]progress.Range) {
		for key, r := range ranges {
			if from, ok := lost[key]; !ok || r.From < from {
				lost[key] = r.From
			}
		}
	})
	if err == nil && end != rolled.Found {
		err = fmt.Errorf("main was set to the snapshot of sequence number %d, which an earlier rollback had given up: its windows may be in later snapshots too; %s", rolled.Found, remedy)
	}
	return lost, err
}

const remedy = "accept the rollback, or drop the table and let it be made again"

// chain visits what commits added, from the newest back to one that is not above
// end, and returns that one.
func chain(is table.State, newest, end int64, visit func(map[string]progress.Range)) (int64, error) {
	ours := map[int64]table.Snapshot{}
	for _, s := range is.Snapshots {
		if n, ok := progress.Number(s); ok {
			ours[n] = s
		}
	}
	n := newest
	for n > end {
		s, ok := ours[n]
		if !ok {
			return n, fmt.Errorf("the snapshot of sequence number %d is gone: which windows it had is not known any more; %s", n, remedy)
		}
		ranges, err := progress.DecodeRanges(s.Summary[progress.SummaryWindows])
		if err != nil {
			return n, fmt.Errorf("snapshot %d: %w", s.ID, err)
		}
		visit(ranges)
		if n, err = strconv.ParseInt(s.Summary[progress.SummaryAfter], 10, 64); err != nil {
			return n, fmt.Errorf("snapshot %d: %s: %w", s.ID, progress.SummaryAfter, err)
		}
	}
	return n, nil
}

// before returns the mark's value in front of window from of a log, or of
// nothing in front of its first.
func (t *Table) before(ctx context.Context, key string, from uint64) (string, error) {
	log, ok := progress.LogOf(t.lake.Ref(), key)
	if !ok {
		return "", fmt.Errorf("the windows of %q are of another lake: run this where that lake is configured", key)
	}
	if from == 1 {
		return "", nil
	}
	_, sha, err := t.lake.Manifest(ctx, log, from-1)
	if err != nil {
		return "", err
	}
	return progress.MarkOf(from-1, sha).String(), nil
}

// Logs returns the logs of this lake that a table has windows of, in the order of
// their names.
func (t *Table) Logs(is table.State) []Log {
	var out []Log
	for property := range is.Properties {
		if log, ok := progress.LogOf(t.lake.Ref(), property); ok {
			out = append(out, log)
		}
	}
	slices.SortFunc(out, func(a, b Log) int { return strings.Compare(a.String(), b.String()) })
	return out
}
