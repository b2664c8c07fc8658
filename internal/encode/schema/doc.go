// Package schema is the table of what rows have: every field of every signal,
// its name, what it is on the wire, its column, and what it means.
//
// All that follows from it is made from it: by go generate the functions that
// decode OTLP (package otlp), that put columns (package encode), that append
// JSON lines (package jsonl) and the numbers of fields (package decode), and the
// tables of the documents. A test holds what was generated to the table.
//
// To add a column: add its Field here, run go generate, add the line of package
// decode that sets it, and renew the goldens. A schema only grows; that bumps
// Version.
package schema

//go:generate go run ./gen -root ../../..
