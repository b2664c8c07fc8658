package route

import (
	"encoding/binary"

	"github.com/s3window/s3window/internal/encode/otlp"
	"github.com/s3window/s3window/internal/partition"
)

// item says where in a record, span or data point its time and attributes are.
type item struct {
	attributes uint64    // field number
	times      [2]uint64 // field numbers of fixed64 nanoseconds; the first that is set counts
}

func itemOf(s partition.Signal) item {
	if s == partition.Traces {
		return item{attributes: 9, times: [2]uint64{7, 8}}
	}
	return item{attributes: otlp.LogAttributes, times: [2]uint64{1, 11}}
}

// pointOf is the item of a metric's kind of data.
func pointOf(kind uint64) item {
	i := item{attributes: 7, times: [2]uint64{3}}
	switch kind {
	case otlp.Histogram:
		i.attributes = 9
	case otlp.ExponentialHistogram:
		i.attributes = 1
	}
	return i
}

func (r *Router) metrics() bool { return r.signal == partition.Metrics }

// record finds out the place of a record, span or data point.
func (s *split) record(b []byte, f field, in int32, of item) int {
	period := int64(Own)
	if s.router.rule.EventTime {
		at, err := s.time(b, of)
		if err < 0 {
			return err
		}
		period = s.period(at)
	}
	if len(s.router.levels[ofRecord]) > 0 {
		if err := s.values(ofRecord, b, of.attributes); err < 0 {
			return err
		}
	}
	s.leaf(f, in, 1, period)
	return 0
}

// time is a record's own time, microseconds since the epoch, or when it was
// received.
func (s *split) time(b []byte, of item) (at int64, err int) {
	var found [2]uint64
	for i := 0; i < len(b); {
		f := next(b, i)
		if f.end < 0 {
			return 0, f.end
		}
		for t, number := range of.times {
			if f.tag == number<<3|1 {
				found[t], _ = otlp.Fixed64(b, f.body)
			}
		}
		i = f.end
	}
	for _, t := range found {
		if t != 0 {
			return int64(t / 1000), 0
		}
	}
	return s.received, 0
}

// period is that of a record's own time, unless it is too far off.
func (s *split) period(at int64) int64 {
	rule := &s.router.rule
	wall := s.received - rule.Ahead
	if at != s.received && (at < wall-rule.MaxSkew || at > wall+maxAhead) {
		s.skewed++
		return Own
	}
	return rule.Period(at)
}

// values reads the attributes that the levels of a source take their values
// from. Of a key met twice the first counts.
func (s *split) values(source int, message []byte, attributes uint64) int {
	levels := s.router.levels[source]
	if len(levels) == 0 {
		return 0
	}
	for _, l := range levels {
		s.found[l] = false
		s.text[l] = s.text[l][:0]
	}
	kvs := otlp.NewAttributes(message, attributes)
	for kvs.Next() {
		for _, l := range levels {
			if s.found[l] || s.keys[l] != string(kvs.Key) {
				continue
			}
			s.found[l] = true
			v, at := otlp.ParseValue(kvs.Value)
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
	}
	s.stale = true
	return kvs.At()
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
