package s3windowexporter

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
)

// crashVariable names a point at which the process kills itself, as point or
// point:n for the n-th time that it passes there. It is for tests of recovery,
// and has no effect where it is unset. The points are after_seal, mid_upload,
// after_upload, after_acquire, after_manifest, after_confirm, mid_trim, and the
// finer labels of the packages below, such as "commit:put-manifest done".
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
		return nil, fmt.Errorf("read %s (%q): must be a point, or a point and how often it is passed, such as after_seal:3", crashVariable, value)
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
