package wal

import (
	"cmp"
	"math"
	"slices"
)

// writer is the identity of one open.
type writer struct {
	number  uint64 // opens count up
	id      string
	info    []byte
	entries int64 // in the queue
	durable bool
}

// writers are this open's and those of earlier ones that are remembered: all
// since the oldest that has entries, or that a seal may speak of.
type writers struct {
	span
	own     *writer
	byID    map[string]*writer
	changed bool // something left the queue: low may move
}

func newWriters(info []byte) writers {
	own := &writer{number: 1, id: newWriterID(), info: slices.Clone(info)}
	return writers{span: span{1, 2}, own: own, byID: map[string]*writer{own.id: own}}
}

// Writer is the identity under which one process appended.
type Writer struct {
	ID   string
	Info []byte // what it was opened with; nil where that was lost
}

// Writers returns every writer that has entries or seals left, oldest first. A
// writer is remembered as long as one before it is, so an open that appended
// nothing is there too while older data is.
func (w *WAL) Writers() []Writer {
	w.mu.Lock()
	defer w.mu.Unlock()
	low := w.lowWriterLocked()
	var left []*writer
	for _, wr := range w.writers.byID {
		if wr == w.writers.own && wr.entries == 0 && len(w.seals.records) == 0 {
			continue
		}
		if wr.number >= low {
			left = append(left, wr)
		}
	}
	slices.SortFunc(left, func(a, b *writer) int {
		return cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(a.id, b.id))
	})
	all := make([]Writer, len(left))
	for i, wr := range left {
		all[i] = Writer{wr.id, slices.Clone(wr.info)}
	}
	return all
}

// lowWriterLocked is the oldest writer that must be remembered.
func (w *WAL) lowWriterLocked() uint64 {
	low := w.writers.own.number
	for _, wr := range w.writers.byID {
		if wr.entries > 0 {
			low = min(low, wr.number)
		}
	}
	for _, s := range w.seals.records {
		low = min(low, s.lowWriter)
	}
	return low
}

// forgetWritersLocked deletes the infos of writers that left nothing. The mark
// of the same step says so.
//
// Crash before this: they are remembered once more. Crash after it: gone.
func (w *WAL) forgetWritersLocked(s *step) {
	if !w.writers.changed {
		return
	}
	w.writers.changed = false
	low := w.lowWriterLocked()
	if low <= w.writers.low {
		return
	}
	for number := w.writers.low; number < low; number++ {
		s.deletes = append(s.deletes, numbered(writerPrefix, number))
	}
	w.writers.low = low
	for id, wr := range w.writers.byID {
		if wr.number < low {
			delete(w.writers.byID, id)
		}
	}
}

// named gives the writer of an entry that was found. One whose info was lost
// holds back all infos while it has entries.
func (ws *writers) named(id string) *writer {
	if wr := ws.byID[id]; wr != nil {
		return wr
	}
	wr := &writer{number: ws.low, id: id, durable: true}
	ws.byID[id] = wr
	return wr
}

// adopt takes in a writer that was found.
func (ws *writers) adopt(number uint64, id string, info []byte) {
	ws.byID[id] = &writer{number: number, id: id, info: info, durable: true}
	ws.reserve(number)
}

func (ws *writers) reserve(number uint64) {
	ws.next = max(ws.next, number+1)
	ws.low = min(ws.low, number)
}

// begin gives this open its number, behind all that were found.
func (ws *writers) begin() {
	if ws.low == math.MaxUint64 {
		ws.low = ws.next
	}
	for _, wr := range ws.byID { // those without any record share a number of their own
		if wr.number == math.MaxUint64 {
			wr.number = ws.low
			ws.next = max(ws.next, ws.low+1)
		}
	}
	ws.own.number = ws.next
	ws.next++
}
