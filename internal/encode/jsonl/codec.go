package jsonl

import (
	"fmt"
	"io"
	"slices"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// codec is a way to compress lines.
type codec struct {
	name, ext, contentType string
	levels                 []string // that it takes; the first is what none given stands for
	compressor             func(level string) (compressor, error)
	open                   func(io.Reader) (io.ReadCloser, error)
}

func codecs() []codec {
	return []codec{
		{"zstd", "jsonl.zst", "application/zstd", []string{"fastest", "3"}, newZstd, openZstd},
		{"gzip", "jsonl.gz", "application/gzip", nil, newGzip, openGzip},
		{"none", "jsonl", "application/jsonl", nil, newPlain, openPlain},
	}
}

// codecOf returns the codec of a Config, whose level it takes.
func codecOf(c Config) (codec, error) {
	for _, x := range codecs() {
		if x.name == c.Codec && (c.Level == "" || slices.Contains(x.levels, c.Level)) {
			return x, nil
		}
	}
	return codec{}, fmt.Errorf("codec %q with level %q is not one of zstd (fastest, 3), gzip and none (no level)", c.Codec, c.Level)
}

// Open returns the lines of an object with a suffix. Its error is that of
// content that is not as the suffix says, or of reading. It returns false if the
// suffix is none of JSON lines.
func Open(ext string, r io.Reader) (lines io.ReadCloser, ok bool, err error) {
	for _, x := range codecs() {
		if x.ext == ext {
			lines, err = x.open(r)
			return lines, true, err
		}
	}
	return nil, false, nil
}

func newZstd(level string) (compressor, error) {
	speed := zstd.SpeedFastest
	if level == "3" {
		speed = zstd.SpeedDefault
	}
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(speed), zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(zstdWindow), zstd.WithEncoderCRC(true), zstd.WithZeroFrames(true))
	if err != nil {
		return nil, fmt.Errorf("set up zstd: %w", err)
	}
	return e, nil
}

func openZstd(r io.Reader) (io.ReadCloser, error) {
	z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(64<<20))
	if err != nil {
		return nil, err
	}
	return z.IOReadCloser(), nil
}

func newGzip(string) (compressor, error) { return gzip.NewWriterLevel(nil, gzipLevel) }

func openGzip(r io.Reader) (io.ReadCloser, error) { return gzip.NewReader(r) }

func newPlain(string) (compressor, error) { return &plain{}, nil }

func openPlain(r io.Reader) (io.ReadCloser, error) { return io.NopCloser(r), nil }
