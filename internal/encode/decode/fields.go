package decode

import (
	"errors"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/s3window/s3window/internal/encode/otlp"
	"github.com/s3window/s3window/internal/encode/schema"
	"github.com/s3window/s3window/internal/partition"
)

// kind is how columns have a field.
type kind int

const (
	asText    kind = iota
	asNumber       // an integer or a boolean
	asDouble       // a double
	asValue        // a value, with a column for its type
	asObject       // a map, with a column for the types
	asNumbers      // a list of integers
	asDoubles      // a list of doubles
	asStructs      // a list of structs
)

// field is a column, or two, of a row or of a struct in a list.
type field struct {
	name string
	kind kind
	of   []field // what structs have
}

// layout is what an object of a signal has.
type layout struct {
	signal     partition.Signal
	fields     []field
	attributes int      // the number of the field of the record's own attributes
	derived    []string // columns that say nothing which others do not say
}

func newLayout(signal partition.Signal, own []field, attributes int) layout {
	l := layout{signal: signal, fields: append(aroundFields(), own...), attributes: attributes}
	s, _ := schema.Of(signal)
	for _, c := range s.Columns() {
		if c.Derived {
			l.derived = append(l.derived, c.Name)
		}
	}
	return l
}

// row is the current row of an object, or a struct in a list of it, by the
// numbers of fields. What is wrong with a field is remembered, not returned.
type row interface {
	text(f int) string
	number(f int) int64 // 0 = absent
	// optional returns a number, or the bits of a double, or false for a null.
	optional(f int) (bits int64, ok bool)
	value(f int, to pcommon.Value)
	attributes(f int, to pcommon.Map)
	// numbers visits a list of integers, or of the bits of doubles.
	numbers(f int, visit func(bits int64))
	each(f int, visit func(row))
	fail(err error)
}

// source is the rows of an object, one at a time.
type source interface {
	row
	next() (bool, error)
	// appendKey appends what tells the row's fields apart from those of others.
	appendKey(dst []byte, fields []int) []byte
	// wrong returns what is wrong with the row.
	wrong() error
	close()
}

// heads are the fields of a row's resource and scope, and of more levels.
func heads(more ...[]int) [][]int {
	return append([][]int{
		{resourceAttributes, resourceDroppedAttributesCount, resourceSchemaURL},
		{scopeName, scopeVersion, scopeAttributes, scopeDroppedAttributesCount, scopeSchemaURL},
	}, more...)
}

func readResource(r row, to pcommon.Resource) {
	to.SetDroppedAttributesCount(uint32(r.number(resourceDroppedAttributesCount)))
	r.attributes(resourceAttributes, to.Attributes())
}

func readScope(r row, to pcommon.InstrumentationScope) {
	to.SetName(r.text(scopeName))
	to.SetVersion(r.text(scopeVersion))
	to.SetDroppedAttributesCount(uint32(r.number(scopeDroppedAttributesCount)))
	r.attributes(scopeAttributes, to.Attributes())
}

func readTraceID(r row, f int) (id pcommon.TraceID) {
	r.fail(setID(id[:], r.text(f)))
	return id
}

func readSpanID(r row, f int) (id pcommon.SpanID) {
	r.fail(setID(id[:], r.text(f)))
	return id
}

// readTime reads Unix nanoseconds, of which columns have the bits.
func readTime(r row, f int) pcommon.Timestamp { return pcommon.Timestamp(r.number(f)) }

// readEnum reads a value by its name; a field that is absent is the first one.
func readEnum(r row, f int, e otlp.Enum) int32 {
	name := r.text(f)
	if name == "" {
		return 0
	}
	n, ok := e.Parse(name)
	if !ok {
		r.fail(malformed("%q is neither a name nor a number of one of %q", short(name), []string(e)))
	}
	return n
}

// faults gathers what is wrong with a row.
type faults struct {
	errs []error
}

const maxFaults = 8

// take returns what was gathered, and forgets it.
func (f *faults) take() error {
	err := errors.Join(f.errs...)
	f.errs = nil
	return err
}

func (f *faults) fail(err error) {
	if err != nil && len(f.errs) < maxFaults {
		f.errs = append(f.errs, err)
	}
}
