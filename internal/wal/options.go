package wal

import (
	"errors"
	"math"
	"time"

	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.uber.org/zap"
)

// Sizer is what the queue's limit counts.
type Sizer string

// The sizers. An entry's bytes are those of its frame: payload, names and 76
// bytes more. A request counts until the last of its entries is trimmed,
// spread over its block (see Options.Limit).
const (
	Bytes    Sizer = "bytes"
	Items    Sizer = "items"
	Requests Sizer = "requests"
)

// Errors of Append. All but ErrTooLarge and ErrInvalid are worth a retry.
var (
	ErrFull     = errors.New("queue is full")
	ErrTooLarge = errors.New("request is larger than the queue's limit")
	ErrInvalid  = errors.New("record cannot be written")
	ErrClosed   = errors.New("queue is closed")
	// ErrUnknown says that the request may or may not be in the queue. A caller
	// that retries may be delivering it twice; one that does not may lose it.
	ErrUnknown = errors.New("outcome is unknown")
)

// Record is what is appended: one tenant's part of a request.
type Record struct {
	Tenant  string
	Signal  string
	Items   int
	Payload []byte // not kept after Append returned
}

// Entry is a record in the queue. Its payload must not be written to.
type Entry struct {
	Seq     uint64
	Writer  string
	Stamp   int64
	Segment uint64
	Tenant  string
	Signal  string
	Items   int
	Payload []byte
}

// Damage names something that was found damaged. What stood in the damaged
// part is zero.
type Damage struct {
	Kind    string // entry, seal, writer, mark or aside
	Seq     uint64 // or the number of the seal or writer
	Writer  string
	Stamp   int64
	Segment uint64
	Tenant  string
	Signal  string
	Items   int
	Bytes   int
	Reason  string
}

// Options of a WAL. The zero value is a queue in memory without a limit.
type Options struct {
	// Client is where the queue lives; Close closes it. Nil means memory only.
	Client storage.Client
	// Limit is how much the queue takes in, counted by Sizer; 0 means no limit.
	// What a trim frees is exact once the trimmed entry's whole block (1 MiB or
	// 256 entries) is trimmed, and a proportional share of the block until then.
	Limit int64
	Sizer Sizer // default Bytes
	// BlockOnOverflow lets Append wait for room instead of refusing.
	BlockOnOverflow bool
	// SegmentSize and SegmentAge end a segment; default 4 GiB and 15 minutes.
	SegmentSize int64
	SegmentAge  time.Duration
	// WriterInfo is stored beside this open's writer id, see Writers.
	WriterInfo []byte
	// OnDamage is told of damage, in the goroutine that found it. It must not block.
	OnDamage func(Damage)
	// Step is called before and after every write, with "wal:<operation>" and
	// "wal:<operation> done". Crash drills kill the process there.
	Step   func(label string)
	Logger *zap.Logger
}

func (o Options) withDefaults() Options {
	if o.Sizer == "" {
		o.Sizer = Bytes
	}
	if o.SegmentSize <= 0 {
		o.SegmentSize = 4 << 30
	}
	if o.SegmentAge <= 0 {
		o.SegmentAge = 15 * time.Minute
	}
	if o.OnDamage == nil {
		o.OnDamage = func(Damage) {}
	}
	if o.Step == nil {
		o.Step = func(string) {}
	}
	if o.Logger == nil {
		o.Logger = zap.NewNop()
	}
	return o
}

func (s Sizer) of(w weights) int64 {
	switch s {
	case Items:
		return w.items
	case Requests:
		return w.requests
	default:
		return w.bytes
	}
}

// validate refuses what a frame cannot hold.
func (r *Record) validate() error {
	switch {
	case len(r.Tenant) > maxTenant, len(r.Signal) > maxSignal, r.Items < 0, int64(r.Items) > math.MaxUint32:
		return ErrInvalid
	case int64(len(r.Payload)) > math.MaxInt32-2*math.MaxUint16: // bbolt's own limit of a value
		return ErrTooLarge
	}
	return nil
}
