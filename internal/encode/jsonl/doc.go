// Package jsonl encodes OTLP requests as JSON lines, one record per line,
// straight from wire bytes.
//
// # Lines
//
// A line has the names of the Parquet columns as its fields, all of them, in
// the order of the columns, without insignificant space but for the marks
// below. Records stand in the order sent. Text is UTF-8, with each run of
// invalid bytes replaced by U+FFFD; quotes, backslashes and control characters
// are escaped, so that a newline only ever ends a line.
//
//   - ts and received_at are RFC 3339 in UTC with nine digits of a second; ts
//     has the nanoseconds of the time it was taken from. …_unix_nano, counts and
//     buckets are numbers, as int64 like the columns.
//   - Numbers are exact, also beyond 2^53: a reader that takes them as doubles
//     rounds what it reads, not what is there.
//   - Ids are lower-case hexadecimal, empty where there is none.
//   - attributes, scope_attributes, resource_attributes and metric_metadata are
//     objects in the order sent, duplicate keys kept.
//   - Lists of structs are arrays of objects with all their fields, lists of
//     numbers arrays. What a column has no value for is null.
//
// # Values
//
// Values of attributes, and the body, are JSON of their own kind: strings,
// numbers, true, false, null for an absent value, arrays, objects. A double
// always has a point or an exponent, an integer never. Bytes are a string of
// base64, and doubles that JSON has no number for are the strings "NaN",
// "Infinity" and "-Infinity".
//
// What kind a value is says body_type, and for attributes the …_types field
// beside the object, one letter per entry: s i d b y a o n, as in Parquet.
// Inside arrays and objects, where no letter reaches, one space before a string
// says that it stands for bytes, and two that it stands for a double; a tool
// that rewrites lines loses that one distinction.
//
// # Promoted columns
//
// A promoted column is one more field at the end of the line: those of the
// record first, then those of its scope, then those of its resource. It is null
// where the attribute is absent or of another type. Unlike in Parquet the
// attribute stays where it was too: a line has no footer that could say where
// its fields came from, and must be whole without one.
//
// # Objects
//
// Each Stage gives one zstd frame or one gzip member. Any number of them, one
// behind the other, is an object. A frame has a checksum; a member has neither
// time nor name.
package jsonl
