package schema

// Kind is what a field is: on the wire, in a column, and in a line.
type Kind int

// Kinds of fields that follow from others, or from where a record was.
const (
	TS           Kind = iota + 1 // the time of the row: microseconds
	Received                     // when the record was received: microseconds
	Duration                     // of a span: nanoseconds
	Service                      // service.name of the resource
	Form                         // which kind of data a metric has
	MetricFields                 // the place of the fields of the metric
)

// Kinds of fields that are on the wire.
const (
	Nanos      Kind = iota + 101 // fixed64: nanoseconds since the epoch
	Int32                        // varint
	Count                        // varint of 32 bits, without a sign
	Flags                        // fixed32
	Label                        // string that repeats
	Enum                         // varint that has names
	Bool                         // varint
	TraceID                      // 16 bytes
	SpanID                       // 8 bytes
	Any                          // AnyValue, with a column for its type
	Attributes                   // KeyValues, with a column for their types
	Uint64                       // fixed64
	Double                       // double
	Sint32                       // zigzag varint
	Number                       // double, or sfixed64; with a column for each
	Uint64s                      // repeated fixed64
	Doubles                      // repeated double
	Varints                      // repeated varint
	Structs                      // repeated message
	Group                        // message whose fields are columns of the row
)

// Type is the type of a column as readers see it.
type Type string

// The types of columns.
const (
	TypeTimestamp Type = "timestamp" // microseconds, UTC
	TypeInt64     Type = "int64"
	TypeInt32     Type = "int32"
	TypeString    Type = "string"
	TypeDouble    Type = "double"
	TypeBool      Type = "bool"
	TypeMap       Type = "map" // of strings to strings
	TypeList      Type = "list"
	TypeStruct    Type = "struct"
)

// columnType is the type of the column of a field of the kind.
func (k Kind) columnType() Type {
	switch k {
	case TS, Received:
		return TypeTimestamp
	case Duration, Nanos, Count, Flags, Uint64:
		return TypeInt64
	case Int32, Sint32:
		return TypeInt32
	case Double, Number:
		return TypeDouble
	case Bool:
		return TypeBool
	case Attributes:
		return TypeMap
	case Uint64s, Doubles, Varints, Structs:
		return TypeList
	}
	return TypeString
}
