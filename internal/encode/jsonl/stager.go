package jsonl

import (
	"fmt"
	"math"

	"github.com/s3window/s3window/internal/encode/otlp"
	"github.com/s3window/s3window/internal/partition"
)

// stager is the working memory of one Stage call.
type stager struct {
	lines lines
	rows  rows
}

// rows makes the lines of one signal.
type rows interface {
	// group adds the lines of a group of an entry. After an error the lines of
	// this Stage are lost.
	group(l *lines, g *otlp.Group) error
	held() int
}

func newStager(c Config) (*stager, error) {
	codec, err := codecOf(c)
	if err != nil {
		return nil, err
	}
	z, err := codec.compressor(c.Level)
	if err != nil {
		return nil, err
	}
	s := &stager{lines: lines{compressor: z}}
	if s.rows, err = newRows(c); err != nil {
		return nil, err
	}
	return s, nil
}

func newRows(c Config) (rows, error) {
	switch c.Signal {
	case partition.Logs:
		return newLogs(c.Columns), nil
	case partition.Traces:
		return newTraces(c.Columns), nil
	case partition.Metrics:
		return newMetrics(c.Columns), nil
	}
	return nil, fmt.Errorf("signal %q cannot be encoded as JSON lines", c.Signal)
}

func (s *stager) held() int { return s.lines.held() + s.rows.held() }

// stage encodes entries without a look ahead. If one is malformed it returns an
// error, and no lines.
func (s *stager) stage(entries []otlp.Entry) (Staged, error) {
	if err := s.walk(entries); err != nil {
		return Staged{}, err
	}
	return s.lines.end()
}

// check does what stage does, and throws the lines away.
func (s *stager) check(entries []otlp.Entry) error {
	err := s.walk(entries)
	s.lines.drop()
	return err
}

func (s *stager) walk(entries []otlp.Entry) error {
	s.lines.start()
	for _, e := range entries {
		if err := s.entry(e); err != nil {
			s.lines.drop()
			return err
		}
	}
	return nil
}

func (s *stager) entry(e otlp.Entry) error {
	s.lines.received(e.ReceivedAt)
	groups := otlp.NewGroups(e.Payload)
	for groups.Next() {
		if err := s.rows.group(&s.lines, &groups.Group); err != nil {
			return err
		}
	}
	return groups.Err()
}

// flushBytes is how much is gathered before it is compressed; it bounds the
// memory for lines, unless one alone is longer.
const flushBytes = 64 << 10

// lines is the lines under construction and their way into segments.
type lines struct {
	compressor compressor
	out        segments
	buf        []byte
	mended     []byte
	err        error // of the compressor, which has no reason to fail

	receivedAt       int64 // of the current entry
	receivedText     []byte
	stamp            stamp
	ts               int64 // of the line under construction
	rows, replaced   int
	minTime, maxTime int64
}

func (l *lines) held() int { return cap(l.buf) + cap(l.mended) + cap(l.out.chunk) + compressorBytes }

// start begins the lines of a Stage call.
func (l *lines) start() {
	l.out = segments{chunk: l.out.chunk[:0]}
	l.compressor.Reset(&l.out)
	l.buf, l.err, l.rows, l.replaced = l.buf[:0], nil, 0, 0
	l.minTime, l.maxTime = math.MaxInt64, math.MinInt64
}

func (l *lines) drop() { l.out = segments{chunk: l.out.chunk[:0]} }

func (l *lines) received(at int64) {
	l.receivedAt = at
	sec, rest := floorDiv(at, 1e6)
	l.receivedText = l.stamp.append(l.receivedText[:0], sec, uint32(rest)*1000)
}

// begin returns buf with the beginning of a line: its ts, which is nanos, or
// when the entry was received if that is 0.
func (l *lines) begin(nanos uint64) []byte {
	b := append(l.buf, `{"ts":`...)
	if nanos == 0 {
		l.ts = l.receivedAt
		return append(b, l.receivedText...)
	}
	l.ts = int64(nanos / 1000)
	return l.stamp.append(b, int64(nanos/1e9), uint32(nanos%1e9))
}

// endLine counts the line that was appended to buf.
func (l *lines) endLine() {
	l.rows++
	l.minTime, l.maxTime = min(l.minTime, l.ts), max(l.maxTime, l.ts)
	if len(l.buf) >= flushBytes {
		l.flush()
	}
}

func (l *lines) flush() {
	if _, err := l.compressor.Write(l.buf); err != nil && l.err == nil {
		l.err = fmt.Errorf("compress lines: %w", err)
	}
	l.buf = l.buf[:0]
}

// mend makes buf valid UTF-8 from an index on.
func (l *lines) mend(from int) { l.buf = l.mendText(l.buf, from) }

func (l *lines) mendText(b []byte, from int) []byte {
	var n int
	l.mended, n = appendMended(l.mended[:0], b[from:])
	l.replaced += n
	return append(b[:from], l.mended...)
}

func (l *lines) end() (Staged, error) {
	if l.rows == 0 || l.err != nil {
		l.drop()
		return Staged{Replaced: l.replaced}, l.err
	}
	l.flush()
	if err := l.compressor.Close(); err != nil && l.err == nil {
		l.err = fmt.Errorf("compress lines: %w", err)
	}
	out := Staged{
		Segments: l.out.finish(), Rows: l.rows, MinTime: l.minTime, MaxTime: l.maxTime, Replaced: l.replaced,
	}
	for _, b := range out.Segments {
		out.Bytes += int64(cap(b))
	}
	l.drop()
	return out, l.err
}
