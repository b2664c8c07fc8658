package decode

import (
	"fmt"
	"math"
	"strconv"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/s3window/s3window/internal/encode/otlp"
)

// lineRow is a line, or an object in an array of it, taken apart into fields.
type lineRow struct {
	*faults
	fields   []lineField
	names    []string       // of the fields and their types, in the order written
	numbered map[string]int // of a name
	line     string
	spans    []span // of the names' values in line; empty = absent
}

// lineField is where a field stands in names; its types stand behind it.
type lineField struct {
	at   int
	kind kind
	of   *lineRow // of structs
}

type span struct{ from, to int }

func newLineRow(wrong *faults, fields []field) lineRow {
	r := lineRow{faults: wrong, numbered: map[string]int{}}
	add := func(name string) {
		r.numbered[name] = len(r.names)
		r.names = append(r.names, name)
	}
	for _, f := range fields {
		x := lineField{at: len(r.names), kind: f.kind}
		add(f.name)
		switch f.kind {
		case asValue:
			add(f.name + "_type")
		case asObject:
			add(f.name + "_types")
		case asStructs:
			of := newLineRow(wrong, f.of)
			x.of = &of
		}
		r.fields = append(r.fields, x)
	}
	r.spans = make([]span, len(r.names))
	return r
}

// split finds the fields of the object that p stands at.
func (r *lineRow) split(p *parser) error {
	clear(r.spans)
	r.line = p.s
	expect := 0
	return p.members(func(key string) error {
		n, ok := expect, expect < len(r.names) && r.names[expect] == key
		if !ok {
			n, ok = r.numbered[key]
		}
		from := p.i
		if err := p.skip(); err != nil {
			return err
		}
		if ok {
			r.spans[n], expect = span{from, p.i}, n+1
		}
		return nil
	})
}

// at returns a parser of a value alone, behind the space before it unless that
// means something, or false if it is absent.
func (r *lineRow) at(n int) (parser, bool) {
	s := r.spans[n]
	return parser{s: r.line[:s.to], i: s.from}, s.to > 0
}

// raw returns the JSON of a value.
func (r *lineRow) raw(n int) string { return r.line[r.spans[n].from:r.spans[n].to] }

// appendKey appends fields as they stand; no JSON is a prefix of another one
// with a comma behind it.
func (r *lineRow) appendKey(dst []byte, fields []int) []byte {
	for _, f := range fields {
		n := r.fields[f].at
		dst = append(append(dst, r.raw(n)...), ',')
		if r.fields[f].kind == asObject {
			dst = append(append(dst, r.raw(n+1)...), ',')
		}
	}
	return dst
}

func (r *lineRow) text(f int) string { return r.textAt(r.fields[f].at) }

func (r *lineRow) textAt(n int) string {
	p, ok := r.at(n)
	if !ok {
		return ""
	}
	p.space()
	s, err := p.text()
	r.blame(n, err)
	return s
}

// blame says of which field an error is.
func (r *lineRow) blame(n int, err error) {
	if err != nil {
		r.fail(fmt.Errorf("field %q: %w", r.names[n], err))
	}
}

func (r *lineRow) number(f int) int64 {
	p, ok := r.at(r.fields[f].at)
	if !ok {
		return 0
	}
	return r.integer(&p, r.fields[f].at)
}

// integer reads a whole number, or a boolean as one.
func (r *lineRow) integer(p *parser, n int) int64 {
	p.space()
	switch {
	case p.literal("true"):
		return 1
	case p.literal("false"):
		return 0
	}
	from := p.i
	x, err := strconv.ParseInt(p.number(), 10, 64)
	if err != nil {
		r.fail(malformed("field %q is no integer: %q", r.names[n], short(p.s[from:])))
	}
	return x
}

// double reads the bits of a double.
func (r *lineRow) double(p *parser, n int) int64 {
	v := pcommon.NewValueEmpty()
	if err := p.value(v, otlp.Double, 0); err != nil {
		r.blame(n, err)
	} else if v.Type() != pcommon.ValueTypeDouble {
		r.fail(malformed("field %q is no double", r.names[n]))
	}
	return int64(math.Float64bits(v.Double()))
}

func (r *lineRow) optional(f int) (int64, bool) {
	x := r.fields[f]
	p, ok := r.at(x.at)
	if !ok {
		return 0, false
	}
	null := p
	if null.space(); null.literal("null") {
		return 0, false
	}
	if x.kind == asDouble {
		return r.double(&p, x.at), true
	}
	return r.integer(&p, x.at), true
}

func (r *lineRow) numbers(f int, visit func(int64)) {
	x := r.fields[f]
	p, ok := r.at(x.at)
	if !ok {
		return
	}
	r.blame(x.at, p.elements(func() error {
		if x.kind == asDoubles {
			visit(r.double(&p, x.at))
		} else {
			visit(r.integer(&p, x.at))
		}
		return nil
	}))
}

func (r *lineRow) each(f int, visit func(row)) {
	x := r.fields[f]
	p, ok := r.at(x.at)
	if !ok {
		return
	}
	r.blame(x.at, p.elements(func() error {
		if err := x.of.split(&p); err != nil {
			return err
		}
		visit(x.of)
		return nil
	}))
}

func (r *lineRow) value(f int, to pcommon.Value) {
	n := r.fields[f].at
	p, ok := r.at(n)
	if !ok {
		return
	}
	letters := r.textAt(n + 1)
	if len(letters) != 1 {
		r.fail(malformed("field %q has the types %q", r.names[n], short(letters)))
		return
	}
	r.fail(typed(&p, to, otlp.Kind(letters[0])))
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
func (r *lineRow) attributes(f int, to pcommon.Map) {
	n := r.fields[f].at
	letters := r.textAt(n + 1)
	var kvs attributes
	count := 0
	var err error
	if p, ok := r.at(n); ok {
		err = p.members(func(key string) error {
			if count++; count > len(letters) {
				return malformed("field %q has more entries than types", r.names[n])
			}
			return typed(&p, kvs.AppendEmpty(key), otlp.Kind(letters[count-1]))
		})
	}
	kvs.into(to)
	if err == nil && count != len(letters) {
		err = malformed("field %q has %d entries and %d types", r.names[n], count, len(letters))
	}
	r.fail(err)
}
