package commit

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/s3window/s3window/internal/lake"
)

// resolve is end for a writer of this process's WAL, which prunings spare from
// now on.
func (l *Log) resolve(ctx context.Context, writer string, after, start int64) (int64, error) {
	end, err := l.end(ctx, writer, after, start)
	if err == nil {
		l.own[writer] = resolved{end: end, asOf: l.state.K}
	}
	return end, err
}

// end says where writer, whose next window is [start, …) after the stamp after,
// is committed up to by the state. Where the state does not tell, the manifests
// up to K do; later ones are not in the state and say nothing.
func (l *Log) end(ctx context.Context, writer string, after, start int64) (int64, error) {
	if w, ok := l.state.Writer(writer); ok {
		return w.End, nil
	}
	if !l.state.ambiguous(writer, after, start) {
		return 0, nil
	}
	w, err := l.scan(ctx, writer, l.own[writer].asOf)
	if err != nil {
		return 0, fmt.Errorf("find the end of writer %q: %w", writer, err)
	}
	if w.End == 0 {
		return l.own[writer].end, nil
	}
	l.state.set(writer, w.End, w.K, w.At)
	return w.End, nil
}

// scan looks for the newest window of writer among floor+1 … K, and returns a
// zero Writer if there is none. It reads as few as tell
// of all, from the newest back, and each one if one is of version 1.
func (l *Log) scan(ctx context.Context, writer string, floor uint64) (Writer, error) {
	var w Writer
	enough, silent := errors.New("enough"), errors.New("silent of those before it")
	err := l.do("scan", func() error {
		return l.lake.ManifestsAt(ctx, l.id, back(l.state.K, floor, l.opts.scale.span), func(_ uint64, m lake.Manifest, _ string) error {
			r, ok := m.Writers[writer]
			if ok {
				w = Writer{End: r.End, K: r.K, At: seconds(m.CommittedAt)}
				return enough
			}
			if m.Writers == nil {
				return silent
			}
			return nil
		})
	})
	if errors.Is(err, silent) {
		err = l.do("scan", func() error {
			return l.lake.ManifestsAfter(ctx, l.id, floor, func(k uint64, m lake.Manifest, _ string) error {
				if k > l.state.K {
					return enough
				}
				if m.Writer == writer {
					w = Writer{End: m.End, K: k, At: seconds(m.CommittedAt)}
				}
				return nil
			})
		})
	}
	if err != nil && !errors.Is(err, enough) {
		return Writer{}, err
	}
	if w.K <= floor {
		return Writer{}, nil
	}
	return w, nil
}

// back are the numbers from k down to above floor, step apart.
func back(k, floor, step uint64) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for at := k; at > floor && yield(at); {
			at -= min(at, step)
		}
	}
}
