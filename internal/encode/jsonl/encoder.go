package jsonl

import (
	"fmt"
	"runtime"
	"sync"

	"github.com/s3window/s3window/internal/encode/otlp"
	"github.com/s3window/s3window/internal/partition"
)

// Place says whose attribute a promoted column has.
type Place int

// The places of attributes.
const (
	Record Place = iota
	Scope
	Resource
)

// Column is a promoted attribute. It takes values of one kind.
type Column struct {
	Place Place
	Key   string
	As    string
	Kind  otlp.Kind
}

// Config pins everything that decides which bytes an Encoder makes of records.
type Config struct {
	Signal  partition.Signal
	Codec   string // zstd, gzip, none
	Level   string // of zstd: fastest (the default), 3
	Columns []Column
}

// Staged is the lines of one Stage call, compressed.
type Staged struct {
	Segments [][]byte // one frame or member; nothing without rows
	Rows     int
	Bytes    int64 // of the segments
	MinTime  int64 // of the rows' ts, microseconds; 0 without rows
	MaxTime  int64
	Replaced int // strings that had invalid UTF-8 replaced
}

// Encoder makes lines of requests. It is safe for concurrent use.
type Encoder struct {
	config Config
	codec  codec
	limit  int
	max    int

	// mu guards idle: stagers with their memory, kept for the next calls.
	mu   sync.Mutex
	idle []*stager
}

// New returns an encoder that keeps up to scratch bytes for each call it can
// run at once.
func New(c Config, scratch int) (*Encoder, error) {
	codec, err := codecOf(c)
	if err != nil {
		return nil, err
	}
	s, err := newStager(c)
	if err != nil {
		return nil, err
	}
	return &Encoder{config: c, codec: codec, limit: runtime.GOMAXPROCS(0), max: scratch, idle: []*stager{s}}, nil
}

// Check tells whether the codec takes the level, and is one.
func (c Config) Check() error {
	_, err := codecOf(c)
	return err
}

// Ext returns the suffix of objects.
func (e *Encoder) Ext() string { return e.codec.ext }

// ContentType returns the media type of objects.
func (e *Encoder) ContentType() string { return e.codec.contentType }

// Empty returns an object without lines, as one or no segment.
func (e *Encoder) Empty() ([][]byte, error) {
	c, err := e.codec.compressor(e.config.Level)
	if err != nil {
		return nil, err
	}
	out := &segments{}
	c.Reset(out)
	if err := c.Close(); err != nil {
		return nil, fmt.Errorf("compress nothing: %w", err)
	}
	return out.finish(), nil
}

// Stage encodes the records of entries in their order, all or none: if one is
// malformed the error wraps otlp.ErrMalformed. Nothing of the payloads is
// retained. After a panic the Encoder may be used as before.
func (e *Encoder) Stage(entries []otlp.Entry) (Staged, error) {
	s, err := e.take()
	if err != nil {
		return Staged{}, err
	}
	out, err := s.stage(entries)
	e.give(s) // not in a defer: what panicked is not used again
	return out, err
}

// Check returns the error that Stage returns for entries, without their lines.
func (e *Encoder) Check(entries []otlp.Entry) error {
	s, err := e.take()
	if err != nil {
		return err
	}
	err = s.check(entries)
	e.give(s)
	return err
}

func (e *Encoder) take() (*stager, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if n := len(e.idle); n > 0 {
		s := e.idle[n-1]
		e.idle = e.idle[:n-1]
		return s, nil
	}
	return newStager(e.config)
}

func (e *Encoder) give(s *stager) {
	if s.held() > e.max {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.idle) < e.limit {
		e.idle = append(e.idle, s)
	}
}
