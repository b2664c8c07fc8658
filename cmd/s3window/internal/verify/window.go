package verify

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/partition"
)

// window holds a manifest to what is known of its writer and of other
// windows, and takes it into account.
func (c *commitLog) window(key string, m lake.Manifest) {
	c.order(key, m)
	c.writers[m.Writer] = max(c.writers[m.Writer], m.End)
	c.folded[m.Writer] = committed{End: m.End, K: m.K}
	c.recent(key, m)
	c.times(key, m)
	c.out.Objects += int64(len(m.Objects))
	c.out.Records += m.Records
	c.out.Bytes += m.Bytes
	for _, o := range m.Objects {
		if other, ok := c.named[o.Key]; ok {
			c.fail(found(NamedTwice, o.Key, "is named by %s and by %s: its records are committed twice", other, key).about(key))
			continue
		}
		c.named[o.Key] = key
		if why := c.foreign(m, o); why != "" {
			c.fail(found(ForeignKey, o.Key, "is named by %s, but %s", key, why).about(key))
		}
	}
	for _, l := range m.Lost {
		c.notes = append(c.notes, found(Lost, key,
			"reports as lost: entry %d of writer %s, %d records (0 = unknown): %s", l.Seq, l.Writer, l.Records, l.Reason).about(l.Key))
	}
}

// order checks that the windows of a writer follow one another.
func (c *commitLog) order(key string, m lake.Manifest) {
	end, known := c.writers[m.Writer]
	switch {
	case known && m.Start < end:
		c.fail(found(Overlap, key, "window [%d, %d) of writer %s begins before %d, where its windows before it end: records may be twice",
			m.Start, m.End, m.Writer, end))
	case m.After == end, c.holes && m.After > end:
		// After a hole the windows in between are what is missing.
	case m.After == 0:
		// The head had forgotten a writer that had not committed for long.
	case !known:
		c.fail(found(OutOfOrder, key, "follows stamp %d of writer %s, but no window of that writer comes before it", m.After, m.Writer))
	default:
		c.fail(found(OutOfOrder, key, "follows stamp %d of writer %s, but its windows before it end at %d: a window is missing or out of its order",
			m.After, m.Writer, end))
	}
}

// recent checks what a manifest says of the writers of the newest windows: a
// start believes it in place of the manifests between.
func (c *commitLog) recent(key string, m lake.Manifest) {
	if c.holes || m.Version == 1 {
		return
	}
	for _, w := range slices.Sorted(maps.Keys(c.folded)) {
		is := c.folded[w]
		if says := m.Writers[w]; m.K-is.K < lake.Span && says != lake.Reach(is) {
			c.fail(found(WrongWriters, key, "says writer %s is committed up to %d by window %d, but the log before it up to %d by window %d",
				w, says.End, says.K, is.End, is.K).about(partition.ManifestKey(c.prefix, c.id, is.K)))
			return
		}
	}
	for _, w := range slices.Sorted(maps.Keys(m.Writers)) {
		if says := m.Writers[w]; c.folded[w] != committed(says) {
			c.fail(found(WrongWriters, key, "says writer %s is committed up to %d by window %d, which is of another writer", w, says.End, says.K).
				about(partition.ManifestKey(c.prefix, c.id, says.K)))
			return
		}
	}
}

func (c *commitLog) times(key string, m lake.Manifest) {
	if len(m.Objects) == 0 {
		return
	}
	lo, hi := m.Objects[0].MinTime, m.Objects[0].MaxTime
	for _, o := range m.Objects[1:] {
		lo, hi = min(lo, o.MinTime), max(hi, o.MaxTime)
	}
	if lo != m.MinTime || hi != m.MaxTime {
		c.fail(found(BadTimes, key, "says its records are of [%d, %d], but its objects of [%d, %d]", m.MinTime, m.MaxTime, lo, hi))
	}
}

// foreign says why the key of o cannot be that of an object of window m, or
// nothing.
func (c *commitLog) foreign(m lake.Manifest, o lake.Object) string {
	id, name, err := partition.ParseObjectKey(c.prefix, o.Key)
	switch {
	case err != nil:
		return err.Error()
	case id.Tenant != m.Tenant || id.Signal != m.Signal:
		return "it lies under another tenant or signal"
	case name.Writer != m.Writer || name.Start != m.Start || name.End != m.End:
		return "its name is of another window"
	case !filedRight(strings.TrimPrefix(o.Key, c.prefix), o, m.Start):
		return "dt and hour are of neither the window's start nor its records"
	}
	return ""
}

// filedRight says whether the levels dt and hour of an object's key below the
// lake's prefix fit: they are those of the window's start, or those of all of
// the object's records, where they are filed under their own time.
func filedRight(key string, o lake.Object, start int64) bool {
	var from time.Time
	length := 24 * time.Hour
	for level := range strings.SplitSeq(key, "/") {
		var err error
		if day, ok := strings.CutPrefix(level, "dt="); ok && from.IsZero() {
			from, err = time.Parse(time.DateOnly, day)
		} else if hour, ok := strings.CutPrefix(level, "hour="); ok && length > time.Hour {
			var h time.Time
			h, err = time.Parse("15", hour)
			from, length = from.Add(time.Duration(h.Hour())*time.Hour), time.Hour
		}
		if err != nil {
			return false
		}
	}
	lo, hi := from.UnixMicro(), from.Add(length).UnixMicro()
	return start >= lo && start < hi || o.MinTime >= lo && o.MaxTime < hi
}
