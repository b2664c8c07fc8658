package encode

import (
	"fmt"
	"runtime"

	"github.com/s3window/s3window/internal/encode/idle"
	"github.com/s3window/s3window/internal/encode/otlp"
	"github.com/s3window/s3window/internal/encode/route"
)

// ScratchBytes bounds the memory that one Stage call uses beyond its input and
// its result, and each set that is kept between calls.
const ScratchBytes = 32 << 20

// Entry is one OTLP request as it stands in the WAL.
type Entry = otlp.Entry

// Staged is encoded row groups or lines, ready to be assembled.
type Staged struct {
	content
	filed    []filed // in place of content under a Spec with a Filing
	Rows     int
	Bytes    int64 // heap it holds
	Size     int64 // what it will have in objects, about
	MinTime  int64 // of the rows' ts, microseconds; 0 without rows
	MaxTime  int64
	Rejected []Rejected
	Replaced int   // strings that had invalid UTF-8 replaced
	Skewed   int64 // records whose own time is too far off to be filed under it
	Refiled  int64 // records that lost their place because there are too many
}

// Encoder encodes records under one Spec. It is safe for concurrent use.
type Encoder struct {
	spec   Spec
	base   format      // of what goes to one place
	format format      // base, or a filer over it
	rule   *route.Rule // of the filer, or nil

	onAttempt func([]Entry) // for tests; nil otherwise
}

// Memory bounds the working memory of several encoders together.
type Memory struct{ keeper *idle.Keeper }

// NewMemory returns a Memory of limit sets of up to ScratchBytes. Encoders that
// run in more calls at once have more, while these run.
func NewMemory(limit int) Memory { return Memory{idle.NewKeeper(limit)} }

// New returns an encoder that keeps a set of working memory for each call that can
// run at once. The error names everything that is wrong with spec.
func New(spec Spec) (*Encoder, error) { return NewMemory(runtime.GOMAXPROCS(0)).New(spec) }

// New is New for an encoder that shares its working memory.
func (m Memory) New(spec Spec) (*Encoder, error) {
	e := &Encoder{spec: spec}
	if err := e.make(m.keeper); err != nil {
		return nil, fmt.Errorf("encode %s: %w", spec.Signal, err)
	}
	return e, nil
}

func (e *Encoder) make(keeper *idle.Keeper) (err error) {
	if err := e.spec.validate(); err != nil {
		return err
	}
	if e.base, err = formatKinds()[e.spec.Format].make(e.spec, keeper); err != nil {
		return err
	}
	e.format = e.base
	if e.spec.Filing == nil {
		return nil
	}
	router, err := route.New(*e.spec.Filing, e.spec.Signal)
	if err != nil {
		return err
	}
	e.format, e.rule = &filer{e.base, router}, router.Rule()
	return nil
}

// Stage encodes the records of entries in order; in Parquet those of a row
// group are clustered by service. A record that is malformed, or that makes the
// encoder panic, is left out and listed in Rejected; the rows are those of the
// others alone. The error is not about the entries. Nothing of the payloads is
// retained but by Rejected.
func (e *Encoder) Stage(entries []Entry) (Staged, error) {
	out, err := e.attempt(entries)
	if refused(err) {
		return e.sift(entries)
	}
	return out, err
}
