package encode

import (
	"encoding/binary"
	"fmt"

	"github.com/klauspost/compress/s2"

	"github.com/s3window/s3window/internal/encode/route"
)

// Filing says how the records of a window are dealt out to objects in several
// directories; Level is one more level of those.
type (
	Filing = route.Rule
	Level  = route.Level
	Least  = route.Least
)

// Bounds of a Filing.
const (
	MaxLevels   = route.MaxBy
	MaxPrefixes = route.MaxPlaces
)

// filed is what of one Stage call belongs to one place: encoded, or, where that
// would make a row group of a few records, carried as it came until the rest
// of the window is known.
type filed struct {
	route.Place
	staged Staged
	items  int

	carried []byte // the entries, compressed; nil if they are encoded
	raw     int64  // the size of the entries
}

// What is encoded at once. Less is carried and joined with what other calls
// have for the same place.
const (
	directItems = 8192
	directBytes = 4 << 20
	// joinBytes bounds the raw size of what is joined to a row group: it is
	// memory beside everything else.
	joinBytes = 8 << 20
	// filedBytes is what a filed costs in memory beside what it refers to, with
	// what the slice that holds it has to spare.
	filedBytes = 384
)

// file encodes or carries every piece.
func (e *Encoder) file(d route.Dealt) (out Staged, err error) {
	if len(d.Rejected) > 0 {
		return Staged{}, d.Rejected[0].Err
	}
	out.Skewed, out.Refiled = d.Skewed, d.Refiled
	var small []route.Piece
	for _, p := range d.Pieces {
		if len(d.Pieces) > 1 && p.Items < directItems && p.Bytes < directBytes {
			small = append(small, p)
			continue
		}
		s, err := e.encode(toEntries(p.Entries))
		if err != nil {
			return Staged{}, err
		}
		out.filed = append(out.filed, filed{Place: p.Place, staged: s, items: s.Rows, raw: p.Bytes})
		out.add(s)
		out.Bytes += s.Bytes
	}
	if err := e.carry(&out, small); err != nil {
		return Staged{}, err
	}
	return out, nil
}

// carry keeps small pieces as they came. They are encoded all the same, once
// and together: that says whether they are well-formed, and how large they
// will be.
func (e *Encoder) carry(out *Staged, small []route.Piece) error {
	if len(small) == 0 {
		return nil
	}
	var all []Entry
	for _, p := range small {
		all = append(all, toEntries(p.Entries)...)
	}
	s, err := e.encode(all)
	if err != nil {
		return err
	}
	out.add(s)
	out.Bytes += s.Size // when it is joined
	var k carrier
	for _, p := range small {
		c := k.pack(p.Entries)
		out.filed = append(out.filed, filed{Place: p.Place, items: p.Items, carried: c, raw: p.Bytes})
		out.Bytes += int64(len(c)) + filedBytes
	}
	return nil
}

// add takes what is said of s into out, but for the memory it holds.
func (out *Staged) add(s Staged) {
	if s.Rows == 0 {
		return
	}
	if out.Rows == 0 {
		out.MinTime, out.MaxTime = s.MinTime, s.MaxTime
	}
	out.MinTime, out.MaxTime = min(out.MinTime, s.MinTime), max(out.MaxTime, s.MaxTime)
	out.Rows += s.Rows
	out.Size += s.Size
	out.Replaced += s.Replaced
}

func toEntries(in []route.Entry) []Entry {
	out := make([]Entry, len(in))
	for i, e := range in {
		out[i] = Entry(e)
	}
	return out
}

// carrier packs what is carried; it keeps its memory from call to call.
type carrier struct{ raw, packed []byte }

// pack packs entries: for each the length of its payload, when it was received,
// and the payload; all of it in one S2 block, which has no capacity beyond it.
func (k *carrier) pack(entries []route.Entry) []byte {
	k.raw = k.raw[:0]
	for _, e := range entries {
		k.raw = binary.AppendUvarint(k.raw, uint64(len(e.Payload)))
		k.raw = binary.AppendVarint(k.raw, e.ReceivedAt)
		k.raw = append(k.raw, e.Payload...)
	}
	k.packed = s2.EncodeBetter(k.packed[:cap(k.packed)], k.raw)
	return append(make([]byte, 0, len(k.packed)), k.packed...)
}

// readCarried reverses pack. The payloads share memory.
func readCarried(to []Entry, carried []byte) ([]Entry, error) {
	b, err := s2.Decode(nil, carried)
	if err != nil {
		return nil, fmt.Errorf("unpack what was carried: %w", err)
	}
	for len(b) > 0 {
		size, n := binary.Uvarint(b)
		if n <= 0 {
			return nil, errCarried
		}
		received, m := binary.Varint(b[n:])
		if m <= 0 || size > uint64(len(b)-n-m) {
			return nil, errCarried
		}
		b = b[n+m:]
		to = append(to, Entry{Payload: b[:size:size], ReceivedAt: received})
		b = b[size:]
	}
	return to, nil
}
