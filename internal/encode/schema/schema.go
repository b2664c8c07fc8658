package schema

import "github.com/s3window/s3window/internal/partition"

// Version is the version of the schemas, as manifests and footers have it.
const Version = 1

// Field is a field of a message, and the column that it has.
type Field struct {
	Name    string // of the column
	Kind    Kind
	Wire    int           // number in its message; 0 = it is not on the wire
	Integer int           // of a Number: the number of the integer
	Forms   [NumForms]int // numbers in the forms of its message, in place of Wire
	Null    bool          // the column may have no value
	Sent    bool          // the wire tells whether there is a value
	Always  [NumForms]bool
	Indexed bool     // the column has statistics; that of a TraceID a bloom filter
	Names   string   // of an Enum: the function of package otlp that returns them
	Of      *Message // of Structs and Group
	Doc     string
}

// Message is a message of OTLP.
type Message struct {
	Name   string // of its type in package otlp
	Proto  string // in OTLP
	What   string // what it is, in the plural
	Prefix string // that the names of all its columns have
	Fields []Field
}

// The forms of a data point: each is a message of its own.
const (
	NumberPoint = iota
	HistogramPoint
	ExponentialPoint
	SummaryPoint
	NumForms
)

// Signal is what an object has rows of.
type Signal struct {
	Name   partition.Signal
	Row    Message   // of a row
	Around []Message // what rows share, from the inside out
}

// Signals returns the schemas of all signals.
func Signals() []Signal {
	return []Signal{
		{Name: partition.Logs, Row: Log(), Around: []Message{Scope(), Resource()}},
		{Name: partition.Traces, Row: Span(), Around: []Message{Scope(), Resource()}},
		{Name: partition.Metrics, Row: Point(), Around: []Message{Metric(), Scope(), Resource()}},
	}
}

// Of returns the schema of a signal, or false if it has none.
func Of(name partition.Signal) (Signal, bool) {
	for _, s := range Signals() {
		if s.Name == name {
			return s, true
		}
	}
	return Signal{}, false
}
