package window

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/s3window/s3window/internal/commit"
	"github.com/s3window/s3window/internal/encode"
	"github.com/s3window/s3window/internal/flush"
	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/partition"
	"github.com/s3window/s3window/internal/wal"
)

// Queue is the WAL as this package reads it; *wal.WAL is one.
type Queue interface {
	Next(ctx context.Context) (wal.Group, error)
	Read(ctx context.Context) ([]wal.Entry, error)
	Reread(ctx context.Context, seqs []uint64) ([]wal.Entry, error)
	Safe() wal.Safe
	Trim(ctx context.Context, seqs []uint64) error
	PutSeal(ctx context.Context, value []byte) (uint64, error)
	DeleteSeal(ctx context.Context, id uint64) error
	Seals() []wal.Seal
	Writer() string
	Writers() map[string][]byte
}

// Log is one partition's commit log at one lake; *commit.Log is one.
type Log interface {
	Read(ctx context.Context) (commit.Ends, error)
	Resolve(ctx context.Context, writer string, oldest int64) (int64, error)
	Commit(ctx context.Context, ws []commit.Window) (int, error)
	Sweep(ctx context.Context, writers ...string) ([]string, error)
}

// Target says what new windows of a partition are sealed to.
type Target struct {
	Lake  lake.Ref
	Align partition.Align
	Spec  encode.Spec
	// Limits say when they are sealed; zero means Options.Policy.
	Limits flush.Config
}

// Retry bounds the wait between attempts; attempts never end.
type Retry struct {
	Initial, Max time.Duration
}

// Options is what a Runtime is made of. All fields but Tick, Damage and Step are required.
type Options struct {
	Queue     Queue
	Sink      string
	Policy    flush.Config  // of partitions whose Target says nothing else
	Tick      time.Duration // how often ages are looked at; 0 for what fits Policy
	Memory    int64         // hard bound on everything held for data, bytes
	Consumers int           // windows encoded and uploaded at once
	Grace     time.Duration // for committing at shutdown
	Retry     Retry

	// Target says where and how new windows of a partition are filed.
	Target func(tenant string, signal partition.Signal) Target
	// Open gives the lake that ref names, as the tenant may use it: the current
	// one, or one that an earlier configuration used and a seal or writer still
	// names. It is asked each time that the tenant's heads are read, and must
	// not wait.
	Open func(tenant string, ref lake.Ref) (*lake.Lake, error)
	// Log gives the commit log of a partition in a lake.
	Log func(l *lake.Lake, id partition.ID) Log

	// Damage is told what the queue finds damaged; manifests name it. Nil for
	// none.
	Damage *Damage

	Observer Observer
	Logger   *zap.Logger
	Step     func(label string) // called at crash points; nil for none
}

// reserved is what of Memory is set aside for the WAL's read-ahead and the
// encoders' scratch.
func (o *Options) reserved() int64 {
	return walBytes + int64(o.encoders())*encode.ScratchBytes
}

// encoders is how many Stage calls run at once.
func (o *Options) encoders() int { return max(1, min(o.Consumers, 2)) }

// MinMemory is the least Memory that works with consumers windows at once,
// bytes.
func MinMemory(consumers int) int64 {
	o := Options{Consumers: consumers}
	return o.reserved() + minData
}

// MaxEntry is the largest payload a request may have under o's memory bound:
// larger ones could not be held beside anything else. Bytes.
func (o *Options) MaxEntry() int64 { return (o.Memory - o.reserved()) / 4 }

const (
	minData = 32 << 20
	// walBytes is what the WAL holds for its reader: read-ahead, and the group
	// that is being read.
	walBytes = wal.HeldBytes + 8<<20
)

func (o *Options) validate() error {
	var errs []error
	if o.Memory < MinMemory(o.Consumers) {
		errs = append(errs, fmt.Errorf("memory limit of %d bytes is below %d, the least for %d consumers",
			o.Memory, MinMemory(o.Consumers), o.Consumers))
	}
	if o.Consumers < 1 {
		errs = append(errs, fmt.Errorf("%d consumers: at least one is needed", o.Consumers))
	}
	return errors.Join(errs...)
}
