package wal

// Backlog is what an open found of one tenant, signal and writer: entries that
// earlier processes acknowledged and that nobody has trimmed. An entry whose
// header is damaged is in none.
type Backlog struct {
	Tenant, Signal, Writer string
	Entries, Bytes, Items  int64
	First, Last            uint64 // sequence numbers of the oldest and the newest entry
	FirstStamp, LastStamp  int64
}

// Backlog returns what was in the queue when it was opened. It does not change
// when entries leave the queue.
func (w *WAL) Backlog() []Backlog { return w.backlog }

// backlogs collects the backlog while the headers of all entries are read.
// Neighbours are often of one tenant, so the last one is kept at hand.
type backlogs struct {
	found []Backlog
	at    map[backlogKey]int
	key   backlogKey
	last  int
}

type backlogKey struct{ tenant, signal, writer string }

func (b *backlogs) add(h *header, names *interner, writer string, bytes int64, seq uint64) {
	k := backlogKey{names.of(h.tenant), names.of(h.signal), writer}
	if len(b.found) == 0 || k != b.key {
		i, ok := b.at[k]
		if !ok {
			if b.at == nil {
				b.at = map[backlogKey]int{}
			}
			i = len(b.found)
			b.at[k] = i
			b.found = append(b.found, Backlog{
				Tenant: k.tenant, Signal: k.signal, Writer: writer, First: seq, FirstStamp: h.stamp,
			})
		}
		b.key, b.last = k, i
	}
	x := &b.found[b.last]
	x.Entries++
	x.Bytes += bytes
	x.Items += int64(h.items)
	x.Last, x.LastStamp = seq, h.stamp
}
