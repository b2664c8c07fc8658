package verify

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/s3window/s3window/internal/lake"
)

// Duplicates is what the search for duplicated records found.
type Duplicates struct {
	Records    int64 `json:"records"`    // that were looked at
	Duplicated int64 `json:"duplicated"` // of them, those that an equal one stands before
	Unread     int64 `json:"unread"`     // objects that could not be looked at: missing, or not of their kind
}

// tablesHashed is how many tables are searched at once.
const tablesHashed = 2

// finder searches tables for duplicated records. Two records are duplicates if
// their objects are of one tenant, signal and kind of format, and their rows have
// the same values in all columns but received_at, which says when a copy came,
// and ts, which is derived from it where a record has no time of its own. A null
// is as good as no column. See readParquetRows and readLineRows.
//
// Hashes of 16 bytes go to files in a temporary directory, parted by their
// first byte, and are sorted part by part: memory is bounded by sortBudget, disk
// takes 20 bytes a record of the tables in work.
type finder struct {
	*verifier
	tables chan struct{} // one for every table in work
	slots  chan struct{} // one for every object in work
}

func newFinder(v *verifier) *finder {
	return &finder{verifier: v, tables: make(chan struct{}, tablesHashed), slots: make(chan struct{}, 2*runtime.GOMAXPROCS(0))}
}

// table searches the objects that the manifests of a table name.
func (f *finder) table(ctx context.Context, named map[string]string, rows int64, out *partitionReport) error {
	select {
	case f.tables <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-f.tables }()
	dir, err := os.MkdirTemp(f.TempDir, "s3window-verify-*")
	if err != nil {
		return fmt.Errorf("make room for hashes: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	s, err := newSpill(dir, rows, sortBudget)
	if err != nil {
		return err
	}
	defer s.close()
	keys := slices.Sorted(maps.Keys(named))
	if err := f.hashAll(ctx, s, keys, dir, &out.duplicates); err != nil {
		return err
	}
	pairs, err := s.find(ctx)
	if err != nil {
		return fmt.Errorf("sort hashes: %w", err)
	}
	out.duplicates.Duplicated = pairs.records
	out.notes = append(out.notes, pairs.findings(keys, named)...)
	return nil
}

// hashAll hashes every row of the objects, several objects at once.
func (f *finder) hashAll(ctx context.Context, s *spill, keys []string, dir string, out *Duplicates) error {
	counts := make([]int64, len(keys))
	unread := make([]bool, len(keys))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(cap(f.slots))
	for i, key := range keys {
		g.Go(func() error {
			select {
			case f.slots <- struct{}{}:
			case <-ctx.Done():
				return ctx.Err()
			}
			defer func() { <-f.slots }()
			err := f.hashObject(ctx, key, dir, func(h rowHash) error {
				counts[i]++
				f.progress.Hashed.Add(1)
				return s.add(h, uint32(i))
			})
			var malformed *malformedError
			if errors.Is(err, lake.ErrNotExist) || errors.As(err, &malformed) {
				unread[i] = true
				return nil
			}
			if err != nil {
				return fmt.Errorf("hash the rows of object %q: %w", key, err)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	for i := range keys {
		out.Records += counts[i]
		if unread[i] {
			out.Unread++
		}
	}
	return s.flush()
}

// findings says which objects share records: each that holds a copy, with the
// first that holds the record.
func (p *pairs) findings(keys []string, named map[string]string) []Finding {
	var out []Finding
	for pair, n := range p.count {
		first, other := keys[pair.first], keys[pair.other]
		if pair.first == pair.other {
			out = append(out, found(Duplicate, other, "holds %d records that stand before them in it already, equal but for when they were received", n).about(named[other]))
			continue
		}
		out = append(out, found(Duplicate, other, "holds %d records that are in %s too, equal but for when they were received", n, first).about(first))
	}
	// In an order of their own, so that a report that is cut is cut the same.
	slices.SortFunc(out, byKey)
	if p.more > 0 {
		out = append(out, found(Duplicate, "", "%d records more are duplicates, in too many pairs of objects to name", p.more))
	}
	return out
}
