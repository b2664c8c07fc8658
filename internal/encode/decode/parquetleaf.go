package decode

import (
	"slices"

	pq "github.com/parquet-go/parquet-go"

	"github.com/s3window/s3window/internal/encode"
	"github.com/s3window/s3window/internal/encode/otlp"
)

// leaves are the columns of a field, by the numbers of Parquet's leaves; -1 is a
// column that the object does not have.
type leaves struct {
	name     string
	one      int // the field; of a map its keys
	values   int // of a map
	types    int // of a map or value
	promoted []promoted
	of       []leaves // of structs
	all      []int    // every leaf that exists
	rest     [][]pq.Value
}

// promoted is a column that attributes were moved to from their map.
type promoted struct {
	key  string
	kind otlp.Kind
	leaf int
}

// leafFinder finds the leaves of fields.
type leafFinder struct {
	schema *pq.Schema
	found  []int
}

func (f *leafFinder) fields(fields []field, within []string) (out []leaves, err error) {
	for _, x := range fields {
		l, err := f.field(x, within)
		if err != nil {
			return nil, err
		}
		out = append(out, l)
	}
	return out, nil
}

func (f *leafFinder) field(x field, within []string) (l leaves, err error) {
	l.name = x.name
	path := func(more ...string) []string { return append(slices.Clone(within), more...) }
	text := []pq.Kind{pq.ByteArray}
	integer := []pq.Kind{pq.Int64, pq.Int32, pq.Boolean}
	find := func(to *int, kinds []pq.Kind, path []string) {
		if err == nil {
			*to, err = f.leaf(&l, kinds, path)
		}
	}
	switch x.kind {
	case asText:
		find(&l.one, text, path(x.name))
	case asNumber:
		find(&l.one, integer, path(x.name))
	case asDouble:
		find(&l.one, []pq.Kind{pq.Double}, path(x.name))
	case asNumbers:
		find(&l.one, integer, path(x.name, "list", "element"))
	case asDoubles:
		find(&l.one, []pq.Kind{pq.Double}, path(x.name, "list", "element"))
	case asValue:
		find(&l.one, text, path(x.name))
		find(&l.types, text, path(x.name+"_type"))
	case asObject:
		find(&l.one, text, path(x.name, "key_value", "key"))
		find(&l.values, text, path(x.name, "key_value", "value"))
		find(&l.types, text, path(x.name+"_types"))
	case asStructs:
		l.of, err = f.fields(x.of, path(x.name, "list", "element"))
		for _, of := range l.of {
			l.all = append(l.all, of.all...)
		}
		l.rest = make([][]pq.Value, len(l.all))
	}
	return l, err
}

// leaf returns the number of a leaf, or -1 if the object has no such column. It
// must be of one of the kinds.
func (f *leafFinder) leaf(l *leaves, kinds []pq.Kind, path []string) (int, error) {
	c, ok := f.schema.Lookup(path...)
	if !ok {
		return -1, nil
	}
	if !slices.Contains(kinds, c.Node.Type().Kind()) {
		return -1, malformed("column %q is of type %s", path[0], c.Node.Type())
	}
	f.found, l.all = append(f.found, c.ColumnIndex), append(l.all, c.ColumnIndex)
	return c.ColumnIndex, nil
}

// promote finds a promoted column, and adds it to its map.
func (f *leafFinder) promote(l *leaves, key string, c encode.Column) error {
	p, kind := promoted{key: key, kind: otlp.String}, pq.ByteArray
	switch c.Type {
	case "int64":
		p.kind, kind = otlp.Int, pq.Int64
	case "double":
		p.kind, kind = otlp.Double, pq.Double
	case "bool":
		p.kind, kind = otlp.Bool, pq.Boolean
	}
	var err error
	if p.leaf, err = f.leaf(l, []pq.Kind{kind}, []string{c.As}); err == nil && p.leaf < 0 {
		err = malformed("it has no column %q, which its footer says it has", c.As)
	}
	if c.Move { // else it has copies
		l.promoted = append(l.promoted, p)
	}
	return err
}
