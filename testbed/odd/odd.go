// Package odd is a corpus of strange OTLP requests of all signals: what a
// receiver may hand on, and what it may not. The door, the encoder, JSON lines,
// decode, replay and the readers' matrix all go through the one list.
//
// A case that once went wrong anywhere becomes a case here, and is then tried
// everywhere.
package odd

import (
	"github.com/s3window/s3window/internal/partition"
)

// Case is one request: an Export…ServiceRequest of its signal as bytes.
type Case struct {
	Name    string
	Signal  partition.Signal
	Payload []byte
	// Valid says that it is OTLP: pdata reads it, and so every record of it must
	// come out of a lake. Others must be refused, whole, with an error and not a
	// panic, and must cost their neighbours nothing.
	Valid bool
}

// Signals are those that there are cases of.
func Signals() []partition.Signal {
	return []partition.Signal{partition.Logs, partition.Traces, partition.Metrics}
}

// Cases are all cases of a signal. The bytes are the caller's.
func Cases(s partition.Signal) []Case {
	out := valid(s)
	out = append(out, wire(s)...)
	return append(out, malformed(s)...)
}

// Requests are the payloads of the valid cases that pdata itself can write, as
// a reader is shown them.
func Requests(s partition.Signal) (out [][]byte) {
	for _, c := range valid(s) {
		out = append(out, c.Payload)
	}
	return out
}

// Tenants are names that keys percent-encode, or that readers may take for
// something else than text.
func Tenants() []string { return []string{"a/b c%", "", "ü😀", "007", "2026-01-01", ".."} }
