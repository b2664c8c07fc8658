package window

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/s3window/s3window/internal/encode"
	"github.com/s3window/s3window/internal/flush"
	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/partition"
	"github.com/s3window/s3window/internal/wal"
	"github.com/s3window/s3window/internal/window/sealed"
)

// Queue is the write-ahead queue as this package reads it; *wal.WAL is one.
type Queue interface {
	sealed.Queue
	Next(ctx context.Context) (wal.Group, error)
	Read(ctx context.Context) ([]wal.Entry, error)
	Reach(from, below uint64) wal.Reach
	Scan(ctx context.Context, from, end uint64, want func(tenant, signal string) bool) (wal.Scanned, error)
	Safe() wal.Safe
	Now() int64
	Ahead() time.Duration
	Seals() []wal.Seal
	Writer() string
	Writers() []wal.Writer
	Backlog() []wal.Backlog
}

// Log is one partition's commit log at one lake; *commit.Log is one.
type Log = sealed.Log

// Target says what new windows of a partition are sealed to.
type Target struct {
	Lake  lake.Ref
	Align partition.Align
	Spec  encode.Spec
	// Limits say when they are sealed; zero means Options.Limits.
	Limits flush.Limits
}

// Backlog is what an operator wants done with what is queued for a tenant. The
// zero value has it committed.
type Backlog struct {
	// Parked leaves it in the queue: nothing is read, nothing is tried.
	Parked bool
	// DropBefore drops what was accepted before that time, microseconds since
	// the epoch. It is counted and named as lost.
	DropBefore int64
}

// Retry bounds the wait between attempts; attempts never end.
type Retry struct {
	Initial, Max time.Duration
}

// Options is what a Runtime is made of. All fields are required but those that
// say otherwise.
type Options struct {
	Queue    Queue
	Volatile bool // what is in the queue does not survive the process
	Sink     string
	Limits   flush.Limits  // of partitions whose Target says nothing else
	Tick     time.Duration // how often ages are looked at; 0 for what fits Limits
	Memory   int64         // hard bound on everything held for data, bytes
	Encoders int           // windows encoded at once
	Uploads  int           // windows uploaded at once; 0 for DefaultUploads
	Grace    time.Duration // for committing at shutdown
	Retry    Retry

	// Target says where and how new windows of a partition are filed.
	Target func(tenant string, signal partition.Signal) Target
	// Backlog says what becomes of a tenant's queued records; nil commits all.
	Backlog func(tenant string) Backlog
	// Open returns the lake that ref names, as the tenant may use it: the current
	// one, or one that an earlier configuration used and a seal or writer still
	// names. It is asked each time that the tenant's heads are read, and must
	// not wait.
	Open func(tenant string, ref lake.Ref) (*lake.Lake, error)
	// Log returns the commit log of a partition in a lake.
	Log func(l *lake.Lake, id partition.ID) Log

	// Damage is told what the queue finds damaged; manifests name it. Nil for
	// none.
	Damage *Damage

	Observer Observer
	Logger   *zap.Logger
	Step     func(label string) // called at labelled steps, where crash drills kill the process; nil for none
}

// DefaultUploads is how many windows are uploaded at once. What bounds uploads
// is memory; this bounds connections.
const DefaultUploads = 64

const (
	minData = 32 << 20
	// growth is by how much a window of a few records is larger when it is encoded.
	growth = 16 << 10
	// walBytes is what the queue holds for its reader: read-ahead, and the group
	// that is being read.
	walBytes = wal.HeldBytes + 8<<20
)

// reserved is what of the memory is set aside for the queue's read-ahead and
// the encoders' scratch.
func reserved(encoders int) int64 { return walBytes + int64(encoders)*encode.ScratchBytes }

// MinMemory is the least Memory that works with encoders windows encoded at
// once, bytes.
func MinMemory(encoders int) int64 { return reserved(encoders) + minData }

// MaxTarget is the largest window that fits memory, bytes: larger target sizes
// are not reached.
func MaxTarget(memory int64, encoders int) int64 { return flush.MaxSize(memory - reserved(encoders)) }

// MaxEntry is the largest payload a request may have: larger ones could not be
// held beside anything else. Bytes.
func MaxEntry(memory int64, encoders int) int64 { return (memory - reserved(encoders)) / 4 }

func (o *Options) validate() error {
	var errs []error
	if o.Encoders < 1 {
		errs = append(errs, fmt.Errorf("%d encoders: at least one is needed", o.Encoders))
	} else if least := MinMemory(o.Encoders); o.Memory < least {
		errs = append(errs, fmt.Errorf("memory limit of %d bytes is below %d, the least for %d encoders", o.Memory, least, o.Encoders))
	}
	return errors.Join(errs...)
}

func (o *Options) withDefaults() Options {
	out := *o
	if out.Uploads == 0 {
		out.Uploads = DefaultUploads
	}
	if out.Damage == nil {
		out.Damage = &Damage{}
	}
	if out.Step == nil {
		out.Step = func(string) {}
	}
	if out.Backlog == nil {
		out.Backlog = func(string) Backlog { return Backlog{} }
	}
	return out
}
