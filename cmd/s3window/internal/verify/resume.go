package verify

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"sync"
)

// rules counts the versions of what an object is held to. What was judged by
// earlier rules is judged again.
const rules = 1

// mark names one judgement: this object, in this version, is what this manifest
// says of it.
type mark [16]byte

func markOf(manifest, key, etag string, size int64) mark {
	h := sha256.New()
	for _, part := range []string{strconv.Itoa(rules), manifest, key, etag, strconv.FormatInt(size, 10)} {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return mark(h.Sum(nil))
}

// Resume is a file that keeps which objects were judged sound, so that another
// run does not read them again. It is only ever appended to: a line that says
// what it is, then marks of 16 bytes. It may be deleted at any time, and need not
// be of this lake. It is safe for concurrent use.
//
// Marks take 16 bytes of memory each.
type Resume struct {
	known []mark // sorted; of earlier runs

	mu  sync.Mutex // guards everything declared below
	f   *os.File
	out *bufio.Writer
	n   int
	err error
}

const (
	resumeMagic = "s3window verify resume 1\n"
	flushEvery  = 32 // marks: what a kill can cost
)

// OpenResume opens the file, or creates it. The end of a file that was cut off
// is dropped; a file of another kind is refused and left as it is.
func OpenResume(name string) (*Resume, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	r := &Resume{f: f, out: bufio.NewWriter(f)}
	if err := r.load(); err != nil {
		f.Close()
		return nil, fmt.Errorf("read %q: %w", name, err)
	}
	return r, nil
}

func (r *Resume) load() error {
	content, err := io.ReadAll(r.f)
	if err != nil {
		return err
	}
	magic := []byte(resumeMagic)
	if len(content) < len(magic) && bytes.HasPrefix(magic, content) {
		content = nil // new, or cut off in its first line
	} else if !bytes.HasPrefix(content, magic) {
		return errors.New("it is no file of -resume, and is left as it is")
	}
	marks := bytes.TrimPrefix(content, magic)
	r.known = make([]mark, len(marks)/len(mark{}))
	for i := range r.known {
		r.known[i] = mark(marks[i*len(mark{}):])
	}
	end := int64(len(magic) + len(r.known)*len(mark{}))
	if content == nil {
		if _, err := r.f.WriteAt(magic, 0); err != nil {
			return err
		}
	}
	if err := r.f.Truncate(end); err != nil {
		return err
	}
	if _, err := r.f.Seek(end, io.SeekStart); err != nil {
		return err
	}
	slices.SortFunc(r.known, compareMarks)
	return nil
}

func compareMarks(a, b mark) int { return bytes.Compare(a[:], b[:]) }

// judged says whether an earlier run found m sound.
func (r *Resume) judged(m mark) bool {
	_, ok := slices.BinarySearchFunc(r.known, m, compareMarks)
	return ok
}

// sound keeps m. Errors come back from Close.
func (r *Resume) sound(m mark) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return
	}
	_, r.err = r.out.Write(m[:])
	if r.n++; r.err == nil && r.n%flushEvery == 0 {
		r.err = r.out.Flush()
	}
}

// Close writes what is left.
func (r *Resume) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = r.out.Flush()
	}
	if err := r.f.Close(); r.err == nil {
		r.err = err
	}
	return r.err
}
