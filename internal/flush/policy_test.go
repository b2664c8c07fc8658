package flush

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func policy(ws map[string]*Window) *Policy[string] {
	p := NewPolicy[string]()
	for k, w := range ws {
		p.Add(k, w)
	}
	return p
}

// began is a window of the first hour that nothing but age and rotation ends.
func began(t int64, segment uint64) *Window {
	return &Window{First: at(t, segment), Until: Never, Limits: limits(100, 5*time.Minute)}
}

func TestAdvance(t *testing.T) {
	for name, c := range map[string]struct {
		now  Clock
		want []Due[string]
	}{
		"nothing due":                  {upToDate(6*minute-1, 1), nil},
		"age is inclusive":             {upToDate(6*minute, 1), []Due[string]{{"old", Age}}},
		"oldest first":                 {upToDate(8*minute, 1), []Due[string]{{"old", Age}, {"mid", Age}}},
		"rotation has no other gate":   {upToDate(3*minute, 2), []Due[string]{{"old", Rotation}, {"mid", Rotation}}},
		"rotation before age":          {upToDate(100*minute, 3), []Due[string]{{"old", Rotation}, {"mid", Rotation}, {"young", Rotation}}},
		"time that goes back":          {upToDate(-100*minute, 0), nil},
		"the reader is behind":         {Clock{Safe: at(8*minute, 1), Now: 14 * minute, Room: many}, nil},
		"the reader is hardly behind":  {Clock{Safe: at(8*minute, 1), Now: 13 * minute, Room: many}, []Due[string]{{"old", Age}, {"mid", Age}}},
		"rotation, the reader behind":  {Clock{Safe: at(8*minute, 2), Now: 99 * minute, Room: many}, []Due[string]{{"old", Rotation}, {"mid", Rotation}}},
		"an end, the reader behind":    {Clock{Safe: at(20*minute, 0), Now: 99 * minute, Room: many}, []Due[string]{{"hour", Boundary}, {"again", Size}}},
		"an end before one is too old": {upToDate(20*minute, 0), []Due[string]{{"hour", Boundary}, {"again", Size}, {"old", Age}, {"mid", Age}, {"young", Age}}},
	} {
		t.Run(name, func(t *testing.T) {
			ws := map[string]*Window{"young": began(4*minute, 2), "old": began(1*minute, 1), "mid": began(2*minute, 1)}
			if c.now.Safe.Segment == 0 {
				ws["hour"], ws["again"] = began(10*minute, 1), began(11*minute, 1)
				ws["hour"].Until = 20 * minute
				ws["again"].Rebuilt = &Bounds{Start: 11 * minute, End: 20 * minute, Reason: Size}
			}
			p := policy(ws)
			got := slices.Clone(p.Advance(c.now))
			assert.Equal(t, c.want, got)
			assert.Equal(t, len(ws), p.Len(), "the caller removes what it sealed")
			for _, d := range got {
				p.Remove(d.Key)
				p.Remove(d.Key)
			}
			assert.Empty(t, p.Advance(c.now))
		})
	}
}

// TestAgeWhileTheReaderCatchesUp has windows of several ages wait for a reader
// that is behind: each is named once the reader is no further behind than its
// own MaxAge.
func TestAgeWhileTheReaderCatchesUp(t *testing.T) {
	p := NewPolicy[string]()
	for name, age := range map[string]time.Duration{"minute": time.Minute, "quarter": 15 * time.Minute, "hours": 3 * time.Hour} {
		w := began(0, 1)
		w.Limits.MaxAge = age
		p.Add(name, w)
	}
	assert.Empty(t, p.Advance(Clock{Safe: at(20*minute, 1), Now: 50 * minute, Room: many}))
	assert.Equal(t, []Due[string]{{"quarter", Age}}, p.Advance(Clock{Safe: at(35*minute, 1), Now: 50 * minute, Room: many}))
	p.Remove("quarter")
	assert.Empty(t, p.Advance(Clock{Safe: at(48*minute, 1), Now: 50 * minute, Room: many}))
	assert.Equal(t, []Due[string]{{"minute", Age}}, p.Advance(Clock{Safe: at(49*minute, 1), Now: 50 * minute, Room: many}))
	p.Remove("minute")
	assert.Equal(t, []Due[string]{{"hours", Rotation}}, p.Advance(Clock{Safe: at(50*minute, 2), Now: 50 * minute, Room: many}))
}

// TestRoomOfThePool has more windows due than the pool takes: what is due
// longest comes first, and the others are not forgotten. Only age asks for room.
func TestRoomOfThePool(t *testing.T) {
	p := NewPolicy[string]()
	for name, age := range map[string]time.Duration{"second": 2 * time.Minute, "third": 3 * time.Minute, "first": time.Minute} {
		w := began(0, 1)
		w.Limits.MaxAge = age
		p.Add(name, w)
	}
	now := func(t int64, room int) Clock { return Clock{Safe: at(t, 1), Now: t, Room: room} }
	assert.Empty(t, p.Advance(now(9*minute, 0)))
	assert.True(t, p.Ripe())
	assert.Equal(t, []Due[string]{{"first", Age}}, p.Advance(now(9*minute, 1)))
	p.Remove("first")
	assert.Equal(t, []Due[string]{{"second", Age}, {"third", Age}}, p.Advance(now(9*minute, 2)))
	p.Remove("second")
	assert.Empty(t, p.Advance(Clock{Safe: at(9*minute, 1), Now: 99 * minute, Room: many}), "the reader fell behind meanwhile")
	assert.Equal(t, []Due[string]{{"third", Rotation}}, p.Advance(Clock{Safe: at(9*minute, 2), Now: 9 * minute}))
}

// TestWindowsThatWait has a window whose partition has another one on its way:
// it is not named for its age until that is over, but for everything else.
func TestWindowsThatWait(t *testing.T) {
	w := began(0, 1)
	p := policy(map[string]*Window{"w": w})
	p.Wait("w", true)
	p.Wait("unknown", true)
	assert.Empty(t, p.Advance(upToDate(9*minute, 1)))
	assert.Equal(t, []Due[string]{{"w", Rotation}}, p.Advance(upToDate(9*minute, 2)))
	assert.Len(t, p.Largest(1, func(string) bool { return true }), 1)
	assert.Len(t, p.AtShutdown(9*minute, false), 1)
	p.Wait("w", false)
	p.Wait("w", false)
	assert.Equal(t, []Due[string]{{"w", Age}}, p.Advance(upToDate(9*minute, 1)))
	w.Until = 10 * minute
	p.Remove("w")
	p.Add("w", w)
	p.Wait("w", true)
	assert.Equal(t, []Due[string]{{"w", Boundary}}, p.Advance(upToDate(10*minute, 1)))
	p.Remove("w")
	p.Wait("w", false)
	assert.Zero(t, p.Len())
	assert.Empty(t, p.Advance(upToDate(99*minute, 9)))
}

func TestLargest(t *testing.T) {
	for name, c := range map[string]struct {
		need int64
		not  string
		want []string
	}{
		"nothing is missing":        {0, "", nil},
		"the oldest of the largest": {1, "", []string{"c"}},
		"one is just enough":        {9, "", []string{"c"}},
		"more than one holds":       {10, "", []string{"c", "b"}},
		"more than all hold":        {1000, "", []string{"c", "b", "a"}},
		"those that may be sealed":  {10, "c", []string{"b", "a"}},
	} {
		t.Run(name, func(t *testing.T) {
			ws := map[string]*Window{"a": began(2, 0), "b": began(1, 0), "c": began(0, 0), "r": window(rebuilt)}
			ws["a"].Held, ws["b"].Held, ws["c"].Held, ws["r"].Held = 5, 9, 9, 999
			p := policy(ws)
			p.Advance(Clock{Safe: at(10*minute, 0), Now: hour, Room: many}) // they are late: that changes nothing
			var got []string
			for _, d := range p.Largest(c.need, func(k string) bool { return k != c.not }) {
				assert.Equal(t, Memory, d.Reason)
				got = append(got, d.Key)
			}
			assert.Equal(t, c.want, got)
			assert.Len(t, p.Advance(upToDate(20*minute, 1)), 4, "and they are known as before")
		})
	}
	assert.Empty(t, policy(nil).Largest(1, func(string) bool { return true }))
}

func TestAtShutdown(t *testing.T) {
	ws := map[string]*Window{"big": began(0, 0), "small": began(1, 0), "rebuilt": window(rebuilt)}
	ws["big"].Raw, ws["small"].Raw, ws["rebuilt"].Raw = worthBytes, worthBytes-1, worthBytes
	p := policy(ws)
	assert.Equal(t, []Due[string]{{"big", Shutdown}}, p.AtShutdown(1, false))
	assert.Len(t, p.AtShutdown(1+10*second, false), 2, "ten seconds open is worth it")
	assert.Len(t, p.AtShutdown(1, true), 2, "where nothing survives everything is")
}

// TestPolicyAgainstTheRules compares the policy with the rules asked of every
// window.
func TestPolicyAgainstTheRules(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	p := NewPolicy[int]()
	open := map[int]*Window{}
	c := Clock{Room: many}
	named := map[Reason]int{}
	for range 50000 {
		c.Safe.Time += r.Int64N(10)
		c.Now = max(c.Safe.Time, c.Now+r.Int64N(14)-4)
		if r.IntN(200) == 0 {
			c.Now = c.Safe.Time
		}
		if r.IntN(100) == 0 {
			c.Safe.Segment++
		}
		if k := r.IntN(100); open[k] == nil {
			w := &Window{First: c.Safe, Until: Never, Limits: limits(100, time.Duration(1+r.Int64N(100))*time.Microsecond)}
			switch r.IntN(4) {
			case 0:
				w.Until = c.Safe.Time + 1 + r.Int64N(100)
			case 1:
				w.Rebuilt = &Bounds{Start: c.Safe.Time, End: c.Safe.Time + 1 + r.Int64N(200), Reason: []Reason{Size, Rotation, Age}[r.IntN(3)]}
			}
			open[k] = w
			p.Add(k, w)
		}
		if k := r.IntN(100); open[k] != nil {
			p.Wait(k, r.IntN(3) == 0)
		}
		want := map[int]Reason{}
		var aged []int64 // when they became so
		for k, w := range open {
			reason, due := w.Due(c)
			switch {
			case due && reason == Age && w.Rebuilt == nil:
				aged = append(aged, w.agedAt())
			case due:
				want[k] = reason
			}
		}
		slices.Sort(aged)
		c.Room = []int{many, 3, 1, 0}[r.IntN(4)]
		room := min(c.Room, len(aged))
		got := map[int]Reason{}
		var seen []int64
		for _, d := range p.Advance(c) {
			require.NotContains(t, got, d.Key, "each once")
			named[d.Reason]++
			if d.Reason == Age && open[d.Key].Rebuilt == nil {
				seen = append(seen, open[d.Key].agedAt())
				p.Remove(d.Key)
				delete(open, d.Key)
				continue
			}
			got[d.Key] = d.Reason
		}
		require.Equal(t, want, got)
		require.Equal(t, append([]int64{}, aged[:room]...), append([]int64{}, seen...), "what is due longest first")
		require.False(t, p.Ripe() && room < c.Room)
		c.Room = many
		for k := range got {
			p.Remove(k)
			delete(open, k)
		}
		require.Equal(t, len(open), p.Len())
	}
	for _, reason := range []Reason{Age, Boundary, Rotation, Size} {
		require.Greater(t, named[reason], 100, reason)
	}
}

func BenchmarkAdvance(b *testing.B) {
	p := NewPolicy[int]()
	for i := range 10_000 {
		p.Add(i, began(int64(i), 1))
	}
	b.ReportAllocs()
	for b.Loop() {
		p.Advance(upToDate(minute, 1))
	}
}
