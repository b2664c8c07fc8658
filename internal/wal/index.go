package wal

import (
	"math/bits"
	"slices"
	"sort"
)

// A block describes consecutive groups. A group is never split; one that is
// larger than a block has a block to itself.
const (
	blockBytes   = 1 << 20
	blockEntries = 256
	blockSpan    = 1024 // sequence numbers, holes included
)

// weights are what a queue's limit can be counted in.
type weights struct{ bytes, items, requests int64 }

func (a *weights) add(b weights) {
	a.bytes += b.bytes
	a.items += b.items
	a.requests += b.requests
}

func (a *weights) sub(b weights) {
	a.bytes -= b.bytes
	a.items -= b.items
	a.requests -= b.requests
}

// share gives the part of a that falls to n of live entries.
func (a weights) share(n, live int) weights {
	if n == live {
		return a
	}
	k, of := int64(n), int64(live)
	return weights{a.bytes / of * k, a.items / of * k, a.requests * k / of}
}

// meta is what the index is told of an entry; it is not kept.
type meta struct {
	seq          uint64
	bytes, items int64
	requestStart bool
}

// run is a group, or what is left of it.
type run struct {
	writer  *writer
	stamp   int64
	segment uint64
	entries []meta
}

func (r *run) bytes() (n int64) {
	for i := range r.entries {
		n += r.entries[i].bytes
	}
	return n
}

type block struct {
	first, last   uint64
	firstStamp    int64
	lastStamp     int64
	segment       uint64
	writer        *writer
	spaced        bool // some entry has spacers
	live          int
	weights       weights // of the live entries; exact when all or none are
	bits          []uint64
	entries       int // live and trimmed
	originalBytes int64
}

func (b *block) has(seq uint64) bool {
	if seq < b.first || seq > b.last {
		return false
	}
	i := seq - b.first
	return b.bits[i/64]&(1<<(i%64)) != 0
}

// next gives the first live entry at or above seq.
func (b *block) next(seq uint64) (uint64, bool) {
	for i := max(seq, b.first) - b.first; i <= b.last-b.first; i = (i/64 + 1) * 64 {
		if word := b.bits[i/64] >> (i % 64); word != 0 {
			return b.first + i + uint64(bits.TrailingZeros64(word)), true
		}
	}
	return 0, false
}

// oversize says that the block is one group, and too large to be read ahead.
func (b *block) oversize() bool { return b.originalBytes > readBytes }

func (b *block) fits(r *run, size int64) bool {
	return b.live > 0 && b.segment == r.segment && b.writer == r.writer &&
		b.originalBytes+size <= blockBytes && b.entries+len(r.entries) <= blockEntries &&
		r.entries[len(r.entries)-1].seq-b.first < blockSpan
}

func (b *block) add(r *run) {
	b.last, b.lastStamp = r.entries[len(r.entries)-1].seq, r.stamp
	if words := int((b.last-b.first)/64) + 1; words > len(b.bits) {
		b.bits = append(b.bits, make([]uint64, words-len(b.bits))...)
	}
	for i := range r.entries {
		e := &r.entries[i]
		at := e.seq - b.first
		b.bits[at/64] |= 1 << (at % 64)
		b.weights.add(e.weights())
		b.originalBytes += e.bytes
		b.spaced = b.spaced || e.bytes >= spacedSize
	}
	b.live += len(r.entries)
	b.entries += len(r.entries)
}

func (m *meta) weights() weights {
	w := weights{bytes: m.bytes, items: m.items}
	if m.requestStart {
		w.requests = 1
	}
	return w
}

// index knows every entry that is in the queue, in blocks: about 200 bytes per
// MiB or per 256 entries, whatever their number. It is not safe for
// concurrent use.
type index struct {
	blocks   []*block // by sequence number; those without live entries go in time
	dead     int
	entries  int64
	weights  weights
	segments map[uint64]int64 // live entries of each
}

// add appends a group that is behind all that are there.
func (x *index) add(r *run) {
	size := r.bytes()
	var tail *block
	if n := len(x.blocks); n > 0 {
		tail = x.blocks[n-1]
	}
	if tail == nil || !tail.fits(r, size) {
		tail = &block{first: r.entries[0].seq, firstStamp: r.stamp, segment: r.segment, writer: r.writer}
		x.blocks = append(x.blocks, tail)
	}
	before := tail.weights
	tail.add(r)
	gained := tail.weights
	gained.sub(before)
	x.weights.add(gained)
	x.entries += int64(len(r.entries))
	x.segments[r.segment] += int64(len(r.entries))
	r.writer.entries += int64(len(r.entries))
}

// find gives the first block that ends at or above seq.
func (x *index) find(seq uint64) int {
	return sort.Search(len(x.blocks), func(i int) bool { return x.blocks[i].last >= seq })
}

// block gives the block that holds seq as a live entry, or nil.
func (x *index) block(seq uint64) *block {
	if i := x.find(seq); i < len(x.blocks) && x.blocks[i].has(seq) {
		return x.blocks[i]
	}
	return nil
}

// next gives the first live entry at or above seq and its block.
func (x *index) next(seq uint64) (*block, uint64) {
	for i := x.find(seq); i < len(x.blocks); i++ {
		if s, ok := x.blocks[i].next(seq); ok {
			return x.blocks[i], s
		}
	}
	return nil, 0
}

// remove takes an entry out and says what it weighed. Unknown ones weigh nothing.
func (x *index) remove(seq uint64) weights {
	b := x.block(seq)
	if b == nil {
		return weights{}
	}
	at := seq - b.first
	b.bits[at/64] &^= 1 << (at % 64)
	freed := b.weights.share(1, b.live)
	b.weights.sub(freed)
	b.live--
	b.writer.entries--
	x.weights.sub(freed)
	x.entries--
	if x.segments[b.segment]--; x.segments[b.segment] == 0 {
		delete(x.segments, b.segment)
	}
	if b.live == 0 {
		x.dead++
		x.compact()
	}
	return freed
}

// compact drops dead blocks: from the front at once, others when they are many.
func (x *index) compact() {
	for len(x.blocks) > 0 && x.blocks[0].live == 0 {
		x.blocks[0] = nil
		x.blocks = x.blocks[1:]
		x.dead--
	}
	if x.dead > 32 && x.dead > len(x.blocks)/4 {
		x.blocks = slices.DeleteFunc(x.blocks, func(b *block) bool { return b.live == 0 })
		x.dead = 0
	}
}

// low is the lowest live entry, or other when there is none.
func (x *index) low(other uint64) uint64 {
	if b, seq := x.next(0); b != nil {
		return seq
	}
	return other
}

// from sums up the live entries at or above seq.
func (x *index) from(seq uint64) (entries, bytes int64) {
	for i := x.find(seq); i < len(x.blocks); i++ {
		b := x.blocks[i]
		if b.live == 0 {
			continue
		}
		n := b.live
		if seq > b.first {
			n = 0
			for s, ok := b.next(seq); ok; s, ok = b.next(s + 1) {
				n++
			}
		}
		entries += int64(n)
		bytes += b.weights.share(n, b.live).bytes
	}
	return entries, bytes
}
