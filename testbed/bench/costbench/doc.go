// Command costbench says what the exporter costs in a collector that runs for
// real: OTLP over gRPC in, a queue on disk, windows in an S3 server. The receiver
// alone, with an exporter behind it that drops everything, is the floor.
//
// What it counts is CPU time of the collector's process, from the first request
// until the last record is committed; the server and this program have
// processes of their own. Rates say little on a machine that does other work;
// CPU time, memory and bytes do.
package main
