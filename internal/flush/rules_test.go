package flush

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

const (
	second = int64(time.Second / time.Microsecond)
	minute = 60 * second
	hour   = 60 * minute
	many   = 1 << 30
)

func limits(size int64, age time.Duration) Limits { return Limits{TargetSize: size, MaxAge: age} }

func at(t int64, segment uint64) Point { return Point{Time: t, Segment: segment} }

// upToDate is the clock of a reader that has read everything.
func upToDate(t int64, segment uint64) Clock { return Clock{Safe: at(t, segment), Now: t, Room: many} }

// window began a minute into the first hour, and its last record came a minute later.
func window(change ...func(*Window)) *Window {
	w := &Window{
		Writer: "w", First: at(minute, 3), Last: 2 * minute, Until: hour,
		Limits: limits(100, 5*time.Minute), Expected: 50,
	}
	for _, f := range change {
		f(w)
	}
	return w
}

func waits(w *Window) { w.Waits = true }

func rebuilt(w *Window) { w.Rebuilt = &Bounds{Start: minute, End: 10 * minute, Reason: Size} }

// TestBefore has each rule by itself, and which of two is the reason.
func TestBefore(t *testing.T) {
	big := func(w *Window) { w.Expected = 100 }
	for name, c := range map[string]struct {
		w    *Window
		next Next
		now  int64
		want Reason
		ends bool
	}{
		"nothing":                        {window(), Next{Writer: "w", Point: at(3*minute, 3)}, 3 * minute, "", false},
		"size, at the target":            {window(big), Next{Writer: "w", Point: at(3*minute, 3)}, 3 * minute, Size, true},
		"size, just below it":            {window(func(w *Window) { w.Expected = 99 }), Next{Writer: "w", Point: at(3*minute, 3)}, 3 * minute, "", false},
		"the same stamp":                 {window(big), Next{Writer: "w", Point: at(2*minute, 3)}, 2 * minute, "", false},
		"the same stamp, another writer": {window(), Next{Writer: "x", Point: at(2*minute, 3)}, 2 * minute, Boundary, true},
		"another writer":                 {window(), Next{Writer: "x", Point: at(3*minute, 3)}, 3 * minute, Boundary, true},
		"a window that was sealed":       {window(), Next{Writer: "w", Point: at(3*minute, 3), Sealed: true}, 3 * minute, Boundary, true},
		"the hour":                       {window(), Next{Writer: "w", Point: at(hour, 3)}, hour, Boundary, true},
		"just before the hour":           {window(func(w *Window) { w.Limits.MaxAge = 2 * time.Hour }), Next{Writer: "w", Point: at(hour-1, 3)}, hour, "", false},
		"segment":                        {window(), Next{Writer: "w", Point: at(3*minute, 4)}, 3 * minute, Rotation, true},
		"age, inclusive":                 {window(), Next{Writer: "w", Point: at(6*minute, 3)}, 6 * minute, Age, true},
		"just before the age":            {window(), Next{Writer: "w", Point: at(6*minute-1, 3)}, 6 * minute, "", false},
		"age, the reader a little late":  {window(), Next{Writer: "w", Point: at(6*minute, 3)}, 11 * minute, Age, true},
		"age, one before it waits":       {window(waits), Next{Writer: "w", Point: at(6*minute, 3)}, 6 * minute, "", false},
		"size, one before it waits":      {window(waits, big), Next{Writer: "w", Point: at(6*minute, 3)}, 6 * minute, Size, true},
		"hour, one before it waits":      {window(waits), Next{Writer: "w", Point: at(hour, 3)}, hour, Boundary, true},
		"age, the reader behind":         {window(), Next{Writer: "w", Point: at(6*minute, 3)}, 11*minute + 1, "", false},
		"size, the reader behind":        {window(big), Next{Writer: "w", Point: at(6*minute, 3)}, hour, Size, true},
		"hour, the reader behind":        {window(), Next{Writer: "w", Point: at(hour, 3)}, 9 * hour, Boundary, true},
		"rebuilt, inside":                {window(rebuilt, big), Next{Writer: "w", Point: at(10*minute-1, 4)}, hour, Size, false},
		"rebuilt, behind its end":        {window(rebuilt), Next{Writer: "w", Point: at(10*minute, 3)}, hour, Size, true},
		"rebuilt, another writer":        {window(rebuilt), Next{Writer: "x", Point: at(3*minute, 3)}, hour, Size, true},
	} {
		t.Run(name, func(t *testing.T) {
			reason, ends := c.w.Before(c.next, Clock{Now: c.now, Room: 1})
			assert.Equal(t, c.ends, ends)
			if ends {
				assert.Equal(t, c.want, reason)
			}
		})
	}
}

func TestDue(t *testing.T) {
	for name, c := range map[string]struct {
		w    *Window
		now  Clock
		want Reason
	}{
		"nothing":                   {window(), upToDate(6*minute-1, 3), ""},
		"age, inclusive":            {window(), upToDate(6*minute, 3), Age},
		"age, the reader behind":    {window(), Clock{Safe: at(7*minute, 3), Now: 12*minute + 1, Room: many}, ""},
		"age, one before it waits":  {window(waits), upToDate(7*minute, 3), ""},
		"age, the pool has no room": {window(), Clock{Safe: at(7*minute, 3), Now: 7 * minute}, ""},
		"hour, no room":             {window(), Clock{Safe: at(hour, 3), Now: hour}, Boundary},
		"age, hardly behind":        {window(), Clock{Safe: at(7*minute, 3), Now: 12 * minute, Room: many}, Age},
		"segment":                   {window(), upToDate(2*minute, 4), Rotation},
		"segment before age":        {window(), upToDate(6*minute, 4), Rotation},
		"hour":                      {window(func(w *Window) { w.Limits.MaxAge = 2 * time.Hour }), upToDate(hour, 3), Boundary},
		"just before the hour":      {window(func(w *Window) { w.Limits.MaxAge = 2 * time.Hour }), upToDate(hour-1, 3), ""},
		"hour, the reader behind":   {window(), Clock{Safe: at(hour, 3), Now: 9 * hour, Room: many}, Boundary},
		"no hour":                   {window(func(w *Window) { w.Until, w.Limits.MaxAge = Never, 24*time.Hour }), upToDate(9*hour, 3), ""},
		"rebuilt, before its end":   {window(rebuilt), upToDate(10*minute-1, 9), ""},
		"rebuilt, at its end":       {window(rebuilt), upToDate(10*minute, 3), Size},
		"time that goes back":       {window(), upToDate(-hour, 0), ""},
		"size is not for the clock": {window(func(w *Window) { w.Expected = 1000 }), upToDate(3*minute, 3), ""},
	} {
		t.Run(name, func(t *testing.T) {
			reason, due := c.w.Due(c.now)
			assert.Equal(t, c.want != "", due)
			if due {
				assert.Equal(t, c.want, reason)
			}
		})
	}
}

func TestFull(t *testing.T) {
	assert.False(t, window(func(w *Window) { w.Expected = 99 }).Full(), "just below the target")
	assert.True(t, window(func(w *Window) { w.Expected = 100 }).Full(), "at the target")
	assert.False(t, window(rebuilt, func(w *Window) { w.Expected = 1000 }).Full(), "its bounds are decided")
}
