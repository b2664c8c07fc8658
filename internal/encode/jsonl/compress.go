package jsonl

import (
	"bytes"
	"io"
)

// compressor is a zstd.Encoder or gzip.Writer. What it makes of lines does not
// depend on what it made before, nor on how they are cut into writes.
type compressor interface {
	io.WriteCloser
	Reset(io.Writer)
}

const (
	// zstdWindow is how far back zstd looks. Lines that resemble each other
	// stand close together, so more would cost memory for nothing.
	zstdWindow = 1 << 20
	// gzipLevel is where more time stops to pay in bytes.
	gzipLevel = 5
	// compressorBytes is about what a compressor holds.
	compressorBytes = 4 << 20
)

// plain passes lines on as they are.
type plain struct{ w io.Writer }

func (p *plain) Write(b []byte) (int, error) { return p.w.Write(b) }
func (p *plain) Close() error                { return nil }
func (p *plain) Reset(w io.Writer)           { p.w = w }

// segmentBytes is the largest segment of a Stage.
const segmentBytes = 1 << 20

// segments gathers written bytes in pieces, so that much output is neither
// copied as it grows nor allocated beyond its size.
type segments struct {
	chunk []byte // the piece under construction; its memory is used again
	done  [][]byte
}

// Write implements io.Writer.
func (s *segments) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		k := min(segmentBytes-len(s.chunk), len(b))
		s.chunk, b = append(s.chunk, b[:k]...), b[k:]
		if len(s.chunk) == segmentBytes {
			s.cut()
		}
	}
	return n, nil
}

func (s *segments) cut() {
	s.done = append(s.done, bytes.Clone(s.chunk))
	s.chunk = s.chunk[:0]
}

// finish returns everything written.
func (s *segments) finish() [][]byte {
	if len(s.chunk) > 0 {
		s.cut()
	}
	return s.done
}
