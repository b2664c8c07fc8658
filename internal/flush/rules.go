package flush

import (
	"math"
	"time"
)

// Reason says why a window was sealed. Its text stands in manifests and
// metrics.
type Reason string

// The reasons. The table of the package says what leads to each.
const (
	Size     Reason = "size"
	Age      Reason = "age"
	Boundary Reason = "boundary"
	Rotation Reason = "rotation"
	Memory   Reason = "memory"
	Shutdown Reason = "shutdown"
)

// Limits say when a window is sealed by itself.
type Limits struct {
	TargetSize int64         // of the window's objects together, bytes
	MaxAge     time.Duration // of the oldest record
}

// MaxSize is the largest window that fits data bytes of memory: beside it there
// is room for its successor, and for what is being encoded. It is the only
// place that says so.
func MaxSize(data int64) int64 { return data / 3 }

// Point is a point of the queue: a stamp (microseconds since the epoch) and the
// segment of the record there.
type Point struct {
	Time    int64
	Segment uint64
}

// Clock is what the rules know of time.
type Clock struct {
	Safe Point // no record that is still to be read lies before it
	Now  int64 // the queue's own clock: Safe.Time, unless the reader is behind
	Room int   // windows that the pool takes: age seals no more
}

func (c Clock) behind(age time.Duration) bool { return c.Now-c.Safe.Time > age.Microseconds() }

// Never is the Until of a window that no boundary ends.
const Never = math.MaxInt64

// Window is what the rules look at of an open window.
type Window struct {
	Writer   string
	First    Point // of its oldest record
	Last     int64 // stamp of its newest record
	Until    int64 // stamp at which its hour or day ends; Never if none does
	Limits   Limits
	Expected int64   // size of the objects if it were sealed now, bytes
	Held     int64   // memory that it holds, bytes
	Raw      int64   // size of its records as they came, bytes
	Rebuilt  *Bounds // the bounds that an earlier process sealed it with; nil for a new window
	// Waits says that windows of its partition before it are not in the bucket
	// yet. It could not be committed before them, so age does not seal it.
	Waits bool
}

// Bounds are those of a window that was sealed before: its records have stamps
// in [Start, End).
type Bounds struct {
	Start, End int64
	Reason     Reason
}

// Next is the next record of a window's partition.
type Next struct {
	Writer string
	Point
	Sealed bool // it belongs to a window that an earlier process sealed
}

// Before returns why w ends before next; false if next may join it. Of c the
// safe point is not asked: it is that of next.
func (w *Window) Before(next Next, c Clock) (Reason, bool) {
	if b := w.Rebuilt; b != nil {
		inside := next.Writer == w.Writer && b.Start <= next.Time && next.Time < b.End
		return b.Reason, !inside
	}
	if next.Time == w.Last && next.Writer == w.Writer {
		return "", false // a window is cut only between stamps
	}
	c.Safe = next.Point
	switch {
	case next.Writer != w.Writer, next.Time >= w.Until, next.Sealed:
		return Boundary, true
	case next.Segment > w.First.Segment:
		return Rotation, true
	case c.Room > 0 && w.aged(c):
		return Age, true
	case w.Full():
		return Size, true
	}
	return "", false
}

// Full says that w has reached the target size.
func (w *Window) Full() bool { return w.Rebuilt == nil && w.Expected >= w.Limits.TargetSize }

// Due returns why w ends at c; false if it does not.
func (w *Window) Due(c Clock) (Reason, bool) {
	switch {
	case w.Rebuilt != nil:
		return w.Rebuilt.Reason, c.Safe.Time >= w.Rebuilt.End
	case c.Safe.Segment > w.First.Segment:
		return Rotation, true
	case c.Safe.Time >= w.Until:
		return Boundary, true
	case c.Room > 0 && w.aged(c):
		return Age, true
	}
	return "", false
}

func (w *Window) aged(c Clock) bool {
	return c.Safe.Time >= w.agedAt() && !w.Waits && !c.behind(w.Limits.MaxAge)
}

// agedAt is the stamp at which the oldest record is MaxAge old.
func (w *Window) agedAt() int64 { return w.First.Time + w.Limits.MaxAge.Microseconds() }

// endsAt is the stamp at which w ends whatever its age.
func (w *Window) endsAt() int64 {
	if w.Rebuilt != nil {
		return w.Rebuilt.End
	}
	return w.Until
}

// What a window must have to be worth a commit at shutdown.
const (
	worthBytes = 1 << 20
	worthAge   = 10 * time.Second
)

// worth says that w is worth a commit when the collector stops at now.
func (w *Window) worth(now int64) bool {
	return w.Raw >= worthBytes || now-w.First.Time >= worthAge.Microseconds()
}
