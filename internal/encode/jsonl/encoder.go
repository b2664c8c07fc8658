package jsonl

import (
	"fmt"

	"github.com/s3window/s3window/internal/encode/idle"
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
	max    int
	keeper *idle.Keeper // of stagers
}

// New returns an encoder that gives working memory of up to scratch bytes to a
// keeper.
func New(c Config, keeper *idle.Keeper, scratch int) (*Encoder, error) {
	codec, err := codecOf(c)
	if err != nil {
		return nil, err
	}
	if _, err := newStager(c); err != nil {
		return nil, err
	}
	return &Encoder{config: c, codec: codec, max: scratch, keeper: keeper}, nil
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
func (e *Encoder) Stage(entries []otlp.Entry) (out Staged, err error) {
	err = e.with(func(s *stager) (err error) {
		out, err = s.stage(entries)
		return err
	})
	return out, err
}

// Check returns the error that Stage returns for entries, without their lines.
func (e *Encoder) Check(entries []otlp.Entry) error {
	return e.with(func(s *stager) error { return s.check(entries) })
}

// with calls do with a stager. One in which it panicked is not used again.
func (e *Encoder) with(do func(*stager) error) error {
	memory, ok := e.keeper.Take(e)
	defer e.keeper.Done()
	s, _ := memory.(*stager)
	if !ok {
		var err error
		if s, err = newStager(e.config); err != nil {
			return err
		}
	}
	err := do(s)
	if s.held() <= e.max {
		e.keeper.Give(e, s)
	}
	return err
}
