package jsonl

import (
	"unicode/utf8"

	"github.com/s3window/s3window/internal/encode/otlp"
)

const serviceNameKey = "service.name"

// promoted is a promoted column and what it takes of one record, scope or
// resource.
type promoted struct {
	Column
	name  []byte // ,"as":
	value []byte // JSON; empty = null
}

func promotedAt(columns []Column, place Place) (out []promoted, of []Column) {
	for _, c := range columns {
		if c.Place == place {
			name := append(otlp.AppendQuoted([]byte{','}, []byte(c.As)), ':')
			out, of = append(out, promoted{Column: c, name: name}), append(of, c)
		}
	}
	return out, of
}

// take keeps the JSON of the first value that is of the column's kind, or can be
// exactly.
func (p *promoted) take(v otlp.Value, json []byte) {
	if len(p.value) > 0 {
		return
	}
	if v.Kind == p.Kind {
		p.value = append(p.value, json...)
	} else if own, ok := v.As(p.Kind); ok {
		p.value, _ = own.AppendJSON(p.value)
	}
}

// appendPromoted appends the columns.
func appendPromoted(dst []byte, columns []promoted) []byte {
	for i := range columns {
		p := &columns[i]
		dst = append(dst, p.name...)
		if len(p.value) == 0 {
			dst = append(dst, "null"...)
		}
		dst = append(dst, p.value...)
	}
	return dst
}

// forget makes the columns ready for the values of the next line.
func forget(columns []promoted) {
	for i := range columns {
		columns[i].value = columns[i].value[:0]
	}
}

// shared is the fields of a resource, scope or metric, which many lines share.
type shared struct {
	columns  []promoted
	fields   []byte // ,"…": …
	promoted []byte
	object   []byte // of the attributes
	letters  []byte
}

// begin makes ready for what follows.
func (s *shared) begin() {
	forget(s.columns)
	s.fields, s.object, s.letters = s.fields[:0], append(s.object[:0], '{'), s.letters[:0]
}

// Attribute implements otlp.AttributeSink.
func (s *shared) Attribute(kv []byte) int {
	key, value, at := otlp.KeyValue(kv)
	if at < 0 {
		return at
	}
	v, at := otlp.ParseValue(value)
	if at < 0 {
		return at
	}
	if len(s.letters) > 0 {
		s.object = append(s.object, ',')
	}
	s.object = append(otlp.AppendQuoted(s.object, key), ':')
	from := len(s.object)
	if s.object, at = v.AppendJSON(s.object); at < 0 {
		return at
	}
	s.letters = append(s.letters, byte(v.Kind))
	for i := range s.columns {
		if s.columns[i].Key == string(key) {
			s.columns[i].take(v, s.object[from:])
		}
	}
	return 0
}

// end makes what was gathered valid.
func (s *shared) end(l *lines) {
	s.promoted = appendPromoted(s.promoted[:0], s.columns)
	if !utf8.Valid(s.fields) {
		s.fields = l.mendText(s.fields, 0)
		s.promoted = l.mendText(s.promoted, 0)
	}
}

func (s *shared) held() int {
	return cap(s.fields) + cap(s.promoted) + cap(s.object) + cap(s.letters)
}

// service appends the text of service.name as a JSON string.
func service(l *lines, dst, resource []byte) ([]byte, error) {
	a := otlp.NewAttributes(resource, otlp.ResourceAttributes)
	for a.Next() {
		if string(a.Key) != serviceNameKey {
			continue
		}
		v, at := otlp.ParseValue(a.Value)
		if at < 0 {
			return dst, otlp.Fault(at)
		}
		text := v.Raw
		if v.Kind != otlp.String {
			var err error
			if text, err = v.Text(nil); err != nil {
				return dst, err
			}
		}
		from := len(dst)
		if dst = otlp.AppendQuoted(dst, text); !utf8.Valid(dst[from:]) {
			dst = l.mendText(dst, from)
		}
		return dst, nil
	}
	return append(dst, `""`...), a.Err()
}
