package window

import (
	"sync"
	"time"

	"github.com/s3window/s3window/internal/encode"
	"github.com/s3window/s3window/internal/flush"
	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/partition"
)

// progress is how far the flush of a sealed window is.
type progress int

const (
	waiting   progress = iota // for its turn in the pool, or for a retry
	uploading                 // a goroutine of the pool has it
	uploaded                  // its objects are in the bucket
	settling                  // it is being committed and trimmed
)

// sealedWindow is a window whose records are decided. Only the goroutine that
// flushes it touches it while it is uploading or settling.
type sealedWindow struct {
	seal
	dest    *destination
	units   []*unit
	raw     int64
	first   flush.Point
	held    int64 // by its units when its flush began
	entries int

	progress progress
	flight   *flight // while it is uploading
	sealed   bool    // sealID is set
	sealID   uint64  // of the record in the WAL's storage
	staging  *int    // units that the loop has encoded just now
	encoder  *encode.Encoder
	abandon  bool    // its bounds are to be decided anew
	ratio    float64 // of encoded to raw, as far as a flush came that did not fit

	sealedAt   time.Time
	uploadedAt time.Time
	result     upload
	putMu      sync.Mutex             // guards put
	put        map[string]lake.Object // by attempts that did not come to an end
	damaged    []lake.Lost            // entries of the partition that the WAL could not read
}

// upload is what the flush of a window left in the bucket.
type upload struct {
	objects          []lake.Object
	lost             []lake.Lost
	records          int64
	bytes            int64
	replaced         int64
	skewed, refiled  int64
	minTime, maxTime int64
}

func (w *sealedWindow) id() partition.ID {
	return partition.ID{Sink: w.Sink, Tenant: w.Tenant, Signal: w.Signal}
}

// refs are the window's entries, in order.
func (w *sealedWindow) refs(visit func(ref)) {
	for _, u := range w.units {
		for _, r := range u.refs {
			visit(r)
		}
	}
}

func (w *sealedWindow) seqs() []uint64 {
	out := make([]uint64, 0, w.entries)
	w.refs(func(r ref) { out = append(out, r.seq) })
	return out
}

// seal turns the open window into a sealed one.
func (w *openWindow) seal(p *part, reason flush.Reason, end int64, now time.Time) *sealedWindow {
	s := &sealedWindow{
		seal: seal{
			Version: recordVersion, Sink: w.dest.sink, Tenant: p.tenant, Signal: p.signal,
			Writer: w.writer, After: w.dest.after(w.writer), Start: w.first.Time, End: end, Reason: reason,
			Lake: w.target.Lake, Align: w.target.Align, Spec: w.target.Spec,
		},
		dest: w.dest, units: w.units, raw: w.raw, first: w.first, entries: w.refs,
		staging: w.staging, encoder: w.encoder, sealedAt: now,
	}
	if w.pinned != nil {
		s.sealed, s.sealID, s.seal = true, w.pinned.id, w.pinned.seal
	}
	return s
}

// destination is the commit log that a window of a partition goes to.
type destination struct {
	origin
	lake *lake.Lake
	log  Log
	// ends says per writer up to where this log has its records, and sealed up
	// to where windows are sealed for it.
	ends, sealed map[string]int64
}

// after is the end of the writer's last window, committed or sealed.
func (d *destination) after(writer string) int64 {
	return max(d.ends[writer], d.sealed[writer])
}
