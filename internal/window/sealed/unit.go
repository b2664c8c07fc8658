package sealed

import (
	"errors"

	"github.com/s3window/s3window/internal/encode"
	"github.com/s3window/s3window/internal/flush"
	"github.com/s3window/s3window/internal/window/memory"
)

// Ref is a reference to an entry of the queue, whether its payload is held or
// not.
type Ref struct {
	Seq     uint64
	Stamp   int64
	Segment uint64
	Size    uint32 // of the payload, bytes
	Items   uint32
}

// Position is a place in the queue. The zero value is none.
type Position struct {
	Seq uint64
	flush.Point
}

// Position is where the entry is.
func (f Ref) Position() Position {
	return Position{f.Seq, flush.Point{Time: f.Stamp, Segment: f.Segment}}
}

// EntryBytes is what the frame of an entry costs while its payload is held.
const EntryBytes = 128

// Cost is what the entry's payload costs while it is held, bytes.
func (f Ref) Cost() int64 { return int64(f.Size) + EntryBytes }

// Entry is an entry of the queue with its payload, and the memory that both and
// its reference are held in.
type Entry struct {
	Ref
	Writer  string
	Payload []byte
	Hold    memory.Share
}

// Unit is a run of entries of one window that is encoded in one call. Where one
// ends depends on its records alone, so a rebuilt window has the same units.
//
// Its records are held as payloads (hot), or encoded, or not at all (cold):
// then they are read from the queue again.
type Unit struct {
	refs []Ref
	raw  int64
	full bool

	items    int64
	payloads [][]byte     // as refs; nil unless hot
	rows     *rows        // nil unless encoded
	data     memory.Share // that payloads or rows are held in

	busy    bool  // a goroutine encodes it: nobody else touches what is above
	atStart int64 // of data, when that began
}

// rows are what a unit became when it was encoded.
type rows struct {
	encode.Staged
	rejected []rejected
}

// rejected is an entry, or some records of one, that has no place in the
// window.
type rejected struct {
	Ref
	record  int    // number of the first of them in the entry, from 1; 0 = the whole entry
	records int64  // how many they are
	payload []byte // a request of them; nil if it is not to be had
	err     error
}

// Full says that the unit takes no more entries.
func (u *Unit) Full() bool { return u.full }

// Busy says that a goroutine encodes the unit.
func (u *Unit) Busy() bool { return u.busy }

// Hot says that the unit holds its payloads.
func (u *Unit) Hot() bool { return !u.busy && u.payloads != nil }

// Raw is the size of the payloads, bytes.
func (u *Unit) Raw() int64 { return u.raw }

// Payloads returns the first entries of a hot unit, until they have least bytes,
// and how many they have. They must not be written to.
func (u *Unit) Payloads(least int64) (entries []encode.Entry, raw int64) {
	if !u.Hot() {
		return nil, 0
	}
	for i := 0; i < len(u.payloads) && raw < least; i++ {
		entries = append(entries, encode.Entry{Payload: u.payloads[i], ReceivedAt: u.refs[i].Stamp})
		raw += int64(u.refs[i].Size)
	}
	return entries, raw
}

// Encoded is the size of the rows, bytes; false if there are none.
func (u *Unit) Encoded() (int64, bool) {
	if u.busy || u.rows == nil {
		return 0, false
	}
	return u.rows.Size, true
}

// Held is the data that the unit holds, or held when it began to be encoded,
// bytes.
func (u *Unit) Held() int64 {
	if u.busy {
		return u.atStart
	}
	return u.data.Data()
}

func (u *Unit) cold() bool { return u.rows == nil && u.payloads == nil }

// cost is what the unit costs while its payloads are held.
func (u *Unit) cost() int64 { return u.raw + int64(len(u.refs))*EntryBytes }

// bulky says that the unit is so much larger encoded than it was raw that it is
// not worth its memory: the smallest object has some 10 kB.
func (u *Unit) bulky() bool { return u.rows != nil && u.Held() > u.cost()+u.cost()/16 }

// Add appends an entry. Its payload is held if those of all entries before it
// are: a unit is hot or cold as a whole, and its extent must not depend on that.
// The reference is held in refs from then on.
func (u *Unit) Add(e *Entry, spec *encode.Spec, refs *memory.Share) {
	if len(u.refs) == 0 || u.Hot() {
		data := e.Hold.Split(e.Cost(), 0)
		u.data.Join(&data)
		u.payloads = append(u.payloads, e.Payload)
	}
	ref := e.Hold.Split(0, memory.RefBytes)
	refs.Join(&ref)
	e.Hold.Release()
	u.refs = append(u.refs, e.Ref)
	u.raw += int64(e.Size)
	u.items += int64(e.Items)
	u.full = u.items >= int64(spec.RowGroupRows) || u.raw >= spec.RowGroupBytes
}

// Cool drops what the unit holds beyond its references, unless a goroutine
// works on it, and returns how many bytes of the budget that gave back.
func (u *Unit) Cool() int64 {
	if u.busy {
		return 0
	}
	return u.drop()
}

func (u *Unit) drop() int64 {
	freed := u.Held()
	u.data.Release()
	u.payloads, u.rows = nil, nil
	return freed
}

// encode encodes the payloads, which it lets go, and holds the rows.
func (u *Unit) encode(enc *encode.Encoder) error {
	var bad []rejected
	entries := make([]encode.Entry, 0, len(u.payloads))
	of := make([]int, 0, len(u.payloads))
	for i, p := range u.payloads {
		if p == nil {
			bad = append(bad, rejected{Ref: u.refs[i], records: int64(u.refs[i].Items), err: errMissing})
			continue
		}
		entries = append(entries, encode.Entry{Payload: p, ReceivedAt: u.refs[i].Stamp})
		of = append(of, i)
	}
	staged, err := enc.Stage(entries)
	if err != nil {
		return err
	}
	held := staged.Bytes
	for _, x := range staged.Rejected {
		r := rejected{Ref: u.refs[of[x.Index]], record: x.Record, records: int64(x.Records), payload: x.Payload, err: x.Err}
		if r.record == 0 {
			r.records = int64(r.Items)
		}
		bad = append(bad, r)
		held += int64(len(r.payload)) + EntryBytes
	}
	u.payloads, u.rows = nil, &rows{Staged: staged, rejected: bad}
	u.data.Resize(held, 0)
	return nil
}

// errMissing says that an entry was in the queue when the window took it, and is
// not any more.
var errMissing = errors.New("the entry is no longer in the queue")
