package route

import "github.com/s3window/s3window/internal/encode/otlp"

// leaf is a record, or a whole group where all of its records have one place.
type leaf struct {
	start, end uint32 // with its tag, in the entry's payload
	in         int32  // number of the container that holds it
	items      int32
	place      int32 // number in split.places
}

// container is a message that holds leaves or other containers.
type container struct {
	parent   int32 // -1 for a group, which stands in the request itself
	tag      uint64
	from, to int32 // spans[from:to] are its content beside those
	size     int64 // of that content
}

// span is a part of an entry's payload.
type span struct{ start, end uint32 }

// field is a field of a message: its tag, and where it begins, where its value
// does, and where it ends.
type field struct {
	tag              uint64
	start, body, end int
}

// next reads the field at b[i:]. Its end is a fault if it is malformed.
func next(b []byte, i int) (f field) {
	f.start = i
	if f.tag, f.body = otlp.Uvarint(b, i); f.body < 0 {
		f.end = f.body
		return f
	}
	if f.tag&7 != 2 {
		f.end = otlp.Skip(b, f.body, f.tag, 0)
		return f
	}
	var v []byte
	v, f.end = otlp.Bytes(b, f.body)
	f.body = f.end - len(v)
	return f
}

const (
	tagGroup      = 1<<3 | 2
	tagScopes     = 2<<3 | 2
	tagOldScopes  = 1000<<3 | 2 // OTLP before 0.15; read only where no field 2 is
	tagScope      = 1<<3 | 2
	tagItems      = 2<<3 | 2
	tagPoints     = 1<<3 | 2
	metricsFields = 1<<otlp.Gauge | 1<<otlp.Sum | 1<<otlp.Histogram | 1<<otlp.ExponentialHistogram | 1<<otlp.Summary
)

// request walks an entry. The result is a fault if it is malformed.
func (s *split) request(b []byte) int {
	for i := 0; i < len(b); {
		f := next(b, i)
		if f.end < 0 {
			return f.end
		}
		if i = f.end; f.tag != tagGroup {
			continue
		}
		if at := s.group(b[:f.end], f); at < 0 {
			return at
		}
	}
	return 0
}

// group walks a ResourceLogs, ResourceSpans or ResourceMetrics.
func (s *split) group(b []byte, g field) int {
	var resource []byte
	tag := uint64(tagOldScopes)
	for i := g.body; i < g.end; {
		f := next(b, i)
		if f.end < 0 {
			return f.end
		}
		switch i = f.end; f.tag {
		case 1<<3 | 2:
			resource = otlp.Merge(resource, b[f.body:f.end])
		case tagScopes:
			tag = tagScopes
		}
	}
	if at := s.around(ofResource, resource, otlp.ResourceAttributes); at < 0 {
		return at
	}
	if s.router.whole {
		return s.wholeGroup(b, g, tag)
	}
	n := s.open(-1, tagGroup)
	rest := s.rest(n, g)
	at := each(b, g, tag, func(f field) int {
		rest.without(f)
		return s.scope(b[:f.end], f, n)
	})
	rest.end()
	return at
}

// wholeGroup is a group whose records all belong to one place.
func (s *split) wholeGroup(b []byte, g field, scopes uint64) int {
	items := 0
	at := each(b, g, scopes, func(sc field) int {
		return each(b[:sc.end], sc, tagItems, func(item field) int {
			n, at := 1, 0
			if s.router.metrics() {
				n, at = countPoints(b[item.body:item.end])
			}
			items += n
			return at
		})
	})
	if at < 0 || items == 0 {
		return at
	}
	s.leaf(g, -1, int32(items), Own)
	return 0
}

// leaf adds a record, or a whole group, that belongs to a period and to the
// values at hand.
func (s *split) leaf(f field, in, items int32, period int64) {
	n := s.place(period)
	if n < 0 {
		n = s.restPlace()
		s.refiled += int64(items)
	}
	s.leaves = append(s.leaves, leaf{uint32(f.start), uint32(f.end), in, items, n})
}

// each visits the fields of g that have a tag.
func each(b []byte, g field, tag uint64, visit func(field) int) int {
	for i := g.body; i < g.end; {
		f := next(b, i)
		if f.end < 0 {
			return f.end
		}
		if i = f.end; f.tag != tag {
			continue
		}
		if at := visit(f); at < 0 {
			return at
		}
	}
	return 0
}

func countPoints(metric []byte) (n, at int) {
	m, at := otlp.ParseMetric(metric)
	if at < 0 {
		return 0, at
	}
	for points := m.Points(); points.Next(); n++ { // ParseMetric has checked their bounds
	}
	return n, 0
}

// scope walks a ScopeLogs, ScopeSpans or ScopeMetrics.
func (s *split) scope(b []byte, g field, parent int32) int {
	if len(s.router.levels[ofScope]) > 0 {
		if at := s.scopeValues(b, g); at < 0 {
			return at
		}
	}
	n := s.open(parent, g.tag)
	rest := s.rest(n, g)
	at := each(b, g, tagItems, func(f field) int {
		rest.without(f)
		if s.router.metrics() {
			return s.metric(b[:f.end], f, n)
		}
		return s.record(b[f.body:f.end], f, n, 0)
	})
	rest.end()
	return at
}

func (s *split) scopeValues(b []byte, g field) int {
	var scope []byte
	if at := each(b, g, tagScope, func(f field) int {
		scope = otlp.Merge(scope, b[f.body:f.end])
		return 0
	}); at < 0 {
		return at
	}
	return s.around(ofScope, scope, otlp.ScopeAttributes)
}

// metric walks a Metric. Of several kinds of data in it the last counts; the
// others are left out.
func (s *split) metric(b []byte, g field, parent int32) int {
	var data field
	for i := g.body; i < g.end; {
		f := next(b, i)
		if f.end < 0 {
			return f.end
		}
		if i = f.end; isData(f) {
			data = f
		}
	}
	if data.end == 0 {
		return 0
	}
	n := s.open(parent, g.tag)
	rest := s.rest(n, g)
	for i := g.body; i < g.end; {
		f := next(b, i)
		if i = f.end; isData(f) {
			rest.without(f)
		}
	}
	rest.end()
	return s.data(b[:data.end], data, n)
}

func isData(f field) bool {
	return f.tag&7 == 2 && f.tag>>3 < 64 && metricsFields>>(f.tag>>3)&1 != 0
}

// data walks a metric's data.
func (s *split) data(b []byte, g field, parent int32) int {
	n := s.open(parent, g.tag)
	rest := s.rest(n, g)
	at := each(b, g, tagPoints, func(f field) int {
		rest.without(f)
		return s.record(b[f.body:f.end], f, n, g.tag>>3)
	})
	rest.end()
	return at
}

// open numbers a container.
func (s *split) open(parent int32, tag uint64) int32 {
	s.containers = append(s.containers, container{parent: parent, tag: tag})
	return int32(len(s.containers) - 1)
}

// rest gathers what a container holds beside its leaves and containers. Those
// of the containers in it are gathered meanwhile, so spans are kept until the
// end.
func (s *split) rest(n int32, g field) *rest {
	if s.depth == len(s.rests) {
		s.rests = append(s.rests, &rest{})
	}
	r := s.rests[s.depth]
	s.depth++
	*r = rest{s: s, n: n, at: g.body, until: g.end, spans: r.spans[:0]}
	return r
}

type rest struct {
	s         *split
	n         int32
	at, until int
	spans     []span
}

// without leaves out f, which follows what was left out before.
func (r *rest) without(f field) {
	r.add(f.start)
	r.at = f.end
}

func (r *rest) add(end int) {
	if r.at < end {
		r.spans = append(r.spans, span{uint32(r.at), uint32(end)})
	}
}

func (r *rest) end() {
	r.add(r.until)
	c := &r.s.containers[r.n]
	c.from = int32(len(r.s.spans))
	r.s.spans = append(r.s.spans, r.spans...)
	c.to = int32(len(r.s.spans))
	for _, x := range r.spans {
		c.size += int64(x.end - x.start)
	}
	r.s.depth--
}
