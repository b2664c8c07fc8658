package schema

// Kind is what a field is: on the wire, in a column, and in a line.
type Kind int

// Kinds of fields that follow from others, or from where a record was.
const (
	TS           Kind = iota + 1 // the time of the row: microseconds
	Received                     // when the record was received: microseconds
	Duration                     // of a span: nanoseconds
	Service                      // service.name of the resource
	Tenant                       // whose the object is; not in lines
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
	Number                       // double, or sfixed64; a column has all of them, another the integers
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

// kindText is how a kind stands in documents: its name, its type in Parquet and
// how that is encoded.
type kindText struct {
	kind                Kind
	name, typ, encoding string
}

func kindTexts() []kindText {
	const (
		dictionary = "dictionary"
		text       = "STRING"
	)
	return []kindText{
		{TS, "time of the row", "INT64 TIMESTAMP(MICROS, UTC)", "delta"},
		{Received, "time of receipt", "INT64 TIMESTAMP(MICROS, UTC)", "delta"},
		{Duration, "duration", "INT64", "delta"},
		{Nanos, "nanoseconds", "INT64", "delta"},
		{Service, "service", text, dictionary + "; row groups are sorted by it"},
		{Tenant, "tenant", text, "dictionary; written when the object is joined, not compressed"},
		{Int32, "number of 32 bits", "INT32", dictionary},
		{Sint32, "number of 32 bits in points", "INT32", dictionary},
		{Count, "count", "INT64 (0 … 2³²−1)", dictionary},
		{Flags, "flags", "INT64 (0 … 2³²−1)", dictionary},
		{Label, "text that repeats", text, dictionary},
		{Enum, "number that has names", text, dictionary},
		{Form, "kind of metric", text, dictionary},
		{Bool, "boolean", "BOOLEAN", "PLAIN"},
		{TraceID, "trace id", "STRING, 32 hex digits or empty", "PLAIN"},
		{SpanID, "span id", "STRING, 16 hex digits or empty", "PLAIN"},
		{Any, "value of any kind", text, "PLAIN; its letter: dictionary"},
		{Attributes, "attributes", "MAP<STRING, STRING>", "dictionaries; their letters: dictionary"},
		{Uint64, "number of 64 bits", "INT64", dictionary},
		{Double, "double", "DOUBLE", dictionary},
		{Number, "double or integer", "DOUBLE, INT64", dictionary},
		{Uint64s, "numbers", "LIST<INT64>", dictionary},
		{Varints, "counts of buckets", "LIST<INT64>", dictionary},
		{Doubles, "doubles", "LIST<DOUBLE>", dictionary},
		{Structs, "list of messages", "LIST<STRUCT>", "times delta, ids PLAIN, all else in dictionaries"},
	}
}

// Kinds returns the kinds that have columns.
func Kinds() (out []Kind) {
	for _, t := range kindTexts() {
		out = append(out, t.kind)
	}
	return out
}

// String returns the kind's name in documents.
func (k Kind) String() string { return k.text().name }

// Parquet returns the type of the kind's columns, and how they are encoded.
func (k Kind) Parquet() (typ, encoding string) { return k.text().typ, k.text().encoding }

func (k Kind) text() kindText {
	for _, t := range kindTexts() {
		if t.kind == k {
			return t
		}
	}
	return kindText{}
}
