package commit

import (
	"context"
	"fmt"

	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/partition"
)

// Sweep deletes the objects of writers that no window will ever hold: those
// that start below their writer's committed end and that no committed manifest
// names. They are left by seals that another process's commit made void. It
// returns the keys it deleted, also beside an error; sweeping again is safe.
//
// writers are those of the caller's own WAL: nobody else's objects are
// touched. Objects at or above a writer's end stay, since they may be part of
// a commit on its way. So do those before the writer's first window here: a
// lake that several sinks share may hold them for another log.
func (l *Log) Sweep(ctx context.Context, writers ...string) ([]string, error) {
	ends, err := l.Read(ctx)
	if err != nil {
		return nil, err
	}
	spans, named, err := l.committed(ctx, ends.state.K, writers)
	if err != nil {
		return nil, err
	}
	orphans, err := l.orphans(ctx, spans, named)
	if err != nil {
		return nil, err
	}
	for i, key := range orphans {
		// Crash before this: an orphan more for the next sweep.
		// Crash after it: one less.
		if err := l.do("delete-orphan", func() error { return l.lake.Delete(ctx, key) }); err != nil {
			return orphans[:i], fmt.Errorf("sweep %s: %w", l.id, err)
		}
	}
	return orphans, nil
}

// span is what is committed of a writer: [first, end).
type span struct{ first, end int64 }

// committed reads from the manifests up to k what is committed of writers, and
// every object they name.
func (l *Log) committed(ctx context.Context, k uint64, writers []string) (map[string]span, map[string]bool, error) {
	spans, named := map[string]span{}, map[string]bool{}
	next := uint64(1)
	if k == 0 || len(writers) == 0 {
		return spans, named, nil
	}
	own := make(map[string]bool, len(writers))
	for _, w := range writers {
		own[w] = true
	}
	err := l.do("scan", func() error {
		return l.lake.Manifests(ctx, l.id, func(n uint64, m lake.Manifest, _ string) error {
			if n != next {
				return fmt.Errorf("manifest %d is not listed", next)
			}
			next++
			for _, o := range m.Objects {
				named[o.Key] = true
			}
			if !own[m.Writer] || m.K > k {
				return nil
			}
			s, ok := spans[m.Writer]
			if !ok {
				s.first = m.Start
			}
			s.end = m.End
			spans[m.Writer] = s
			return nil
		})
	})
	if err == nil && next <= k {
		err = fmt.Errorf("manifest %d is not listed", next)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read what is committed of %s: %w", l.id, err)
	}
	return spans, named, nil
}

// orphans lists the objects within spans that are not named.
func (l *Log) orphans(ctx context.Context, spans map[string]span, named map[string]bool) ([]string, error) {
	if len(spans) == 0 {
		return nil, nil
	}
	var keys []string
	err := l.do("list-objects", func() error {
		return l.lake.Bucket().List(ctx, partition.DataPrefix(l.lake.Prefix(), l.id), "", func(i lake.Info) error {
			_, name, err := partition.ParseObjectKey(l.lake.Prefix(), i.Key)
			if err != nil {
				return nil // not one of ours
			}
			s, ok := spans[name.Writer]
			if ok && s.first <= name.Start && name.Start < s.end && !named[i.Key] {
				keys = append(keys, i.Key)
			}
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("list objects of %s: %w", l.id, err)
	}
	return keys, nil
}
