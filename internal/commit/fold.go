package commit

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/partition"
)

// ahead folds what lies behind the state. It costs one request where there is
// nothing.
func (l *Log) ahead(ctx context.Context) error {
	m, sha, err := l.look(ctx, l.state.K+1)
	if errors.Is(err, lake.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = l.accept(ctx, m, sha)
	}
	if err != nil {
		return err
	}
	return l.catchUp(ctx)
}

// catchUp folds what is listed behind the state.
func (l *Log) catchUp(ctx context.Context) error {
	last, err := l.list(ctx, l.state.K)
	if err != nil {
		return err
	}
	return l.leapTo(ctx, last)
}

// foresee folds what others committed since this process's newest window, if
// they did so before: a put that is sure to be refused costs more than a look.
// Where they are as many each time, one read is enough.
func (l *Log) foresee(ctx context.Context) error {
	switch {
	case l.gap == 0:
		return nil
	case !l.steady || l.gap > l.opts.scale.span:
		return l.catchUp(ctx)
	}
	m, sha, err := l.look(ctx, l.state.K+l.gap)
	switch {
	case err == nil && l.gap == 1:
		return l.accept(ctx, m, sha)
	case err == nil && m.Writers != nil:
		return l.leap(m, sha)
	case errors.Is(err, lake.ErrNotExist) && l.gap == 1:
		return nil
	case err != nil && !errors.Is(err, lake.ErrNotExist):
		return err
	}
	return l.catchUp(ctx)
}

// leapTo folds the manifests up to number n, which exists. It reads as few as
// tell of all, and each one where they are of version 1.
func (l *Log) leapTo(ctx context.Context, n uint64) error {
	errStep := errors.New("a manifest that does not tell of those before it")
	for l.state.K < n {
		err := l.each(ctx, leaps(l.state.K, n, l.opts.scale.span), func(m lake.Manifest, sha string) error {
			switch {
			case m.K == l.state.K+1:
				return l.accept(ctx, m, sha)
			case m.Writers == nil:
				return errStep
			}
			return l.leap(m, sha)
		})
		if errors.Is(err, errStep) {
			to := min(n, l.state.K+l.opts.scale.span)
			err = l.each(ctx, steps(l.state.K, to), func(m lake.Manifest, sha string) error { return l.accept(ctx, m, sha) })
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// leaps are the numbers behind k, span apart, and n.
func leaps(k, n, span uint64) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for at := k; at < n; {
			at = min(at+span, n)
			if !yield(at) {
				return
			}
		}
	}
}

// steps are the numbers behind k up to n.
func steps(k, n uint64) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for at := k + 1; at <= n && yield(at); at++ {
		}
	}
}

// each reads the manifests with the numbers ks and folds them in their order.
func (l *Log) each(ctx context.Context, ks iter.Seq[uint64], fold func(m lake.Manifest, sha string) error) error {
	done := uint64(0)
	err := l.do("read-manifests", func() error {
		return l.lake.ManifestsAt(ctx, l.id, ks, func(k uint64, m lake.Manifest, sha string) error {
			done = k
			return fold(m, sha)
		})
	})
	if err == nil {
		return nil
	}
	for k := range ks { // they come in order: it is the next one
		if k > done {
			return l.explain(k, err)
		}
	}
	return err
}

// accept folds m, which is at number K+1.
func (l *Log) accept(ctx context.Context, m lake.Manifest, sha string) error {
	if why := place(&l.state, l.lake.Prefix(), l.id, m); why != "" {
		return l.blocked(m.K, why, nil)
	}
	end, err := l.end(ctx, m.Writer, m.After, m.Start)
	if err != nil {
		return err
	}
	if !follows(m, end) {
		return l.blocked(m.K, followsNot(m, end), nil)
	}
	if why := disagrees(&l.state, l.opts.scale.span, m); why != "" {
		return l.blocked(m.K, why, nil)
	}
	l.state.fold(m, sha)
	l.bound()
	return nil
}

// leap folds m, which names the writers of all manifests behind K.
func (l *Log) leap(m lake.Manifest, sha string) error {
	if why := disagrees(&l.state, l.opts.scale.span, m); why != "" {
		return l.blocked(m.K, why, nil)
	}
	l.state.leap(m, sha)
	l.bound()
	return nil
}

// bound keeps the state from growing between two writes of the head.
func (l *Log) bound() {
	if len(l.state.writers) > l.opts.scale.writers+lake.Span {
		l.prune()
	}
}

func (l *Log) prune() {
	l.state.prune(pruning{before: seconds(time.Now().Add(-l.opts.Retention)), spare: l.isOwn, scale: l.opts.scale})
}

// look reads manifest k. One that is there but is no manifest blocks the log;
// other errors may pass.
func (l *Log) look(ctx context.Context, k uint64) (m lake.Manifest, sha string, err error) {
	err = l.do("look", func() (err error) {
		m, sha, err = l.lake.Manifest(ctx, l.id, k)
		return err
	})
	return m, sha, l.explain(k, err)
}

// explain returns err, of reading manifest k, or that the log is blocked by
// what is there.
func (l *Log) explain(k uint64, err error) error {
	if errors.Is(err, lake.ErrNoManifest) {
		return l.blocked(k, err.Error(), err)
	}
	return err
}

func (l *Log) blocked(k uint64, why string, err error) error {
	return &Blocked{Key: partition.ManifestKey(l.lake.Prefix(), l.id, k), Why: why, Err: err}
}

func followsNot(m lake.Manifest, end int64) string {
	return fmt.Sprintf("it follows stamp %d of writer %s, which is committed up to %d", m.After, m.Writer, end)
}
