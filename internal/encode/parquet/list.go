package parquet

import (
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// List is a required column LIST of structs, or of numbers. An element is put
// into every leaf, then End is called; EndRow closes the row's list. The
// leaves' pages end together, and never within a row.
type List struct {
	t         *Table
	path      []string // of the elements
	element   int      // place of the elements' group in the schema
	leaves    []listLeaf
	ownLevels []ownLevelsLeaf // those of the leaves that have levels of their own

	rep, def levels
	n        int    // elements of the row under construction
	elements int    // of the page under construction
	head     []byte // the levels of a page, as most leaves have them
	repLen   int    // how much of head is repetition levels
}

// listLeaf is a leaf of the elements of a List.
type listLeaf interface {
	column
	pending() int
	wasteful() bool
	flushList(l *List, p content) // ends the page
}

// ownLevelsLeaf is a leaf whose levels are not those of the list: its value may
// be absent, or is a map.
type ownLevelsLeaf interface {
	endElement(first bool) // first in its row
	endEmpty()             // a row without elements
}

// List adds a column of lists of structs. The leaves are added with the list's
// methods, before any other column.
func (t *Table) List(name string) *List {
	l := t.newList(name)
	l.element = len(t.schema.elements)
	t.schema.elements = append(t.schema.elements, format.SchemaElement{
		Name: "element", RepetitionType: thrift.New(format.Required), NumChildren: thrift.New(int32(0)),
	})
	return l
}

// NumberList is a required column LIST of numbers with few distinct values.
type NumberList struct {
	list   *List
	values *ListNumber
}

// Int64List adds a column of lists of INT64.
func (t *Table) Int64List(name string) *NumberList { return t.newNumberList(name, format.Int64) }

// DoubleList adds a column of lists of DOUBLE. Add takes the bits of a value.
func (t *Table) DoubleList(name string) *NumberList { return t.newNumberList(name, format.Double) }

func (t *Table) newNumberList(name string, typ format.Type) *NumberList {
	l := t.newList(name)
	t.schema.leaf("element", typ, false)
	c := &ListNumber{t.newNumbers(t.newChunk(chunk{path: l.path, typ: typ, optional: true, repeated: true}))}
	l.leaves = append(l.leaves, c)
	return &NumberList{l, c}
}

// Add puts an element into the row's list.
func (c *NumberList) Add(v int64) {
	c.values.put(v)
	c.list.n++
}

// EndRow closes the list of the row under construction.
func (c *NumberList) EndRow() { c.list.EndRow() }

func (t *Table) newList(name string) *List {
	t.schema.fields++
	e := format.SchemaElement{
		Name: name, RepetitionType: thrift.New(format.Required), NumChildren: thrift.New(int32(1)),
		ConvertedType: thrift.New(deprecated.List),
	}
	e.LogicalType.Value = &format.ListType{}
	t.schema.elements = append(t.schema.elements, e, format.SchemaElement{
		Name: "list", RepetitionType: thrift.New(format.Repeated), NumChildren: thrift.New(int32(1)),
	})
	l := &List{t: t, path: []string{name, "list", "element"}}
	t.add(l)
	return l
}

// child returns the path of a further field of the elements.
func (l *List) child(name string) []string {
	n := &l.t.schema.elements[l.element].NumChildren
	*n = thrift.New(n.V + 1)
	return append(l.path[:len(l.path):len(l.path)], name)
}

// End ends an element.
func (l *List) End() {
	first := l.n == 0
	l.n++
	for _, c := range l.ownLevels {
		c.endElement(first)
	}
}

// EndRow closes the list of the row under construction.
func (l *List) EndRow() {
	n := l.n
	l.n = 0
	l.rep.push(0, 1, 0)
	if n == 0 {
		l.def.push(0, 1, 0)
		for _, c := range l.ownLevels {
			c.endEmpty()
		}
		return
	}
	l.rep.fill(n - 1)
	l.def.fill(n)
	l.elements += n
}

func (l *List) pending() int {
	n := 0
	for _, c := range l.leaves {
		n = max(n, c.pending())
	}
	return n
}

func (l *List) wasteful() bool {
	for _, c := range l.leaves {
		if c.wasteful() {
			return true
		}
	}
	return false
}

func (l *List) held() int {
	n := cap(l.rep.b) + cap(l.def.b) + cap(l.head)
	for _, c := range l.leaves {
		n += c.held()
	}
	return n
}

func (l *List) reset() {
	l.rep.reset()
	l.def.reset()
	l.n, l.elements = 0, 0
	for _, c := range l.leaves {
		c.reset()
	}
}

func (l *List) finish(t *Table) {
	for _, c := range l.leaves {
		c.finish(t)
	}
}

func (l *List) flush(_ *Table, rows int) {
	l.head = l.rep.appendTo(l.head[:0])
	l.repLen = len(l.head)
	l.head = l.def.appendTo(l.head)
	p := content{rows: rows, values: l.def.len, nulls: l.def.len - l.elements}
	for _, c := range l.leaves {
		c.flushList(l, p)
	}
	l.rep.reset()
	l.def.reset()
	l.elements = 0
}
