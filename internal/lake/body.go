package lake

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
)

// Body is the content of an object to put, in segments that are never joined
// or copied. Size and SHA256 are those of the segments together; NewBody
// computes them. A Body is read by uploads for as long as a call runs, so its
// segments must not change meanwhile.
type Body struct {
	Segments    [][]byte
	Size        int64
	SHA256      [sha256.Size]byte
	ContentType string
	Metadata    map[string]string // ASCII; keys in lower case
}

// NewBody makes a Body of segments and computes its size and hash.
func NewBody(contentType string, segments ...[]byte) Body {
	b := Body{Segments: segments, ContentType: contentType}
	h := sha256.New()
	for _, s := range segments {
		h.Write(s)
		b.Size += int64(len(s))
	}
	h.Sum(b.SHA256[:0])
	return b
}

// Reader returns a new reader over the segments. Readers are independent.
func (b Body) Reader() io.ReadSeeker {
	r := &bodyReader{segments: b.Segments}
	for _, s := range b.Segments {
		r.size += int64(len(s))
	}
	return r
}

// Bytes returns the content in one slice. It copies unless there is one
// segment.
func (b Body) Bytes() []byte {
	if len(b.Segments) == 1 {
		return b.Segments[0]
	}
	return bytes.Join(b.Segments, nil)
}

// cut returns the n bytes from offset as segments that share b's memory, fewer
// at the end.
func (b Body) cut(offset, n int64) [][]byte {
	var out [][]byte
	for _, s := range b.Segments {
		if offset >= int64(len(s)) {
			offset -= int64(len(s))
			continue
		}
		s = s[offset:]
		offset = 0
		if int64(len(s)) > n {
			s = s[:n]
		}
		if len(s) > 0 {
			out = append(out, s)
		}
		if n -= int64(len(s)); n == 0 {
			break
		}
	}
	return out
}

// bodyReader reads segments one after another.
type bodyReader struct {
	segments [][]byte
	size     int64
	pos      int64 // where the next Read starts
	seg      int   // the segment that pos lies in
	off      int   // pos within that segment
}

func (r *bodyReader) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) && r.seg < len(r.segments) {
		c := copy(p[n:], r.segments[r.seg][r.off:])
		n += c
		if r.off += c; r.off == len(r.segments[r.seg]) {
			r.seg, r.off = r.seg+1, 0
		}
	}
	r.pos += int64(n)
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

func (r *bodyReader) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += r.pos
	case io.SeekEnd:
		offset += r.size
	}
	if offset < 0 {
		return 0, errors.New("seek in body: negative position")
	}
	r.pos, r.seg, r.off = offset, 0, 0
	for rest := offset; r.seg < len(r.segments); r.seg++ {
		if n := int64(len(r.segments[r.seg])); rest >= n {
			rest -= n
			continue
		}
		r.off = int(rest)
		break
	}
	return offset, nil
}
