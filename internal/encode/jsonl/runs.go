package jsonl

import (
	"unicode/utf8"

	"github.com/s3window/s3window/internal/encode/otlp"
)

// runs has what lines of every signal share: the fields of resource and scope. It
// walks a group to its items.
type runs struct {
	resource, scope shared
	service         []byte
	item            func(out *lines, item []byte) error // adds the lines of an item

	owner     *otlp.Group
	within    otlp.ScopeItems
	in, known bool // the fields of the scope, and of the resource, are made
}

func newRuns(columns []Column) runs {
	var r runs
	r.scope.columns, _ = promotedAt(columns, Scope)
	r.resource.columns, _ = promotedAt(columns, Resource)
	return r
}

func (r *runs) held() int {
	return r.resource.held() + r.scope.held() + cap(r.service)
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
	r.owner, r.within = nil, otlp.ScopeItems{}
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
	r.resource.begin()
	var m otlp.Resource
	if at := m.Parse(r.owner.Resource, &r.resource); at < 0 {
		return otlp.Fault(at)
	}
	r.resource.appendResource(&m, r.owner.SchemaURL)
	r.resource.end(out)
	return nil
}

func (r *runs) putScope(out *lines) error {
	r.scope.begin()
	var m otlp.Scope
	if at := m.Parse(r.within.Scope, &r.scope); at < 0 {
		return otlp.Fault(at)
	}
	r.scope.appendScope(&m, r.within.SchemaURL)
	r.scope.end(out)
	return nil
}

// rest appends what the line shares with others, and the promoted columns, those
// of the record first, and ends it.
func (r *runs) rest(out *lines, own []promoted) {
	out.buf = append(append(out.buf, r.scope.fields...), r.resource.fields...)
	if len(own) > 0 {
		from := len(out.buf)
		out.buf = appendPromoted(out.buf, own)
		if !utf8.Valid(out.buf[from:]) {
			out.mend(from)
		}
	}
	out.buf = append(append(out.buf, r.scope.promoted...), r.resource.promoted...)
	out.buf = append(out.buf, "}\n"...)
	out.endLine()
}
