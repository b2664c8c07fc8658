// Package decode gives the OTLP data of an object back.
//
// What comes back is what was sent, in a normal form:
//
//   - Records stand in the order of the object's rows, which in Parquet is
//     clustered by service within a row group. Rows that follow each other with
//     equal resources, in them equal scopes, and in those equal metrics, share
//     one; a resource, scope or metric without records has no row and does not
//     come back.
//   - Of a Parquet object, attributes that were moved come first, in the order of the
//     columns, then the rest in the order sent. Duplicate keys are kept.
//   - Runs of bytes that are not valid UTF-8 have become U+FFFD. A double that is
//     no number has lost its payload, unless it stands in a Parquet column of
//     doubles. Ids of zeros are absent ones.
//   - Of fields met twice the last counts, and parts of a message are merged, as
//     protobuf has it. Fields that OTLP 1.x does not define, and entity
//     references of resources (in development), were not kept.
//
// Objects may be damaged or hostile: every function here returns an error for
// those, and never more records than it was told of before one.
package decode
