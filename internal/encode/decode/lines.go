package decode

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/s3window/s3window/internal/encode/otlp"
)

// maxLine bounds a line, and with it what a hostile object can have allocated.
const maxLine = 1 << 30

// lineReader is the lines of a JSONL object, taken apart into fields.
type lineReader struct {
	in     *source
	r      *bufio.Reader
	done   func()
	names  []string       // of the fields that are known, in the order written
	number map[string]int // of a name
	long   []byte
	line   string
	spans  []span // of the fields' values in line; empty = absent
}

type span struct{ from, to int }

func openLines(o Object, names []string) (*lineReader, error) {
	l := &lineReader{
		in: &source{r: o.Content}, names: names, number: map[string]int{}, spans: make([]span, len(names)), done: func() {},
	}
	for i, n := range names {
		l.number[n] = i
	}
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

func (l *lineReader) close() { l.done() }

// next reads the next line and finds its fields.
func (l *lineReader) next() (bool, error) {
	l.long = l.long[:0]
	for {
		part, err := l.r.ReadSlice('\n')
		switch {
		case err == nil && len(l.long) == 0:
			l.line = string(part)
			return true, l.split()
		case err == nil:
			l.line = string(append(l.long, part...))
			return true, l.split()
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

// split finds the fields of the line.
func (l *lineReader) split() error {
	clear(l.spans)
	p, expect := parser{s: l.line}, 0
	err := p.members(func(key string) error {
		n, ok := expect, expect < len(l.names) && l.names[expect] == key
		if !ok {
			n, ok = l.number[key]
		}
		from := p.i
		if err := p.skip(); err != nil {
			return err
		}
		if ok {
			l.spans[n], expect = span{from, p.i}, n+1
		}
		return nil
	})
	if err != nil {
		return err
	}
	if p.space(); p.i != len(p.s) {
		return p.unexpected()
	}
	return nil
}

// field returns a parser of a field's value alone, or false if it is absent.
func (l *lineReader) field(n int) (parser, bool) {
	s := l.spans[n]
	return parser{s: l.line[:s.to], i: s.from}, s.to > 0
}

// raw returns the JSON of a field.
func (l *lineReader) raw(n int) string { return l.line[l.spans[n].from:l.spans[n].to] }

func (l *lineReader) text(n int) (string, error) {
	p, ok := l.field(n)
	if !ok {
		return "", nil
	}
	p.space()
	s, err := p.text()
	if err != nil {
		return "", fmt.Errorf("field %q: %w", l.names[n], err)
	}
	return s, nil
}

func (l *lineReader) int(n int) (int64, error) {
	p, ok := l.field(n)
	if !ok {
		return 0, nil
	}
	p.space()
	text := p.number()
	x, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, malformed("field %q is no integer: %q", l.names[n], short(l.raw(n)))
	}
	return x, nil
}

func (l *lineReader) value(v pcommon.Value, n, types int) error {
	p, ok := l.field(n)
	if !ok {
		return nil
	}
	letters, err := l.text(types)
	if err != nil {
		return err
	}
	if len(letters) != 1 {
		return malformed("field %q has the types %q", l.names[n], short(letters))
	}
	return typed(&p, v, otlp.Kind(letters[0]))
}

// typed reads a value that has a letter.
func typed(p *parser, v pcommon.Value, kind otlp.Kind) error {
	if err := p.value(v, kind, 0); err != nil {
		return err
	}
	if kindOf(v) != kind {
		return malformed("a value is not of type %q", kind)
	}
	return nil
}

// attributes fills to with the entries of an object.
func (l *lineReader) attributes(to pcommon.Map, n, types int) error {
	letters, err := l.text(types)
	if err != nil {
		return err
	}
	var kvs attributes
	count := 0
	if p, ok := l.field(n); ok {
		err = p.members(func(key string) error {
			if count++; count > len(letters) {
				return malformed("field %q has more entries than types", l.names[n])
			}
			return typed(&p, kvs.AppendEmpty(key), otlp.Kind(letters[count-1]))
		})
	}
	kvs.into(to)
	if err == nil && count != len(letters) {
		err = malformed("field %q has %d entries and %d types", l.names[n], count, len(letters))
	}
	return err
}
