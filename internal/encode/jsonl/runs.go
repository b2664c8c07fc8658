package jsonl

import (
	"strconv"
	"unicode/utf8"

	"github.com/s3window/s3window/internal/encode/otlp"
)

// runs has what lines of every signal have: the fields of resource and scope,
// which a run of lines shares, and the attributes of each line. It walks a
// group to its items.
type runs struct {
	attributes      attributes
	resource, scope shared
	service         []byte
	item            func(out *lines, item []byte) error // adds the lines of an item

	owner     *otlp.Group
	within    otlp.Scope
	in, known bool // the fields of the scope, and of the resource, are made
}

func newRuns(columns []Column) runs {
	r := runs{
		attributes: newAttributes(columns),
		resource:   shared{field: otlp.ResourceAttributes, prefix: "resource", object: "_attributes"},
		scope:      shared{field: otlp.ScopeAttributes, prefix: "scope", object: "_attributes"},
	}
	r.scope.columns, _ = promotedAt(columns, Scope)
	r.resource.columns, _ = promotedAt(columns, Resource)
	return r
}

func (r *runs) held() int {
	return r.attributes.held() + r.resource.held() + r.scope.held() + cap(r.service)
}

// group implements rows.
func (r *runs) group(out *lines, g *otlp.Group) (err error) {
	if r.service, err = service(out, r.service[:0], g.Resource); err != nil {
		return err
	}
	defer r.release()
	r.owner, r.known = g, false
	scopes := g.Scopes()
	for scopes.Next() {
		sc := &scopes.Scope
		if r.within, err = sc.Locate(); err != nil {
			return err
		}
		for r.in = false; sc.Next(); {
			if err := r.item(out, sc.Item); err != nil {
				return err
			}
		}
	}
	return scopes.Err()
}

// release lets go of the payload.
func (r *runs) release() {
	r.attributes.sent.Release()
	r.owner, r.within = nil, otlp.Scope{}
}

// enter makes the fields that the lines of a scope share. An item calls it
// before its first line: a scope without lines is not looked into.
func (r *runs) enter(out *lines) error {
	if r.in {
		return nil
	}
	if !r.known {
		if err := r.putResource(out); err != nil {
			return err
		}
	}
	r.in, r.known = true, true
	return r.putScope(out)
}

func (r *runs) putResource(out *lines) error {
	m, err := otlp.ParseResource(r.owner.Resource)
	if err != nil {
		return err
	}
	s := &r.resource
	s.fields = s.fields[:0]
	if err := s.attributes(r.owner.Resource); err != nil {
		return err
	}
	s.name("_dropped_attributes_count")
	s.fields = strconv.AppendUint(s.fields, uint64(m.Dropped), 10)
	s.text("_schema_url", r.owner.SchemaURL)
	s.end(out)
	return nil
}

func (r *runs) putScope(out *lines) error {
	m, err := otlp.ParseScope(r.within.Scope)
	if err != nil {
		return err
	}
	s := &r.scope
	s.fields = s.fields[:0]
	s.text("_name", m.Name)
	s.text("_version", m.Version)
	if err := s.attributes(r.within.Scope); err != nil {
		return err
	}
	s.name("_dropped_attributes_count")
	s.fields = strconv.AppendUint(s.fields, uint64(m.Dropped), 10)
	s.text("_schema_url", r.within.SchemaURL)
	s.end(out)
	return nil
}

// rest appends what the line shares with others, and the promoted columns, and
// ends it.
func (r *runs) rest(out *lines, ts int64) {
	out.buf = append(append(out.buf, r.scope.fields...), r.resource.fields...)
	if columns := r.attributes.columns; len(columns) > 0 {
		from := len(out.buf)
		out.buf = appendPromoted(out.buf, columns)
		if !utf8.Valid(out.buf[from:]) {
			out.mend(from)
		}
	}
	out.buf = append(append(out.buf, r.scope.promoted...), r.resource.promoted...)
	out.buf = append(out.buf, "}\n"...)
	out.endLine(ts)
}
