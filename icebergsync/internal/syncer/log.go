package syncer

import (
	"fmt"
	"time"

	"github.com/s3window/s3window/icebergsync/internal/progress"
	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/partition"
)

// Log is a commit log of the lake.
type Log = partition.ID

// Problem is why a log does not go on.
type Problem struct {
	Log Log
	K   uint64 // the window that it does not go beyond
	// Blocked: no attempt will help, somebody must act. Otherwise it is tried
	// again.
	Blocked bool
	Why     string
}

func (p Problem) Error() string {
	return fmt.Sprintf("tenant %q, %s of sink %q, window %d: %s", p.Log.Tenant, p.Log.Signal, p.Log.Sink, p.K, p.Why)
}

// memory is what a process remembers of a log between passes. It saves requests;
// nothing rests on it.
type memory struct {
	due     time.Time     // it is looked at again then
	wait    time.Duration // how long it was left alone the last time
	checked time.Time     // when the mark's manifest was last compared
	ahead   ahead
	told    uint64 // windows up to this one that were passed over were told of
	problem *Problem
	behind  int       // windows that wait; at least
	oldest  time.Time // when the oldest of them was committed
}

// ahead is how far a log was read beyond the table's mark, over windows that add
// nothing to the table. It holds for that mark alone.
type ahead struct {
	base    progress.Mark
	to      progress.Mark
	skipped []uint64 // windows that hold records in another format
}

// from returns where reading goes on from.
func (m *memory) from(mark progress.Mark) ahead {
	if m.ahead.base == mark && m.ahead.to.K > mark.K {
		return m.ahead
	}
	return ahead{base: mark, to: mark}
}

// rest puts the next look off, twice as long as the last time.
func (m *memory) rest(o Options) {
	m.wait = min(max(2*m.wait, o.Interval), o.MaxIdle)
	m.due = o.Now().Add(m.wait)
}

// wake has the next pass look again.
func (m *memory) wake() { m.wait, m.due = 0, time.Time{} }

// window is a committed window that was read.
type window struct {
	manifest lake.Manifest
	sha      string
	contents []Contents // of its objects
	skip     bool       // its records are in a format that tables do not have
}

func (w window) mark() progress.Mark { return progress.MarkOf(w.manifest.K, w.sha) }

// news is what was read of one log in one step.
type news struct {
	log     Log
	key     string // the log's property
	from    ahead
	windows []window
	more    bool // there may be others behind them
	problem *Problem
}
