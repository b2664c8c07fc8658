// Command compat writes lakes for the readers' matrix: the same records, of
// every signal and ordinary as well as hostile, in every format and codec, with
// the keys, objects and manifests that the exporter gives them. Beside the
// lakes lies what a reader must find there, as JSON. The expectation comes from
// what pdata makes of the OTLP bytes and shares no code with the encoder.
//
// The scripts in readers/ compare. `make compat` runs it all.
package main
