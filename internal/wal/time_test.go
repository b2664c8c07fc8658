package wal

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
)

func TestSafeIsNeverUndercut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t, Options{Client: newFake()})
		start := w.Safe().Time
		require.Equal(t, time.Now().UnixMicro(), start)
		add(t, w, rec("a", "0"))
		add(t, w, rec("a", "1"))
		time.Sleep(time.Minute)
		first := w.Safe().Time
		require.Less(t, first, start+1000, "the next unread stamp, not the clock")
		read := drain(t, w)
		require.Equal(t, first, read[0].Stamp)
		safe := w.Safe().Time
		require.Greater(t, safe, read[1].Stamp)
		require.GreaterOrEqual(t, safe, start+time.Minute.Microseconds())
		add(t, w, rec("a", "2"))
		require.GreaterOrEqual(t, w.Safe().Time, safe)
		require.GreaterOrEqual(t, drain(t, w)[0].Stamp, safe)
		for range 100 {
			next := w.Safe().Time
			require.GreaterOrEqual(t, next, safe)
			safe = next
		}
	})
}

func TestSafeWaitsForTheAppendUnderWay(t *testing.T) {
	s := newFake()
	w := open(t, Options{Client: s})
	started, gate := make(chan struct{}), make(chan struct{})
	s.fail(func(c *call) error {
		if c.touches(entryPrefix) {
			close(started)
			<-gate
		}
		return nil
	}, nil)
	done := make(chan error)
	go func() { done <- w.Append(t.Context(), rec("a", "0")) }()
	<-started
	safe := w.Safe()
	require.Equal(t, safe, w.Safe(), "it does not move on")
	close(gate)
	require.NoError(t, <-done)
	e := drain(t, w)[0]
	require.Equal(t, Safe{e.Stamp, e.Segment}, safe)
}

func TestAClockFarBehindIsSaidOnceAndOvertaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := ahead(t, time.Hour, true)
		core, logs := observer.New(zap.WarnLevel)
		w := open(t, Options{Client: s, Logger: zap.New(core)})
		last := drain(t, w)[0].Stamp
		before := w.Safe().Time
		require.Greater(t, before, last)
		time.Sleep(10 * time.Second)
		require.Equal(t, before+10_000_000, w.Safe().Time, "it goes on with the monotonic clock")
		add(t, w, rec("a", "0"))
		require.GreaterOrEqual(t, drain(t, w)[0].Stamp, before+10_000_000)
		require.Equal(t, 1, logs.FilterMessageSnippet("far behind").Len())
	})
}

func TestSegmentsEndBySizeAndAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t, Options{Client: newFake(), SegmentSize: 1000, SegmentAge: time.Minute})
		segment := func() uint64 { return w.Safe().Segment }
		first := segment()
		time.Sleep(time.Hour)
		require.Equal(t, first, segment(), "an empty segment does not age")
		add(t, w, rec("a", strings.Repeat("x", 600)))
		add(t, w, rec("a", strings.Repeat("x", 600)))
		add(t, w, rec("a", "next"))
		got := drain(t, w)
		require.Equal(t, []uint64{first, first, first + 1}, []uint64{got[0].Segment, got[1].Segment, got[2].Segment})
		require.Equal(t, first+1, segment())
		time.Sleep(time.Minute - time.Second)
		require.Equal(t, first+1, segment())
		time.Sleep(2 * time.Second)
		require.Equal(t, first+2, segment(), "an idle segment ends by age")
		time.Sleep(time.Hour)
		require.Equal(t, first+2, segment())
		add(t, w, rec("a", "next"))
		require.Equal(t, first+2, drain(t, w)[0].Segment)
		require.Equal(t, 3, w.Stats().Segments)
	})
}

func TestClockNeverGoesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClock(0)
		start, last := time.Now().UnixMicro(), int64(0)
		for range 1000 {
			stamp := c.stamp()
			require.Greater(t, stamp, last)
			pushed := c.push()
			require.Greater(t, pushed, stamp)
			last = c.stamp()
			require.GreaterOrEqual(t, last, pushed)
		}
		require.LessOrEqual(t, last, start+2000, "a microsecond per stamp, no more")
	})
}

// ahead is a storage whose last stamp, and an entry with it if one is owed, is
// so far ahead of the wall clock.
func ahead(t *testing.T, by time.Duration, owed bool) *fake {
	t.Helper()
	s := newFake()
	w := open(t, Options{Client: s})
	w.mu.Lock()
	w.clock.at += by.Microseconds()
	w.mu.Unlock()
	add(t, w, rec("a", "0"))
	if !owed {
		require.NoError(t, w.Trim(t.Context(), []uint64{drain(t, w)[0].Seq}))
	}
	require.NoError(t, w.Close(t.Context()))
	return s
}

func TestAStartWithNothingOwedTakesTheWallClock(t *testing.T) {
	const years = 3 * 365 * 24 * time.Hour
	for name, c := range map[string]struct {
		by    time.Duration
		owed  bool
		seal  bool
		stays bool
	}{
		"empty":                     {by: years},
		"owed":                      {by: years, owed: true, stays: true},
		"a seal is left":            {by: years, seal: true, stays: true},
		"empty, ahead by a moment":  {by: 10 * time.Second, stays: true},
		"empty, ahead by an hour":   {by: time.Hour},
		"owed, ahead by a moment":   {by: 10 * time.Second, owed: true, stays: true},
		"empty, ahead by a minute+": {by: FarAhead + time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := ahead(t, c.by, c.owed)
				if c.seal {
					w := open(t, Options{Client: s})
					w.mu.Lock()
					w.clock.at += c.by.Microseconds()
					w.mu.Unlock()
					add(t, w, rec("a", "0"))
					_, err := w.PutSeal(t.Context(), []byte("s"))
					require.NoError(t, err)
					require.NoError(t, w.Trim(t.Context(), []uint64{drain(t, w)[0].Seq}))
					require.NoError(t, w.Close(t.Context()))
				}
				core, logs := observer.New(zap.WarnLevel)
				w := open(t, Options{Client: s, Logger: zap.New(core)})
				old := drain(t, w)
				add(t, w, rec("a", "new"))
				e := drain(t, w)[0]
				if c.stays {
					require.InDelta(t, c.by, w.Ahead(), float64(time.Millisecond))
					for _, o := range old {
						require.Greater(t, e.Stamp, o.Stamp)
					}
					return
				}
				require.LessOrEqual(t, w.Ahead(), time.Millisecond)
				require.Equal(t, time.Now().UnixMicro(), e.Stamp)
				require.Equal(t, 1, logs.FilterMessageSnippet("begin with the wall clock again").Len())
				require.NoError(t, w.Close(t.Context()))
				w = open(t, Options{Client: s})
				require.LessOrEqual(t, w.Ahead(), time.Millisecond, "the mark was written anew")
				require.Len(t, drain(t, w), 1)
			})
		})
	}
}
