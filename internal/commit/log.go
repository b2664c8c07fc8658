package commit

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/s3window/s3window/extension/leaseextension/lease"
	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/partition"
)

// The defaults of Options.
const (
	DefaultRetention = 30 * 24 * time.Hour
	DefaultTimeout   = 30 * time.Second
	DefaultMargin    = 2 * time.Second
)

// Options are a Log's settings. The zero value is good for tests.
type Options struct {
	// Holder names this process in the lease; empty leaves the lease's own.
	Holder string

	// Predecessors says which holders are earlier processes of the same WAL,
	// known to be dead: their lease is taken over at once.
	Predecessors func(holder string) bool

	// Retention is for how long a head names a writer that commits nothing
	// more; 0 means DefaultRetention. Too short a time costs reading
	// manifests, never a record.
	Retention time.Duration

	// Timeout bounds one request under the lease; 0 means DefaultTimeout.
	Timeout time.Duration

	// Margin is how long before the lease's deadline the last request must
	// have ended, or a quarter of what is left of the lease if that is less; 0
	// means DefaultMargin.
	Margin time.Duration

	// Step is called before and after each durable operation and at each
	// crash point, on the goroutine that does the work. Tests crash there.
	// Labels are "commit:<operation>" and "commit:<operation> done".
	Step func(label string)
}

// Log is the commit log of one partition at one lake. It is safe for
// concurrent use; commits take turns.
type Log struct {
	lake   *lake.Lake
	leases lease.Leases
	id     partition.ID
	name   string // of the head's register
	opts   Options
	turn   chan struct{} // holds one token while a commit runs

	// mu guards seen, the newest state this process has read or written. It
	// saves Resolve a read, and decides nothing that is written.
	mu   sync.Mutex
	seen *State
}

// New makes the commit log of partition id at lake l, with its head in leases.
// It does no I/O.
func New(l *lake.Lake, leases lease.Leases, id partition.ID, opts Options) *Log {
	if opts.Retention == 0 {
		opts.Retention = DefaultRetention
	}
	if opts.Timeout == 0 {
		opts.Timeout = DefaultTimeout
	}
	if opts.Margin == 0 {
		opts.Margin = DefaultMargin
	}
	if opts.Step == nil {
		opts.Step = func(string) {}
	}
	ref := l.Ref()
	return &Log{
		lake: l, leases: leases, id: id, opts: opts,
		name: partition.HeadName(ref.Bucket, ref.Prefix, id),
		turn: make(chan struct{}, 1),
	}
}

// ID returns the partition.
func (l *Log) ID() partition.ID { return l.id }

// do runs one durable operation between its two labels.
func (l *Log) do(operation string, f func() error) error {
	l.opts.Step("commit:" + operation)
	err := f()
	l.opts.Step("commit:" + operation + " done")
	return err
}

func (l *Log) saw(s State) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen = &s
}

// acquire waits for the head's lease.
//
// Crash before this: nothing. Crash after it: the lease is held by nobody
// alive; the next process of this WAL takes it over at once, others after its TTL.
func (l *Log) acquire(ctx context.Context) (lease.Lease, error) {
	var opts []lease.AcquireOption
	if l.opts.Holder != "" {
		opts = append(opts, lease.WithHolder(l.opts.Holder))
	}
	if l.opts.Predecessors != nil {
		opts = append(opts, lease.WithPredecessors(l.opts.Predecessors))
	}
	var held lease.Lease
	err := l.do("acquire", func() (err error) {
		held, err = l.leases.Acquire(ctx, l.name, opts...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("acquire head %q: %w", l.name, err)
	}
	l.opts.Step("after_acquire")
	return held, nil
}

// rebuild folds the manifests in the bucket into a state. It refuses a log
// with a gap: going on behind one would give a number away twice.
func (l *Log) rebuild(ctx context.Context) (State, error) {
	var s State
	err := l.do("rebuild", func() error {
		return l.lake.Manifests(ctx, l.id, func(k uint64, m lake.Manifest, sha string) error {
			if k != s.K+1 {
				return l.blocked(k, fmt.Sprintf("manifest %d before it is missing", s.K+1), nil)
			}
			if why := place(s, l.lake.Prefix(), l.id, m); why != "" {
				return l.blocked(k, why, nil)
			}
			if end := s.Writers[m.Writer].End; !follows(m, end) {
				return l.blocked(k, followsNot(m, end), nil)
			}
			s = s.apply(m, sha)
			return nil
		})
	})
	if err == nil {
		return s, nil
	}
	if ctx.Err() == nil && !errors.As(err, new(*Blocked)) { // manifests come in order: it is the next one
		if why := l.unreadable(ctx, s.K+1); why != nil {
			err = l.blocked(s.K+1, why.Error(), why)
		}
	}
	return State{}, fmt.Errorf("rebuild head %q: %w", l.name, err)
}

// scan reads from the manifests up to s.K where writer is committed up to; 0
// if it never was. Later manifests are left out: they are not in s.
func (l *Log) scan(ctx context.Context, s State, writer string) (Writer, error) {
	var w Writer
	enough := errors.New("enough")
	err := l.do("scan", func() error {
		return l.lake.Manifests(ctx, l.id, func(k uint64, m lake.Manifest, _ string) error {
			if k > s.K {
				return enough
			}
			if m.Writer == writer {
				w = Writer{End: m.End, K: k, At: m.CommittedAt.UnixMicro()}
			}
			return nil
		})
	})
	if err != nil && !errors.Is(err, enough) {
		return Writer{}, fmt.Errorf("find the end of writer %q: %w", writer, err)
	}
	return w, nil
}

// end says where writer, whose next window is [start, …) after the stamp
// after, is committed up to. What the manifests had to tell is put into the
// returned state.
func (l *Log) end(ctx context.Context, s State, writer string, after, start int64) (int64, State, error) {
	if !s.ambiguous(writer, after, start) {
		return s.Writers[writer].End, s, nil
	}
	w, err := l.scan(ctx, s, writer)
	if err != nil || w.End == 0 {
		return 0, s, err
	}
	s = s.clone()
	s.Writers[writer] = w
	return w.End, s, nil
}

func (l *Log) blocked(k uint64, why string, err error) error {
	return &Blocked{Key: partition.ManifestKey(l.lake.Prefix(), l.id, k), Why: why, Err: err}
}
