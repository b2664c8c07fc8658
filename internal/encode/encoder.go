package encode

import (
	"fmt"
	"runtime"
	"sync"

	"github.com/s3window/s3window/internal/encode/jsonl"
	"github.com/s3window/s3window/internal/encode/otlp"
	"github.com/s3window/s3window/internal/encode/parquet"
	"github.com/s3window/s3window/internal/encode/route"
)

// Version is what manifests say an object was encoded with.
const Version = "s3window/0.1.0 parquet-go/0.32.0"

// ScratchBytes bounds the memory that one Stage call uses beyond its input and
// its result, and that an Encoder keeps for each call it can run at once.
const ScratchBytes = 32 << 20

// Entry is one OTLP request as it stands in the WAL.
type Entry = otlp.Entry

// Staged is encoded row groups or lines, ready to be assembled.
type Staged struct {
	groups   []*parquet.RowGroup
	lines    [][]byte // of JSONL, compressed
	filed    []filed  // in place of both under a Spec with a Filing
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
	schema parquet.Schema
	router *route.Router  // where records go to several places
	lines  *jsonl.Encoder // of format jsonl, which uses nothing of what is below
	limit  int

	// mu guards idle: stagers with their memory, kept for the next calls.
	mu   sync.Mutex
	idle []*stager

	onAttempt func([]Entry) // for tests; nil otherwise
}

// New returns an encoder. The error names everything that is wrong with spec.
func New(spec Spec) (*Encoder, error) {
	if err := spec.validate(); err != nil {
		return nil, fmt.Errorf("encode %s: %w", spec.Signal, err)
	}
	e := &Encoder{spec: spec, limit: runtime.GOMAXPROCS(0)}
	var err error
	if spec.Filing != nil {
		if e.router, err = route.New(*spec.Filing, spec.Signal); err != nil {
			return nil, fmt.Errorf("encode %s: %w", spec.Signal, err)
		}
	}
	if spec.Format == formatJSONL {
		if e.lines, err = newLines(spec); err != nil {
			return nil, fmt.Errorf("encode %s: %w", spec.Signal, err)
		}
		return e, nil
	}
	s, err := newStager(spec)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", spec.Signal, err)
	}
	e.schema = s.table.Schema("service_name")
	e.idle = append(e.idle, s)
	return e, nil
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

func (e *Encoder) stageColumns(entries []Entry) (Staged, error) {
	s, err := e.take()
	if err != nil {
		return Staged{}, err
	}
	out, err := s.stage(entries)
	e.give(s)
	return out, err
}

func (e *Encoder) take() (*stager, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if n := len(e.idle); n > 0 {
		s := e.idle[n-1]
		e.idle = e.idle[:n-1]
		return s, nil
	}
	s, err := newStager(e.spec)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", e.spec.Signal, err)
	}
	return s, nil
}

func (e *Encoder) give(s *stager) {
	if s.held() > ScratchBytes {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.idle) < e.limit {
		e.idle = append(e.idle, s)
	}
}
