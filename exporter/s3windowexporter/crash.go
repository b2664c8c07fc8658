package s3windowexporter

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
)

// crashVariable names a step at which the process kills itself, as label or
// label:n for the n-th time that it passes there. It is for crash drills, and
// has no effect where it is unset. Labels are "<package>:<operation>" for what
// comes before an operation and "<package>:<operation> done" for what comes after
// it. README.md lists them.
const crashVariable = "S3WINDOW_CRASH_AT"

// crashPoint kills the process the n-th time that a label is passed.
type crashPoint struct {
	label string
	left  atomic.Int64
	kill  func()
}

// newCrashPoint reads a value of crashVariable. Text behind the last colon that
// is not a number belongs to the label.
func newCrashPoint(value string, kill func()) (*crashPoint, error) {
	label, times := value, int64(1)
	if i := strings.LastIndexByte(value, ':'); i >= 0 {
		if n, err := strconv.ParseInt(value[i+1:], 10, 64); err == nil {
			label, times = value[:i], n
		}
	}
	if label == "" || times < 1 {
		return nil, fmt.Errorf("read %s (%q): must be the label of a step, or a label and how often it is passed, such as wal:seal:3", crashVariable, value)
	}
	c := &crashPoint{label: label, kill: kill}
	c.left.Store(times)
	return c, nil
}

// pass is called at every label.
func (c *crashPoint) pass(label string) {
	if label == c.label && c.left.Add(-1) == 0 {
		c.kill()
	}
}

// steps gives what to call at every label: nothing that happens, unless
// crashVariable is set.
func steps() (pass func(label string), crashes bool, err error) {
	value := os.Getenv(crashVariable)
	if value == "" {
		return func(string) {}, false, nil
	}
	c, err := newCrashPoint(value, killSelf)
	if err != nil {
		return nil, false, err
	}
	return c.pass, true, nil
}

// killSelf ends the process as kill -9 does: nothing is flushed, closed or
// released. It does not return.
func killSelf() {
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		_ = self.Kill()
	}
	select {}
}
