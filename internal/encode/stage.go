package encode

import (
	"bytes"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/s3window/s3window/internal/encode/dict"
	"github.com/s3window/s3window/internal/encode/otlp"
	"github.com/s3window/s3window/internal/encode/parquet"
)

// maxPayload bounds an entry, so that no page can outgrow Parquet's 31-bit
// sizes, whatever its values turn into as text.
const maxPayload = 256 << 20

// stager is the working memory of one Stage call.
type stager struct {
	table *parquet.Table
	rows  rows

	groups   []located
	order    []uint32 // indexes into groups, clustered by service
	services *dict.Strings
	rank     []uint32
	starts   []uint32
	text     []byte

	done             []*parquet.RowGroup
	minTime, maxTime int64
}

// located is a group of an entry, found but not decoded.
type located struct {
	otlp.Group
	received int64
	service  uint32 // number in services
}

func newStager(spec Spec) (*stager, error) {
	codec, err := spec.codec()
	if err != nil {
		return nil, err
	}
	t, err := parquet.NewTable(parquet.Config{Codec: codec, PageRows: 20000, PageBytes: 1 << 20, DictBytes: 1 << 20})
	if err != nil {
		return nil, err
	}
	s := &stager{table: t, services: dict.NewStrings()}
	if s.rows, err = newRows(t, spec); err != nil {
		return nil, err
	}
	s.reset()
	return s, nil
}

func (s *stager) held() int {
	return s.table.Held() + s.rows.held() + s.services.Held() +
		cap(s.groups)*128 + 4*(cap(s.order)+cap(s.rank)+cap(s.starts)) + cap(s.text)
}

// stage encodes entries without a look ahead: nearly all are well-formed. If one
// is malformed it returns an error, and nothing is left of the others either.
func (s *stager) stage(entries []Entry) (Staged, error) {
	defer s.reset()
	if err := s.walk(entries); err != nil {
		return Staged{}, err
	}
	s.cut()
	out := Staged{content: content{groups: slices.Clone(s.done)}, Replaced: s.table.Replaced()}
	for _, g := range s.done {
		out.Rows += g.Rows
		out.Bytes += int64(g.Held())
	}
	out.Size = out.Bytes
	if out.Rows > 0 {
		out.MinTime, out.MaxTime = s.minTime, s.maxTime
	}
	return out, nil
}

// check does what stage does before the last row group is ended.
func (s *stager) check(entries []Entry) error {
	defer s.reset()
	return s.walk(entries)
}

// walk puts the records of entries into their columns.
func (s *stager) walk(entries []Entry) error {
	for _, e := range entries {
		if err := s.locate(e); err != nil {
			return err
		}
	}
	s.cluster()
	for _, g := range s.order {
		if err := s.rows.group(s, &s.groups[g]); err != nil {
			return err
		}
	}
	return nil
}

// reset also lets go of the payloads.
func (s *stager) reset() {
	s.table.Reset()
	s.rows.reset()
	s.services.Reset()
	clear(s.groups)
	clear(s.done)
	s.groups, s.order, s.done = s.groups[:0], s.order[:0], s.done[:0]
	s.minTime, s.maxTime = math.MaxInt64, math.MinInt64
}

// time returns the ts of a row whose own time is nanos, or which has none if that
// is 0.
func (s *stager) time(nanos uint64, received int64) int64 {
	ts := received
	if nanos != 0 {
		ts = int64(nanos / 1000)
	}
	s.minTime, s.maxTime = min(s.minTime, ts), max(s.maxTime, ts)
	return ts
}

// cut ends a row group.
func (s *stager) cut() {
	if g := s.table.Finish(); g != nil {
		s.done = append(s.done, g)
	}
	s.rows.reset()
}

func (s *stager) locate(e Entry) error {
	groups := otlp.NewGroups(e.Payload)
	for groups.Next() {
		name, err := s.serviceName(groups.Group.Resource)
		if err != nil {
			return err
		}
		n, _ := s.services.Put(name)
		s.groups = append(s.groups, located{Group: groups.Group, received: e.ReceivedAt, service: n})
	}
	return groups.Err()
}

// serviceName returns the text of service.name as the column will have it,
// valid until the next call.
func (s *stager) serviceName(resource []byte) ([]byte, error) {
	a := otlp.NewAttributes(resource, otlp.ResourceAttributes)
	for a.Next() {
		if string(a.Key) != serviceNameKey {
			continue
		}
		v, at := otlp.ParseValue(a.Value)
		if at < 0 {
			return nil, otlp.Fault(at)
		}
		var err error
		if s.text, err = v.Text(s.text[:0]); err != nil {
			return nil, err
		}
		if utf8.Valid(s.text) {
			return s.text, nil
		}
		n := len(s.text)
		s.text = parquet.AppendMended(s.text, s.text)
		return s.text[n:], nil
	}
	return nil, a.Err()
}

// cluster orders the groups by service name, and those of one service as they
// were: a counting sort over the rank of each name.
func (s *stager) cluster() {
	n := s.services.Len()
	s.starts = append(s.starts[:0], make([]uint32, n+1)...)
	s.order = append(s.order[:0], make([]uint32, len(s.groups))...)
	s.rank = s.rank[:0]
	for i := range n {
		s.rank = append(s.rank, uint32(i))
	}
	slices.SortFunc(s.rank, func(a, b uint32) int { return bytes.Compare(s.services.At(a), s.services.At(b)) })
	// starts[k] becomes the place of the first group of service k.
	for _, g := range s.groups {
		s.starts[g.service]++
	}
	at := uint32(0)
	for _, k := range s.rank {
		at, s.starts[k] = at+s.starts[k], at
	}
	for i, g := range s.groups {
		s.order[s.starts[g.service]] = uint32(i)
		s.starts[g.service]++
	}
}
