package lake

import (
	"bytes"
	"crypto/sha256"
	"io"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

// bodies are all ways to cut the same content into segments.
func bodies() map[string][][]byte {
	return map[string][][]byte{
		"one":            {[]byte("abcdefghij")},
		"bytes":          {[]byte("a"), []byte("b"), []byte("c"), []byte("d"), []byte("e"), []byte("f"), []byte("g"), []byte("h"), []byte("i"), []byte("j")},
		"empty between":  {nil, []byte("abc"), {}, nil, []byte("defghi"), nil, []byte("j"), nil},
		"uneven":         {[]byte("ab"), []byte("cdefghi"), []byte("j")},
		"nil":            nil,
		"nil segments":   {nil, nil},
		"empty segments": {{}, {}},
	}
}

func TestBodyReader(t *testing.T) {
	for name, segments := range bodies() {
		t.Run(name, func(t *testing.T) {
			content := bytes.Join(segments, nil)
			b := NewBody("text/plain", segments...)
			require.Equal(t, int64(len(content)), b.Size)
			require.Equal(t, sha256.Sum256(content), b.SHA256)
			require.Equal(t, string(content), string(b.Bytes()))
			require.NoError(t, iotest.TestReader(b.Reader(), content))
			got, err := io.ReadAll(iotest.OneByteReader(b.Reader()))
			require.NoError(t, err)
			require.Equal(t, string(content), string(got))
		})
	}
}

func TestBodyReaderSeeks(t *testing.T) {
	for name, segments := range bodies() {
		t.Run(name, func(t *testing.T) {
			content := bytes.Join(segments, nil)
			ours, theirs := Body{Segments: segments}.Reader(), bytes.NewReader(content)
			for offset := int64(-12); offset <= 12; offset++ {
				for whence := range 3 {
					a, aErr := ours.Seek(offset, whence)
					b, bErr := theirs.Seek(offset, whence)
					require.Equal(t, bErr == nil, aErr == nil, "seek %d %d", offset, whence)
					require.Equal(t, b, a, "seek %d %d", offset, whence)
					x, y := make([]byte, 3), make([]byte, 3)
					n, _ := io.ReadFull(ours, x)
					m, _ := io.ReadFull(theirs, y)
					require.Equal(t, string(y[:m]), string(x[:n]), "read after seek %d %d", offset, whence)
				}
			}
		})
	}
}

func TestBodyCut(t *testing.T) {
	for name, segments := range bodies() {
		t.Run(name, func(t *testing.T) {
			b := NewBody("", segments...)
			content := b.Bytes()
			for offset := range len(content) + 2 {
				for n := 1; n < len(content)+2; n++ {
					lo, hi := min(offset, len(content)), min(offset+n, len(content))
					cut := b.cut(int64(offset), int64(n))
					require.Equal(t, string(content[lo:hi]), string(bytes.Join(cut, nil)), "cut %d %d", offset, n)
				}
			}
		})
	}
}

func TestBodyCutSharesMemory(t *testing.T) {
	b := NewBody("", []byte("abcdef"), []byte("ghi"))
	cut := b.cut(4, 3)
	require.Len(t, cut, 2)
	require.Same(t, &b.Segments[0][4], &cut[0][0])
	require.Same(t, &b.Segments[1][0], &cut[1][0])
}

func TestPartSizeKeepsWithinTheParts(t *testing.T) {
	for _, tc := range []struct{ configured, size, want int64 }{
		{0, 100 * mib, 16 * mib},
		{1, 100 * mib, 5 * mib},
		{8 * mib, 5 << 30, 8 * mib},
		{5 * mib, 5 << 40, (5<<40 + maxParts - 1) / maxParts},
	} {
		s := NewS3(nil, S3Options{PartSize: tc.configured})
		require.Equal(t, tc.want, s.partSize(tc.size))
		require.LessOrEqual(t, (tc.size+s.partSize(tc.size)-1)/s.partSize(tc.size), int64(maxParts))
	}
}

func BenchmarkBodyReader(b *testing.B) {
	segments := make([][]byte, 256)
	for i := range segments {
		segments[i] = make([]byte, 64<<10)
	}
	body := Body{Segments: segments}
	buf := make([]byte, 32<<10)
	b.SetBytes(256 * 64 << 10)
	b.ReportAllocs()
	for b.Loop() {
		r := body.Reader()
		for {
			if _, err := r.Read(buf); err != nil {
				break
			}
		}
	}
}
