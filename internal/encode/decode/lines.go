package decode

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/s3window/s3window/internal/encode/jsonl"
)

// maxLine bounds a line, and with it what a hostile object can have allocated.
const maxLine = 1 << 30

// lines is the lines of a JSONL object, one at a time.
type lines struct {
	lineRow
	in      *reader
	content io.Closer
	r       *bufio.Reader
	long    []byte
}

func openLines(o Object, s layout) (*lines, error) {
	l := &lines{in: &reader{r: o.Content}, lineRow: newLineRow(&faults{}, s.fields)}
	r, ok, err := jsonl.Open(o.Ext, io.NewSectionReader(l.in, 0, o.Size))
	if !ok {
		return nil, fmt.Errorf("suffix %q is none that is known", o.Ext)
	}
	if err != nil {
		return nil, l.in.blame(err)
	}
	l.r, l.content = bufio.NewReaderSize(r, 256<<10), r
	return l, nil
}

func (l *lines) close() { l.content.Close() }

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
