package wal

import "time"

// FarAhead is how far the queue's clock may be ahead of the wall clock before
// somebody has to know.
const FarAhead = time.Minute

// clock gives the WAL's time in microseconds since the epoch. It follows the
// wall clock forward, and the monotonic clock where the wall clock stands
// behind or steps back. It never goes backwards, and no stamp is given twice.
type clock struct {
	last int64     // the highest stamp that was given out or ruled out
	at   int64     // the WAL's time at ref
	ref  time.Time // with its monotonic reading
}

// newClock starts above last, the last stamp of an earlier process.
func newClock(last int64) clock {
	now := time.Now()
	return clock{last: last, at: max(now.UnixMicro(), last+1), ref: now}
}

func (c *clock) now() int64 {
	now := time.Now()
	passed := now.Sub(c.ref).Microseconds()
	c.at += passed
	c.ref = c.ref.Add(time.Duration(passed) * time.Microsecond)
	if wall := now.UnixMicro(); wall > c.at {
		c.at, c.ref = wall, now
	}
	return max(c.at, c.last+1)
}

// stamp gives a stamp that is above every stamp and every pushed time before it.
func (c *clock) stamp() int64 {
	c.last = c.now()
	return c.last
}

// push gives the time now and rules out every stamp below it.
func (c *clock) push() int64 {
	t := c.now()
	c.last = t - 1
	return t
}

// ahead says by how much the WAL's clock is ahead of the wall clock; it is never
// behind.
func (c *clock) ahead() time.Duration {
	at := c.now()
	return time.Duration(max(0, at-time.Now().UnixMicro())) * time.Microsecond
}

// segment is the run of entries that is being appended to.
type segment struct {
	id    uint64
	bytes int64
	start int64 // stamp of its first entry; 0 while it is empty
}

// rotate ends the segment when it is full or old. An empty one never ends.
func (s *segment) rotate(now, size int64, age time.Duration) {
	if s.start != 0 && (s.bytes >= size || now-s.start >= age.Microseconds()) {
		*s = segment{id: s.id + 1}
	}
}

func (s *segment) add(stamp, bytes int64) {
	if s.start == 0 {
		s.start = stamp
	}
	s.bytes += bytes
}
