package window

import (
	"container/heap"
	"time"
)

// alarm is something the loop does at a time.
type alarm struct {
	at time.Time
	f  func()
}

// alarms are the loop's appointments, the next one first. They cost a few bytes
// each: with the bucket down there is one for every partition.
type alarms struct {
	timer *time.Timer
	next  alarmHeap
}

func newAlarms() alarms {
	t := time.NewTimer(0)
	t.Stop()
	return alarms{timer: t}
}

// after has the loop do f when d has passed.
func (a *alarms) after(d time.Duration, f func()) {
	heap.Push(&a.next, alarm{time.Now().Add(d), f})
	a.timer.Reset(time.Until(a.next[0].at))
}

// ring does what is due.
func (a *alarms) ring() {
	now := time.Now()
	for len(a.next) > 0 && !a.next[0].at.After(now) {
		heap.Pop(&a.next).(alarm).f()
	}
	if len(a.next) > 0 {
		a.timer.Reset(time.Until(a.next[0].at))
	}
}

type alarmHeap []alarm

func (h alarmHeap) Len() int           { return len(h) }
func (h alarmHeap) Less(i, j int) bool { return h[i].at.Before(h[j].at) }
func (h alarmHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *alarmHeap) Push(x any)        { *h = append(*h, x.(alarm)) }

func (h *alarmHeap) Pop() any {
	old := *h
	x := old[len(old)-1]
	old[len(old)-1] = alarm{}
	*h = old[:len(old)-1]
	return x
}
