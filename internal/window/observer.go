package window

import (
	"time"

	"github.com/s3window/s3window/internal/flush"
	"github.com/s3window/s3window/internal/partition"
	"github.com/s3window/s3window/internal/window/sealed"
)

// Observer is told what happens, for metrics and status. Calls come from one
// goroutine and must not block.
type Observer interface {
	// Committed tells of a window that became real.
	Committed(c Committed)
	// Retried tells that a step went wrong and is to be tried again. Those of the
	// queue's storage are of no tenant and signal.
	Retried(step sealed.Step, tenant string, signal partition.Signal)
	// Fenced tells that another process committed records of this queue.
	Fenced(tenant string, signal partition.Signal)
	// Lost tells of records that will be in no window.
	Lost(entries int, records int64, tenant string, signal partition.Signal)
	// Health tells that something cannot go on (err says what it waits for), or
	// with nil that everything can. It is called on change only.
	Health(err error)
}

// Committed is one committed window.
type Committed struct {
	Tenant   string
	Signal   partition.Signal
	Reason   flush.Reason
	Records  int64
	Bytes    int64         // of its objects
	RawBytes int64         // of its records as they came
	Objects  int           // it consists of
	Replaced int64         // strings whose invalid UTF-8 was replaced
	Skewed   int64         // records whose own time is too far off to be filed under it
	Refiled  int64         // records that are not in a directory of their own, of which there were too many
	Small    int64         // the same, because theirs would have been too small
	Flush    time.Duration // from the seal to the upload's end
	Commit   time.Duration // from there to the confirmed head
}

// Stats is a snapshot of a Runtime.
type Stats struct {
	Held, Limit int64         // memory, bytes
	Peak        int64         // the most that was ever held, bytes
	Open        int           // windows
	Sealed      int           // windows sealed and not yet committed
	Behind      int           // partitions with entries that are in the queue only
	Lag         time.Duration // age of the oldest record that is not committed
}
