package window

import (
	"errors"

	"github.com/s3window/s3window/internal/encode"
	"github.com/s3window/s3window/internal/flush"
)

// ref is an entry of the WAL, whether its payload is held or not.
type ref struct {
	seq     uint64
	stamp   int64
	segment uint64
	size    uint32 // of the payload, bytes
	items   uint32
}

// What an entry costs in memory beside its payload: its ref until its window is
// committed, and while the payload is held, the frame that the WAL gave it in.
const (
	refBytes = 64
	// windowBytes is what a window costs beside its refs and data until it is
	// committed.
	windowBytes = 1024
	hotBytes    = 128
)

// cost is what the entry's payload costs while it is held.
func (f ref) cost() int64 { return int64(f.size) + hotBytes }

// unit is a run of entries of one window that is encoded in one call. Where one
// ends depends on its records alone, so a rebuilt window has the same units.
//
// Its records are held as payloads, or encoded, or not at all (cold): then they
// are read from the WAL again.
type unit struct {
	refs     []ref
	raw      int64
	items    int64
	payloads [][]byte // as refs; nil when cold or encoded
	encoded  bool
	staged   encode.Staged
	rejected []rejected // what does not decode; set with staged
	held     int64      // bytes of the budget that all of these hold
	full     bool
	busy     bool // the loop has it encoded; nobody else touches it
}

// rejected is an entry, or some records of one, that has no place in the
// window.
type rejected struct {
	ref
	record  int    // number of the first of them in the entry, from 1; 0 = the whole entry
	records int64  // how many they are
	payload []byte // a request of them; nil if it is not to be had
	err     error
}

func (u *unit) hot() bool { return u.payloads != nil }

// cost is what the unit costs when its payloads are held.
func (u *unit) cost() int64 { return u.raw + int64(len(u.refs))*hotBytes }

// bulky says that the unit is so much larger encoded than it was raw that it is
// not worth its memory: the smallest object has some 7 kB.
func (u *unit) bulky() bool { return u.encoded && u.held > u.cost()+u.cost()/16 }

// add appends an entry and says how much data of the budget it gave back: a
// unit is hot or cold as a whole, and its extent must not depend on that.
func (u *unit) add(e entry, spec encode.Spec) (freed int64) {
	switch {
	case e.payload == nil:
		freed = u.cool()
	case len(u.refs) > 0 && !u.hot():
		freed = e.cost()
	default:
		u.payloads = append(u.payloads, e.payload)
		u.held += e.cost()
	}
	u.refs = append(u.refs, e.ref)
	u.raw += int64(e.size)
	u.items += int64(e.items)
	u.full = u.items >= int64(spec.RowGroupRows) || u.raw >= spec.RowGroupBytes
	return freed
}

// cool drops what the unit holds beyond its references and says how many bytes
// of the budget that gives back.
func (u *unit) cool() int64 {
	freed := u.held
	u.payloads, u.staged, u.rejected, u.encoded, u.held = nil, encode.Staged{}, nil, false, 0
	return freed
}

// encode encodes the payloads, which it lets go, and holds the result.
func (u *unit) encode(enc *encode.Encoder, b *budget) error {
	var bad []rejected
	entries := make([]encode.Entry, 0, len(u.payloads))
	of := make([]int, 0, len(u.payloads))
	for i, p := range u.payloads {
		if p == nil {
			bad = append(bad, rejected{ref: u.refs[i], records: int64(u.refs[i].items), err: errMissing})
			continue
		}
		entries = append(entries, encode.Entry{Payload: p, ReceivedAt: u.refs[i].stamp})
		of = append(of, i)
	}
	staged, err := enc.Stage(entries)
	if err != nil {
		return err
	}
	held := staged.Bytes
	for _, x := range staged.Rejected {
		r := rejected{ref: u.refs[of[x.Index]], record: x.Record, records: int64(x.Records), payload: x.Payload, err: x.Err}
		if r.record == 0 {
			r.records = int64(r.items)
		}
		bad = append(bad, r)
		held += int64(len(r.payload)) + hotBytes
	}
	u.payloads, u.staged, u.rejected, u.encoded = nil, staged, bad, true
	b.charge(share{data: held - u.held})
	u.held = held
	return nil
}

// errMissing says that an entry was in the WAL when the window took it, and is
// not any more.
var errMissing = errors.New("the entry is no longer in the WAL")

// entry is a ref with its writer and, unless it is cold, its payload.
type entry struct {
	ref
	writer  string
	payload []byte
}

// openWindow takes records until it is sealed.
type openWindow struct {
	writer  string
	dest    *destination
	target  Target
	encoder *encode.Encoder
	pinned  *pin // it is the rebuilding of a window sealed by an earlier process

	first flush.Point
	last  int64
	units []*unit
	raw   int64
	held  int64 // data of the budget
	refs  int   // entries
	// encodedRaw of raw are encoded, into encodedBytes.
	encodedRaw, encodedBytes int64
	staging                  *int // units that the loop has encoded just now
}

// pin is a seal of an earlier process, and its id in the WAL.
type pin struct {
	id uint64
	seal
}

func (p *pin) holds(writer string, stamp int64) bool {
	return writer == p.Writer && stamp >= p.Start && stamp < p.End
}

// add appends an entry and returns the unit it went to, and how many bytes of
// the budget it gave back.
func (w *openWindow) add(e entry) (*unit, int64) {
	if n := len(w.units); n == 0 || w.units[n-1].full {
		w.units = append(w.units, &unit{})
	}
	u := w.units[len(w.units)-1]
	before := u.held
	freed := u.add(e, w.target.Spec)
	w.held += u.held - before
	w.last = e.stamp
	w.raw += int64(e.size)
	w.refs++
	return u, freed
}

// sum is the memory that the window holds.
func (w *openWindow) sum() int64 { return w.held + int64(w.refs)*refBytes + windowBytes }

// expected is the size of the object if the window were sealed now. A record
// that is not encoded counts as ratio of its size.
func (w *openWindow) expected(ratio float64) int64 {
	return w.encodedBytes + int64(float64(w.raw-w.encodedRaw)*ratio)
}

// period says which records may share the window.
func (w *openWindow) period() int64 { return w.target.Align.Period(w.first.Time) }
