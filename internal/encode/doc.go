// Package encode turns OTLP requests into data objects, straight from wire
// bytes to Parquet columns or to JSON lines; package decode gives the OTLP back.
//
// It works in two steps, so that a window need not stay raw until it is
// sealed. Stage encodes a number of requests into self-contained row groups or
// frames of lines. Assemble joins any number of those into one object. Both are
// pure: the same entries give the same bytes, whatever was encoded before and
// on however many goroutines.
//
// DESIGN.md has the physical schema and the reasons for it.
package encode
