package otlp

import (
	"slices"
	"strconv"
)

// Enum is an enumeration of OTLP whose values have names, from 0 on.
type Enum []string

// SpanKinds are the names of what a span can be.
func SpanKinds() Enum {
	return Enum{"unspecified", "internal", "server", "client", "producer", "consumer"}
}

// StatusCodes are the names of how a span can have ended.
func StatusCodes() Enum { return Enum{"unset", "ok", "error"} }

// Temporalities are the names of what the points of a metric can add up.
func Temporalities() Enum { return Enum{"unspecified", "delta", "cumulative"} }

// Append appends the name of a value, and the number in decimal where it has
// none.
func (e Enum) Append(dst []byte, n int32) []byte {
	if n >= 0 && int(n) < len(e) {
		return append(dst, e[n]...)
	}
	return strconv.AppendInt(dst, int64(n), 10)
}

// Parse returns the value that Append gives text for, or false if there is
// none.
func (e Enum) Parse(text string) (int32, bool) {
	if n := slices.Index(e, text); n >= 0 {
		return int32(n), true
	}
	n, err := strconv.ParseInt(text, 10, 32)
	return int32(n), err == nil
}

// MetricType is the name of a metric's kind of data, which is the number of
// its field.
func MetricType(kind uint64) string {
	switch kind {
	case Gauge:
		return "gauge"
	case Sum:
		return "sum"
	case Histogram:
		return "histogram"
	case ExponentialHistogram:
		return "exponential_histogram"
	}
	return "summary"
}
