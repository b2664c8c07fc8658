package sealed

import (
	"context"
	"sync"
	"time"

	"github.com/s3window/s3window/internal/commit"
	"github.com/s3window/s3window/internal/encode"
	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/wal"
	"github.com/s3window/s3window/internal/window/memory"
)

// Log is one partition's commit log at one lake; *commit.Log is one.
type Log interface {
	Read(ctx context.Context) (commit.Ends, error)
	Resolve(ctx context.Context, writer string, oldest int64) (int64, error)
	Commit(ctx context.Context, ws []commit.Window) (int, error)
	Sweep(ctx context.Context, writers ...string) ([]string, error)
	Doubt()
}

// Destination is where windows of a partition go.
type Destination struct {
	Lake *lake.Lake
	Log  Log
}

// Queue is what a flush asks of the queue; *wal.WAL is one.
type Queue interface {
	Reread(ctx context.Context, seqs []uint64) ([]wal.Entry, error)
	Trim(ctx context.Context, seqs []uint64) error
	PutSeal(ctx context.Context, value []byte) (uint64, error)
	DeleteSeal(ctx context.Context, id uint64) error
}

// Window is a window whose bounds are decided. Nothing of it is written.
type Window struct {
	Seal
	To Destination

	Units    []*Unit
	Entries  int
	Raw      int64        // size of the payloads, bytes
	First    Position     // of its oldest entry
	Refs     memory.Share // that its references are held in
	Encoder  *encode.Encoder
	SealedAt time.Time
}

// Durable is a window whose seal is in the queue's storage.
type Durable struct {
	*Window
	SealID uint64

	mu  sync.Mutex             // guards put
	put map[string]lake.Object // by attempts that did not come to an end
}

// Rebuilt returns a window as an earlier process sealed it under id.
func Rebuilt(w *Window, id uint64) *Durable { return &Durable{Window: w, SealID: id} }

// Uploaded is a window whose objects are in the bucket.
type Uploaded struct {
	*Durable
	Result
	At time.Time
	// Damaged are entries of the partition that the queue could not read: the
	// window's manifest names them as lost.
	Damaged []lake.Lost
}

// Result is what a flush left in the bucket.
type Result struct {
	Objects          []lake.Object
	Lost             []lake.Lost // entries that do not decode, kept in the quarantine
	Missing          []lake.Lost // entries that are no longer in the queue
	Records          int64
	Bytes            int64 // of the objects
	Replaced         int64 // strings whose invalid UTF-8 was replaced
	Skewed           int64 // records whose own time is too far off to be filed under it
	Refiled          int64 // records that are not in a directory of their own, because there would be too many
	Small            int64 // the same, because theirs would be too small
	MinTime, MaxTime int64
}

// Committed is a window whose manifest is in the bucket.
type Committed struct{ *Uploaded }

// Busy says that a goroutine encodes one of the window's units.
func (w *Window) Busy() bool {
	for _, u := range w.Units {
		if u.busy {
			return true
		}
	}
	return false
}

// Cool drops what the window holds beyond its references, and returns how many
// bytes of the budget that gave back.
func (w *Window) Cool() (freed int64) {
	for _, u := range w.Units {
		freed += u.Cool()
	}
	return freed
}

// CoolBulky drops encoded units that are not worth their memory.
func (w *Window) CoolBulky() { CoolBulky(w.Units) }

// CoolBulky drops encoded units that are not worth their memory.
func CoolBulky(units []*Unit) {
	for _, u := range units {
		if u.bulky() {
			u.Cool()
		}
	}
}

// Held is what the window's units hold, and the raw size of those that are
// encoded, bytes.
func (w *Window) Held() (held, encodedRaw int64) {
	for _, u := range w.Units {
		held += u.Held()
		if u.rows != nil {
			encodedRaw += u.raw
		}
	}
	return held, encodedRaw
}

// Release lets everything go that the window holds, references included.
func (w *Window) Release() {
	for _, u := range w.Units {
		u.drop()
	}
	w.Refs.Release()
}

// cold says that a part of the window has to be read back from the queue.
func (w *Window) cold() bool {
	for _, u := range w.Units {
		if u.cold() {
			return true
		}
	}
	return false
}

func (w *Window) seqs() []uint64 {
	out := make([]uint64, 0, w.Entries)
	for _, u := range w.Units {
		for _, r := range u.refs {
			out = append(out, r.Seq)
		}
	}
	return out
}

// Empty says that the window has nothing to commit: its entries hold no
// records. They are trimmed all the same.
func (u *Uploaded) Empty() bool {
	return u.Records == 0 && len(u.Lost) == 0 && len(u.Damaged) == 0
}
