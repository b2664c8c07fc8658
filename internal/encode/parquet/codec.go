package parquet

import (
	"fmt"
	"slices"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
)

// Codec names a page compression and its level.
type Codec string

// The codecs. ZstdDefault is zstd's level 3: about 3 % smaller than
// ZstdFastest, at half as much CPU again.
const (
	Uncompressed Codec = "none"
	Snappy       Codec = "snappy"
	ZstdFastest  Codec = "zstd-fastest"
	ZstdDefault  Codec = "zstd-3"
)

// zstdWindow is how far back matches are looked for. A larger one makes pages
// no smaller, and the encoder twice as much larger.
const zstdWindow = 512 << 10

// compressor appends compressed pages. One is for one goroutine at a time;
// what it makes of a page does not depend on earlier pages.
type compressor interface {
	compress(dst, page []byte) []byte
	codec() format.CompressionCodec
}

func newCompressor(c Codec) (compressor, error) {
	level := zstd.SpeedFastest
	switch c {
	case Uncompressed:
		return noCompressor{}, nil
	case Snappy:
		return snappyCompressor{}, nil
	case ZstdFastest:
	case ZstdDefault:
		level = zstd.SpeedDefault
	default:
		return nil, fmt.Errorf("codec %q is not known", c)
	}
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(level), zstd.WithEncoderConcurrency(1),
		zstd.WithEncoderCRC(false), zstd.WithZeroFrames(true),
		zstd.WithWindowSize(zstdWindow), zstd.WithAllLitEntropyCompression(true))
	if err != nil {
		return nil, fmt.Errorf("set up zstd: %w", err)
	}
	return zstdCompressor{e}, nil
}

type noCompressor struct{}

func (noCompressor) compress(dst, page []byte) []byte { return append(dst, page...) }
func (noCompressor) codec() format.CompressionCodec   { return format.Uncompressed }

type zstdCompressor struct{ e *zstd.Encoder }

func (z zstdCompressor) compress(dst, page []byte) []byte { return z.e.EncodeAll(page, dst) }
func (zstdCompressor) codec() format.CompressionCodec     { return format.Zstd }

type snappyCompressor struct{}

func (snappyCompressor) compress(dst, page []byte) []byte {
	n := s2.MaxEncodedLen(len(page))
	at := len(dst)
	dst = slices.Grow(dst, n)
	return dst[:at+len(s2.EncodeSnappy(dst[at:at+n:at+n], page))]
}

func (snappyCompressor) codec() format.CompressionCodec { return format.Snappy }
