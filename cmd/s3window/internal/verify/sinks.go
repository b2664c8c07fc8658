package verify

import (
	"cmp"
	"maps"
	"slices"

	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/partition"
)

// span is the part of a writer's stamps that a window of one log is of.
type span struct {
	start, end int64
	k          uint64
	log        *commitLog
}

// spans are those of the windows of each writer, over the sinks of a table. A
// log alone tells whether its windows overlap, so of tables with one sink
// nothing is kept: it is nil.
type spans map[string][]span

func (s spans) add(c *commitLog, m lake.Manifest) {
	if s != nil {
		s[m.Writer] = append(s[m.Writer], span{m.Start, m.End, m.K, c})
	}
}

// overlaps says which windows of a writer share stamps with one of another
// sink. A queue whose sink is renamed goes on under the new name where it ended
// under the old one, so the windows of a writer may be in several logs, in any
// turns, but each stamp in one window only.
func (s spans) overlaps() {
	for _, writer := range slices.Sorted(maps.Keys(s)) {
		windows := s[writer]
		slices.SortFunc(windows, func(a, b span) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.k, b.k)) })
		furthest := map[*commitLog]span{} // of those that begin before
		for _, w := range windows {
			for _, before := range slices.SortedFunc(maps.Values(furthest), bySink) {
				if before.log != w.log && before.end > w.start {
					w.log.fail(found(Overlap, w.key(), "window [%d, %d) of writer %s shares stamps with [%d, %d) of sink %s: its records may be twice",
						w.start, w.end, writer, before.start, before.end, before.log.id.Sink).about(before.key()))
					break
				}
			}
			if w.end > furthest[w.log].end {
				furthest[w.log] = w
			}
		}
	}
}

func bySink(a, b span) int { return cmp.Compare(a.log.id.Sink, b.log.id.Sink) }

func (s span) key() string { return partition.ManifestKey(s.log.prefix, s.log.id, s.k) }
