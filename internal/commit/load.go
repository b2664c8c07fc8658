package commit

import (
	"context"
	"errors"
	"fmt"

	"github.com/s3window/s3window/extension/leaseextension/lease"
	"github.com/s3window/s3window/internal/lake"
)

// load makes the log known to this process: by its head and the manifests
// behind it, or by the manifests alone.
func (l *Log) load(ctx context.Context) error {
	if l.known {
		return l.prove(ctx)
	}
	l.saveAt = l.opts.scale.save
	if !l.opts.Survey.absent(ctx, l.id) {
		if err := l.read(ctx); err != nil {
			return err
		}
	}
	l.known = true
	return nil
}

// prove looks whether the bucket has the log that the state is the fold of, if
// that is in doubt. If it has another one, that one is folded: a state that is
// ahead of its bucket would leave a gap in it.
func (l *Log) prove(ctx context.Context) error {
	if !l.doubted.Swap(false) {
		return nil
	}
	fits, err := l.fits(ctx, &l.state)
	if err == nil && !fits {
		l.unfit, l.saveAt, l.newest, l.gap, l.steady = true, 0, 0, 0, false
		clear(l.own)
		err = l.rebuild(ctx)
	}
	if err != nil {
		l.doubted.Store(true)
	}
	return err
}

func (l *Log) read(ctx context.Context) error {
	s, err := l.head(ctx)
	if err != nil {
		return err
	}
	fits, err := l.fits(ctx, &s)
	if err != nil {
		return err
	}
	if l.unfit = !fits; l.unfit {
		l.saveAt = 0
	}
	if s.K == 0 || l.unfit {
		return l.rebuild(ctx)
	}
	l.state, l.saveAt = s, s.K+l.opts.scale.save
	return l.ahead(ctx)
}

// head reads the head; where there is none, the state is that of an empty log.
func (l *Log) head(ctx context.Context) (State, error) {
	var raw []byte
	err := l.do("read-head", func() (err error) {
		raw, err = l.leases.Read(ctx, l.name)
		return err
	})
	switch {
	case errors.Is(err, lease.ErrNotFound) || err == nil && raw == nil:
		return State{}, nil
	case err != nil:
		return State{}, fmt.Errorf("read head %q: %w", l.name, err)
	}
	return decodeState(raw)
}

// fits says whether the log in the bucket has the window that s ends with: a
// bucket that was set back has not.
func (l *Log) fits(ctx context.Context, s *State) (bool, error) {
	if s.K == 0 {
		return true, nil
	}
	_, sha, err := l.look(ctx, s.K)
	if errors.Is(err, lake.ErrNotExist) {
		return false, nil
	}
	return sha == s.ManifestSHA256, err
}

// rebuild folds the manifests in the bucket from the first one. It refuses a
// log with a gap: going on behind one would use a number twice.
func (l *Log) rebuild(ctx context.Context) error {
	last, err := l.list(ctx, 0)
	if err != nil {
		return fmt.Errorf("rebuild head %q: %w", l.name, err)
	}
	l.state = State{}
	if err := l.leapTo(ctx, last); err != nil {
		return fmt.Errorf("rebuild head %q: %w", l.name, err)
	}
	return nil
}

// list returns the number of the newest manifest that is listed behind number
// after; after if there is none.
func (l *Log) list(ctx context.Context, after uint64) (last uint64, err error) {
	last = after
	err = l.do("list", func() error {
		return l.lake.ListManifests(ctx, l.id, after, func(k uint64) error {
			if k != last+1 {
				return l.blocked(k, fmt.Sprintf("manifest %d before it is missing", last+1), nil)
			}
			last = k
			return nil
		})
	})
	return last, err
}
