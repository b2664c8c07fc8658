package partition

import "fmt"

// Signal is the kind of telemetry a partition holds. Its text is what stands
// in keys, manifests and heads.
type Signal string

// The signals of a partition.
const (
	Logs    Signal = "logs"
	Traces  Signal = "traces"
	Metrics Signal = "metrics"
)

// ParseSignal returns the signal that s names.
func ParseSignal(s string) (Signal, error) {
	switch sig := Signal(s); sig {
	case Logs, Traces, Metrics:
		return sig, nil
	}
	return "", fmt.Errorf("signal %q is not one of logs, traces, metrics", s)
}

// ID names a partition. It is comparable; two equal IDs share one commit log.
type ID struct {
	Sink   string
	Tenant string
	Signal Signal
}

// String gives the partition's name as it stands in keys:
// sink=<sink>/tenant=<tenant>/signal=<signal>, values escaped.
func (id ID) String() string {
	return "sink=" + Escape(id.Sink) + "/tenant=" + Escape(id.Tenant) + "/signal=" + string(id.Signal)
}
