package commit

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/s3window/s3window/extension/leaseextension/lease"
	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/partition"
)

// The defaults of Options.
const (
	DefaultRetention = 30 * 24 * time.Hour
	DefaultTimeout   = 30 * time.Second
)

// Options are a Log's settings. The zero value is good for tests.
type Options struct {
	// Turns has every commit wait for its turn on the head's lease. That is
	// for leases that are cheaper than the bucket's requests. Without it,
	// commits take turns only where they meet each other in the bucket.
	Turns bool

	// Holder names this process in the lease; empty leaves the lease's own.
	Holder string

	// Predecessors says which holders are earlier processes of the same WAL,
	// known to be dead: their lease is taken over at once.
	Predecessors func(holder string) bool

	// Survey, where it is set, tells which partitions cannot have a commit log
	// yet, so that nothing is asked about them.
	Survey *Survey

	// Retention is for how long a head names a writer that commits nothing
	// more; 0 means DefaultRetention. Too short a time costs reading
	// manifests, never a record.
	Retention time.Duration

	// Timeout bounds one write, its repetitions included; 0 means
	// DefaultTimeout.
	Timeout time.Duration

	// Step is called before and after each durable operation, on the goroutine
	// that does the work, with "commit:<operation>" and "commit:<operation>
	// done". Crash drills kill the process there.
	Step func(label string)

	// Failed is told of operations on the head and its lease that failed and
	// that nothing waits for.
	Failed func(operation string, err error)

	scale scale // tests make it small
}

// scale says after how many windows something is due.
type scale struct {
	span    uint64 // the windows whose writers a manifest names
	save    uint64 // since the head was saved, where commits take no turns
	writers int    // that a head names
}

var fullScale = scale{span: lake.Span, save: saveEvery, writers: maxWriters}

// Log is the commit log of one partition at one lake. It is safe for
// concurrent use; calls take turns.
type Log struct {
	lake   *lake.Lake
	leases lease.Leases
	id     partition.ID
	name   string // of the head's register
	opts   Options

	// turn holds one token while a call runs. Whoever put it there owns the
	// fields below.
	turn  chan struct{}
	known bool  // state covers all that was in the bucket when this process first asked
	state State // the fold of what this process met. It goes back only where the bucket did

	// doubted says that requests to the bucket failed since the state was found
	// to be of the log that is there: the bucket may be another one by now.
	doubted atomic.Bool

	own map[string]resolved // writers that this process asked for

	unfit  bool   // the head is not of the log that is in the bucket
	saveAt uint64 // at this window the head is saved, where commits take no turns

	newest uint64 // number of the newest window of this process; 0 = none
	gap    uint64 // how many of others were between its last two
	steady bool   // as many as between the two before

	turns int // commits for which the lease is still taken, because others were met
}

// resolved says how far a writer was committed when the log had asOf windows.
type resolved struct {
	end  int64
	asOf uint64
}

// Doubt has the next call look whether the bucket still has the log that this
// process knows: its objects could not be put, so it may have been deleted and
// made again, or set back. It costs that call one request.
func (l *Log) Doubt() { l.doubted.Store(true) }

// New makes the commit log of partition id at lake l, with its head in leases.
// It does no I/O.
func New(l *lake.Lake, leases lease.Leases, id partition.ID, opts Options) *Log {
	if opts.Retention == 0 {
		opts.Retention = DefaultRetention
	}
	if opts.Timeout == 0 {
		opts.Timeout = DefaultTimeout
	}
	if opts.Step == nil {
		opts.Step = func(string) {}
	}
	if opts.Failed == nil {
		opts.Failed = func(string, error) {}
	}
	if opts.scale == (scale{}) {
		opts.scale = fullScale
	}
	ref := l.Ref()
	return &Log{
		lake: l, leases: leases, id: id, opts: opts, own: map[string]resolved{},
		name: partition.HeadName(ref.Bucket, ref.Prefix, id),
		turn: make(chan struct{}, 1),
	}
}

// ID returns the partition.
func (l *Log) ID() partition.ID { return l.id }

// enter waits until no other call of the Log runs.
func (l *Log) enter(ctx context.Context) error {
	select {
	case l.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for the commit log of %s: %w", l.id, context.Cause(ctx))
	}
}

func (l *Log) leave() { <-l.turn }

// isOwn says that this process's WAL has the writer.
func (l *Log) isOwn(writer string) bool {
	_, ok := l.own[writer]
	return ok
}

// do runs one durable operation between its two labels.
func (l *Log) do(operation string, f func() error) error {
	l.opts.Step("commit:" + operation)
	err := f()
	l.opts.Step("commit:" + operation + " done")
	return err
}
