package syncer

import (
	"context"
	"time"
)

// Options are a Table's settings. All must be set.
type Options struct {
	// MaxWindows bounds the windows of one commit.
	MaxWindows int
	// SkipLines passes over windows of JSON lines; otherwise they block their
	// log.
	SkipLines bool
	// Keep is how many snapshots a table has at least before the oldest are
	// forgotten.
	Keep int
	// Interval is the time between two passes; a log that is idle is looked at
	// less and less often, down to every MaxIdle.
	Interval time.Duration
	MaxIdle  time.Duration
	// Now is the clock of probes and lag.
	Now func() time.Time
	// Pause waits after the nth attempt in a row that did not succeed.
	Pause func(ctx context.Context, n int) error
	// Observer is told what happens; its functions may be nil.
	Observer Observer
}

// Outcome is what came of a change.
type Outcome string

// The outcomes of a change.
const (
	Committed Outcome = "committed"
	Conflict  Outcome = "conflict"
	Unknown   Outcome = "unknown"
)

// Observer is told what a Table does, on the goroutine that does it.
type Observer struct {
	// Changed is called after every change, with what it held.
	Changed func(kind string, outcome Outcome, took time.Duration, windows int, err error)
	// Skipped is called for windows that were passed over.
	Skipped func(log Log, k uint64, format string)
	// Progress is called after every commit of a pass.
	Progress func(Report)
}

// tries bounds the attempts of a pass that do not succeed in a row.
const tries = 20

// loneSkips is how many windows without objects are gathered before they are
// written down without a snapshot. A restart reads as many again.
const loneSkips = 64

// recheck is how often the manifest that a mark names is compared with it while
// a log is idle. It is how a lake that was emptied and begun anew is seen.
const recheck = time.Hour

func (o Options) changed(kind string, started time.Time, windows int, err error, conflict bool) {
	if o.Observer.Changed == nil {
		return
	}
	outcome := Committed
	switch {
	case conflict:
		outcome = Conflict
	case err != nil:
		outcome = Unknown
	}
	o.Observer.Changed(kind, outcome, o.Now().Sub(started), windows, err)
}
