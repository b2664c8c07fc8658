package decode

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// maxLine bounds a line, and with it what a hostile object can have allocated.
const maxLine = 1 << 30

// lines is the lines of a JSONL object, one at a time.
type lines struct {
	lineRow
	in   *reader
	r    *bufio.Reader
	done func()
	long []byte
}

func openLines(o Object, s layout) (*lines, error) {
	l := &lines{in: &reader{r: o.Content}, lineRow: newLineRow(&faults{}, s.fields), done: func() {}}
	var r io.Reader = io.NewSectionReader(l.in, 0, o.Size)
	switch o.Ext {
	case "jsonl":
	case "jsonl.gz":
		z, err := gzip.NewReader(r)
		if err != nil {
			return nil, l.in.blame(err)
		}
		r = z
	case "jsonl.zst":
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(64<<20))
		if err != nil {
			return nil, l.in.blame(err)
		}
		r, l.done = z, z.Close
	default:
		return nil, fmt.Errorf("suffix %q is none that is known", o.Ext)
	}
	l.r = bufio.NewReaderSize(r, 256<<10)
	return l, nil
}

func (l *lines) close() { l.done() }

func (l *lines) wrong() error { return l.faults.take() }

// next reads the next line and finds its fields.
func (l *lines) next() (bool, error) {
	l.long = l.long[:0]
	for {
		part, err := l.r.ReadSlice('\n')
		switch {
		case err == nil && len(l.long) == 0:
			return true, l.take(string(part))
		case err == nil:
			return true, l.take(string(append(l.long, part...)))
		case errors.Is(err, io.EOF) && len(l.long)+len(part) == 0:
			return false, nil
		case errors.Is(err, io.EOF):
			return false, malformed("the last line has no end")
		case !errors.Is(err, bufio.ErrBufferFull):
			return false, l.in.blame(err)
		case len(l.long)+len(part) > maxLine:
			return false, malformed("a line is longer than %d bytes", maxLine)
		}
		l.long = append(l.long, part...)
	}
}

// take finds the fields of a line.
func (l *lines) take(line string) error {
	p := parser{s: line}
	if err := l.split(&p); err != nil {
		return err
	}
	if p.space(); p.i != len(p.s) {
		return p.unexpected()
	}
	return nil
}
