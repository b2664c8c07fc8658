package flush

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const minute = int64(time.Minute / time.Microsecond)

func policy(ws ...Window[string]) *Policy[string] {
	p := NewPolicy[string](Config{TargetSize: 100, MaxAge: 5 * time.Minute})
	for _, w := range ws {
		p.Put(w)
	}
	return p
}

func at(t int64, segment uint64) Point { return Point{Time: t, Segment: segment} }

func TestSize(t *testing.T) {
	p := policy(Window[string]{Key: "a", Expected: 99})
	assert.False(t, p.Full("a"), "just below the target")
	p.Put(Window[string]{Key: "a", Expected: 100})
	assert.True(t, p.Full("a"), "at the target")
	assert.False(t, p.Full("b"), "a window that is not open")
}

func TestAdvance(t *testing.T) {
	ws := []Window[string]{
		{Key: "young", First: at(4*minute, 2)},
		{Key: "old", First: at(1*minute, 1)},
		{Key: "mid", First: at(2*minute, 1)},
	}
	for _, tc := range []struct {
		name string
		now  Point
		want []Due[string]
	}{
		{"nothing due", at(6*minute-1, 1), nil},
		{"age is inclusive", at(6*minute, 1), []Due[string]{{"old", Age}}},
		{"oldest first", at(8*minute, 1), []Due[string]{{"old", Age}, {"mid", Age}}},
		{"rotation has no size or age gate", at(3*minute, 2), []Due[string]{{"old", Rotation}, {"mid", Rotation}}},
		{"rotation before age", at(100*minute, 3), []Due[string]{{"old", Rotation}, {"mid", Rotation}, {"young", Rotation}}},
		{"time that goes back seals nothing", at(-100*minute, 0), nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := policy(ws...)
			assert.Equal(t, tc.want, slices.Clone(p.Advance(tc.now)))
			assert.Equal(t, 3, p.Len(), "the caller removes what it sealed")
			for _, d := range tc.want {
				p.Remove(d.Key)
			}
			assert.Empty(t, p.Advance(tc.now))
		})
	}
}

func TestLimitsOfAWindow(t *testing.T) {
	hasty, small := Config{TargetSize: 100, MaxAge: time.Minute}, Config{TargetSize: 10, MaxAge: time.Hour}
	p := policy(
		Window[string]{Key: "plain", First: at(0, 1), Expected: 99},
		Window[string]{Key: "hasty", First: at(2*minute, 1), Expected: 99, Limits: hasty},
		Window[string]{Key: "small", First: at(1*minute, 1), Expected: 10, Limits: small},
	)
	assert.False(t, p.Full("plain"))
	assert.False(t, p.Full("hasty"))
	assert.True(t, p.Full("small"))
	assert.Empty(t, p.Advance(at(3*minute-1, 1)))
	assert.Equal(t, []Due[string]{{"hasty", Age}}, p.Advance(at(3*minute, 1)), "younger, and due before the others")
	p.Remove("hasty")
	assert.Equal(t, []Due[string]{{"plain", Age}}, p.Advance(at(5*minute, 1)))
	assert.Equal(t, []Due[string]{{"plain", Rotation}, {"small", Rotation}}, p.Advance(at(5*minute, 2)), "each once")
	p.Remove("plain")
	p.Put(Window[string]{Key: "small", First: at(3*minute, 1), Limits: hasty})
	assert.Equal(t, []Due[string]{{"small", Rotation}}, p.Advance(at(10*minute, 2)), "limits of a known window stay")
	p.Remove("small")
	p.Put(Window[string]{Key: "late", First: at(10*minute, 2)})
	assert.Empty(t, p.Advance(at(10*minute, 2)))
	p.Put(Window[string]{Key: "replayed", First: at(10*minute, 1)})
	assert.Equal(t, []Due[string]{{"replayed", Rotation}}, p.Advance(at(10*minute, 2)), "a segment that ended before")
}

func TestFirstOfAKnownWindowStays(t *testing.T) {
	p := policy(Window[string]{Key: "a", First: at(0, 1)})
	p.Put(Window[string]{Key: "a", First: at(minute, 1), Expected: 7})
	assert.Len(t, p.Advance(at(5*minute, 1)), 1)
}

func TestLargest(t *testing.T) {
	ws := []Window[string]{
		{Key: "a", First: at(2, 0), Held: 5},
		{Key: "b", First: at(1, 0), Held: 9},
		{Key: "c", First: at(0, 0), Held: 9},
	}
	for _, tc := range []struct {
		name string
		need int64
		not  string
		want []string
	}{
		{"nothing is missing", 0, "", nil},
		{"the oldest of the largest", 1, "", []string{"c"}},
		{"one is just enough", 9, "", []string{"c"}},
		{"more than one holds", 10, "", []string{"c", "b"}},
		{"more than all hold", 1000, "", []string{"c", "b", "a"}},
		{"those that may be sealed", 10, "c", []string{"b", "a"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got []string
			for _, d := range policy(ws...).Largest(tc.need, func(k string) bool { return k != tc.not }) {
				assert.Equal(t, Memory, d.Reason)
				got = append(got, d.Key)
			}
			assert.Equal(t, tc.want, got)
		})
	}
	assert.Empty(t, policy().Largest(1, func(string) bool { return true }))
}

func TestAtShutdown(t *testing.T) {
	p := policy(
		Window[string]{Key: "big", First: at(0, 0), Raw: worthBytes},
		Window[string]{Key: "small", First: at(1, 0), Raw: worthBytes - 1},
	)
	assert.Equal(t, []Due[string]{{"big", Shutdown}}, p.AtShutdown(at(1, 0)))
	assert.Len(t, p.AtShutdown(at(1+10*int64(time.Second/time.Microsecond), 0)), 2, "ten seconds open is worth it")
}

// TestPolicyAgainstAScan compares the policy with the rule written as a scan
// over all windows.
func TestPolicyAgainstAScan(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	p := NewPolicy[int](Config{TargetSize: 100, MaxAge: 50 * time.Microsecond})
	open := map[int]Window[int]{}
	now := Point{}
	for range 20000 {
		now.Time += r.Int64N(10)
		if r.IntN(50) == 0 {
			now.Segment++
		}
		k := r.IntN(100)
		w, ok := open[k]
		if !ok {
			w = Window[int]{Key: k, First: now}
			if age := r.Int64N(100); k%2 == 0 && age > 0 {
				w.Limits = Config{TargetSize: 100, MaxAge: time.Duration(age) * time.Microsecond}
			}
		}
		w.Held = r.Int64N(1000)
		open[k] = w
		p.Put(w)
		want := map[int]Reason{}
		for k, w := range open {
			if now.Segment > w.First.Segment {
				want[k] = Rotation
			} else if age := cmp.Or(w.Limits.MaxAge.Microseconds(), 50); now.Time-w.First.Time >= age {
				want[k] = Age
			}
		}
		got := map[int]Reason{}
		for _, d := range p.Advance(now) {
			got[d.Key] = d.Reason
		}
		require.Equal(t, want, got)
		for k := range got {
			p.Remove(k)
			delete(open, k)
		}
		require.Equal(t, len(open), p.Len())
	}
}
