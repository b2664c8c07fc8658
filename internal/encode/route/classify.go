package route

import (
	"encoding/binary"

	"github.com/s3window/s3window/internal/encode/otlp"
	"github.com/s3window/s3window/internal/partition"
)

func (r *Router) metrics() bool { return r.signal == partition.Metrics }

// record finds out the place of a record, a span, or a data point of a kind.
func (s *split) record(b []byte, f field, in int32, kind uint64) int {
	period := int64(Own)
	if s.router.rule.EventTime || len(s.router.levels[ofRecord]) > 0 {
		s.begin(ofRecord)
		nanos, at := s.parse(b, kind)
		if at < 0 {
			return at
		}
		if s.router.rule.EventTime {
			period = s.period(nanos)
		}
	}
	s.leaf(f, in, 1, period)
	return 0
}

// parse decodes a record, whose attributes are taken. It returns its time, 0 if
// it has none.
func (s *split) parse(b []byte, kind uint64) (nanos uint64, at int) {
	switch s.router.signal {
	case partition.Traces:
		var r otlp.Span
		at = r.Parse(b, s)
		return r.Nanos(), at
	case partition.Metrics:
		at = s.point.Parse(kind, b, s)
		return s.point.Nanos(), at
	}
	var r otlp.Log
	at = r.Parse(b, s)
	return r.Nanos(), at
}

// period is that of a record's own time, unless it is too far off; 0 is the time
// at which it was received.
func (s *split) period(nanos uint64) int64 {
	rule, at := &s.router.rule, s.received
	if nanos != 0 {
		at = int64(nanos / 1000)
	}
	wall := s.received - rule.Ahead
	if at != s.received && (at < wall-rule.MaxSkew || at > wall+maxAhead) {
		s.skewed++
		return Own
	}
	return rule.Period(at)
}

// around takes the values of levels from a message around records, which has
// attributes in a field.
func (s *split) around(source int, message []byte, attributes uint64) int {
	if len(s.router.levels[source]) == 0 {
		return 0
	}
	s.begin(source)
	kvs := otlp.NewAttributes(message, attributes)
	for kvs.Next() {
		if at := s.take(kvs.Key, kvs.Value); at < 0 {
			return at
		}
	}
	return kvs.At()
}

// begin forgets the values of the levels of a source, which take those that
// follow.
func (s *split) begin(source int) {
	if s.taking = s.router.levels[source]; len(s.taking) == 0 {
		return
	}
	for _, l := range s.taking {
		s.found[l] = false
		s.text[l] = s.text[l][:0]
	}
	s.stale = true
}

// Attribute implements otlp.AttributeSink for a record.
func (s *split) Attribute(kv []byte) int {
	if len(s.taking) == 0 {
		return 0
	}
	key, value, at := otlp.KeyValue(kv)
	if at < 0 {
		return at
	}
	return s.take(key, value)
}

// What else a span or data point has several of says nothing of its place.
func (s *split) Event([]byte) int    { return 0 }
func (s *split) Link([]byte) int     { return 0 }
func (s *split) Exemplar([]byte) int { return 0 }
func (s *split) Quantile([]byte) int { return 0 }

// take takes an attribute as the value of the levels that have its key. Of a key
// met twice the first counts.
func (s *split) take(key, value []byte) int {
	for _, l := range s.taking {
		if s.found[l] || s.keys[l] != string(key) {
			continue
		}
		s.found[l] = true
		v, at := otlp.ParseValue(value)
		if at < 0 {
			return at
		}
		if s.text[l], at = scalar(s.text[l], v); at < 0 {
			return at
		}
		if len(s.text[l]) > partition.MaxEscaped {
			// Once here, not for each of the records that have it.
			s.text[l] = append(s.text[l][:0], partition.Tenant(string(s.text[l]))...)
		}
	}
	return 0
}

// scalar appends the text of a value that can be a level: a string, a number
// or a truth value.
func scalar(to []byte, v otlp.Value) ([]byte, int) {
	switch v.Kind {
	case otlp.String, otlp.Int, otlp.Double, otlp.Bool:
		return v.AppendText(to)
	}
	return to, 0
}

// place numbers the place of the values at hand and a period. It is negative
// where too many were met before.
func (s *split) place(period int64) int32 {
	if s.stale {
		s.current, s.stale = s.levels(), false
		s.last.number = -1
	}
	if s.current < 0 {
		return -1
	}
	if s.last.number >= 0 && s.last.period == period {
		return s.last.number
	}
	key := placeKey{period, s.current}
	n, ok := s.numbers[key]
	if !ok {
		if len(s.places) >= maxMet {
			return -1
		}
		n = int32(len(s.places))
		s.numbers[key] = n
		s.places = append(s.places, Place{period, s.names[s.current]})
	}
	s.last.period, s.last.number = period, n
	return n
}

type placeKey struct {
	period int64
	levels int32 // number in split.names
}

// levels numbers the levels of the values at hand. It is negative where too
// many were met before.
func (s *split) levels() int32 {
	s.key = s.key[:0]
	for _, t := range s.text {
		s.key = binary.AppendUvarint(s.key, uint64(len(t)))
		s.key = append(s.key, t...)
	}
	if n, ok := s.known[string(s.key)]; ok {
		return n
	}
	var name string
	for i, l := range s.router.rule.By {
		if i > 0 {
			name += "/"
		}
		name += partition.Level(l.As, string(s.text[i]))
	}
	// Values that are written alike (1 and "1") have one place.
	n, ok := s.byName[name]
	if !ok {
		if len(s.names) >= maxMet {
			return -1
		}
		n = int32(len(s.names))
		s.names = append(s.names, name)
		s.byName[name] = n
	}
	s.known[string(s.key)] = n
	return n
}
