package route

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/s3window/s3window/internal/encode/otlp"
)

// split is the working memory of one Split call.
type split struct {
	router *Router

	// What was found in the entries, one after the other; ends says where the
	// leaves of each end.
	leaves     []leaf
	ends       []int
	containers []container
	spans      []span
	rests      []*rest
	depth      int

	places  []Place
	numbers map[placeKey]int32
	last    struct {
		period int64
		number int32
	}

	rested int32 // number of the rest's place; negative until it is needed

	refiled, skewed int64 // items

	received int64 // of the entry at hand

	point otlp.Point // at hand

	// The values at hand, one per level.
	keys    []string
	taking  []int // levels whose values are being read
	found   []bool
	text    [][]byte
	stale   bool // current is that of earlier values
	current int32
	names   []string
	byName  map[string]int32
	known   map[string]int32
	key     []byte
}

func newSplit(r *Router) *split {
	n := len(r.rule.By)
	s := &split{
		router: r, rested: -1, numbers: map[placeKey]int32{}, byName: map[string]int32{}, known: map[string]int32{},
		keys: make([]string, n), found: make([]bool, n), text: make([][]byte, n), stale: true,
	}
	for i, l := range r.rule.By {
		s.keys[i] = cmp.Or(l.Attribute, l.ResourceAttribute, l.ScopeAttribute)
	}
	return s
}

// restPlace numbers the place of what cannot have one of its own.
func (s *split) restPlace() int32 {
	if s.rested < 0 {
		rest := s.router.rule.Rest()
		if s.rested = int32(slices.Index(s.places, rest)); s.rested < 0 {
			s.rested = int32(len(s.places))
			s.places = append(s.places, rest)
		}
	}
	return s.rested
}

// limit merges the places with the fewest items into the rest where there are
// more than n, or where what is around their items would be copied too often:
// bytes is the size of the entries.
func (s *split) limit(n int, bytes int64) {
	copies, all := s.copies()
	if len(s.places) <= n && all <= maxCopies*bytes {
		return
	}
	items := make([]int64, len(s.places))
	for _, l := range s.leaves {
		items[l.place] += int64(l.items)
	}
	order := make([]int32, len(s.places))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(items[b], items[a]) })
	rest := s.restPlace()
	gone := make([]bool, len(s.places))
	kept, copied := 0, int64(0)
	for _, p := range order {
		if kept < n && copied+copies[p] <= maxCopies*bytes {
			kept, copied = kept+1, copied+copies[p]
			continue
		}
		if p != rest {
			gone[p] = true
			s.refiled += items[p]
		}
	}
	for i := range s.leaves {
		if gone[s.leaves[i].place] {
			s.leaves[i].place = rest
		}
	}
}

// copies gives, for each place, the size of what is around its items: of every
// container that has some of them. all is their sum.
func (s *split) copies() (of []int64, all int64) {
	of = make([]int64, len(s.places))
	last := make([]int32, len(s.places)) // the container of a place's leaf before
	for i := range last {
		last[i] = -1
	}
	for _, l := range s.leaves {
		// Containers are numbered from the outside in, and one that a place has
		// left does not come again: up to where both meet, all are new.
		for a, b := l.in, last[l.place]; a != b; {
			if b > a {
				b = s.containers[b].parent
				continue
			}
			of[l.place] += s.containers[a].size
			all += s.containers[a].size
			a = s.containers[a].parent
		}
		last[l.place] = l.in
	}
	return of, all
}

// pieces gives the entries of every place.
func (s *split) pieces(entries []otlp.Entry) []Piece {
	all := make([]Piece, len(s.places))
	for i := range all {
		all[i].Place = s.places[i]
	}
	from := 0
	for i, e := range entries {
		s.deal(all, e, s.leaves[from:s.ends[i]])
		from = s.ends[i]
	}
	return slices.DeleteFunc(all, func(p Piece) bool { return len(p.Entries) == 0 })
}

// deal adds what of an entry belongs to a place to its piece.
func (s *split) deal(to []Piece, e otlp.Entry, leaves []leaf) {
	if len(leaves) == 0 {
		return
	}
	mixed := slices.ContainsFunc(leaves, func(l leaf) bool { return l.place != leaves[0].place })
	if mixed {
		slices.SortStableFunc(leaves, func(a, b leaf) int { return cmp.Compare(a.place, b.place) })
	}
	for len(leaves) > 0 {
		n := 1
		for n < len(leaves) && leaves[n].place == leaves[0].place {
			n++
		}
		p := &to[leaves[0].place]
		payload := e.Payload
		if mixed {
			payload = s.build(e.Payload, leaves[:n])
		}
		for _, l := range leaves[:n] {
			p.Items += int(l.items)
		}
		p.Entries = append(p.Entries, otlp.Entry{Payload: payload, ReceivedAt: e.ReceivedAt})
		p.Bytes += int64(len(payload))
		leaves = leaves[n:]
	}
}

// lengthBytes is how many bytes a length takes that is written before it is
// known: a varint padded with zeros, which protobuf allows.
const lengthBytes = 5

// build writes a request of some of an entry's leaves, in their order.
func (s *split) build(b []byte, leaves []leaf) []byte {
	size := 0
	for _, l := range leaves {
		size += int(l.end - l.start)
	}
	out := make([]byte, 0, size+size/8+256)
	type opened struct {
		number int32
		body   int // where its content begins
	}
	var stack []opened
	shut := func() {
		top := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		putLength(out[top.body-lengthBytes:], len(out)-top.body)
	}
	var path []int32
	for _, l := range leaves {
		path = path[:0]
		for c := l.in; c >= 0; c = s.containers[c].parent {
			path = append(path, c)
		}
		slices.Reverse(path)
		same := 0
		for same < len(path) && same < len(stack) && stack[same].number == path[same] {
			same++
		}
		for len(stack) > same {
			shut()
		}
		for _, c := range path[same:] {
			out = binary.AppendUvarint(out, s.containers[c].tag)
			out = append(out, make([]byte, lengthBytes)...)
			stack = append(stack, opened{c, len(out)})
			for _, r := range s.spans[s.containers[c].from:s.containers[c].to] {
				out = append(out, b[r.start:r.end]...)
			}
		}
		out = append(out, b[l.start:l.end]...)
	}
	for len(stack) > 0 {
		shut()
	}
	return out
}

func putLength(to []byte, n int) {
	for i := range lengthBytes - 1 {
		to[i] = byte(n)&0x7f | 0x80
		n >>= 7
	}
	to[lengthBytes-1] = byte(n)
}
