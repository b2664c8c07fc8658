package flush

import "container/heap"

// queue is a heap of windows that knows where each of them stands in it.
type queue[K comparable] struct {
	place   int
	less    func(a, b *Window) int
	entries []*entry[K]
}

func (q *queue[K]) top() *entry[K] {
	if len(q.entries) == 0 {
		return nil
	}
	return q.entries[0]
}

func (q *queue[K]) add(e *entry[K]) { heap.Push(q, e) }

// remove takes e out; one that is not in q is no error.
func (q *queue[K]) remove(e *entry[K]) {
	if i := e.places[q.place]; i >= 0 {
		heap.Remove(q, i)
	}
}

// Len, Less, Swap, Push and Pop implement heap.Interface.
func (q *queue[K]) Len() int           { return len(q.entries) }
func (q *queue[K]) Less(i, j int) bool { return q.less(q.entries[i].window, q.entries[j].window) < 0 }

func (q *queue[K]) Swap(i, j int) {
	q.entries[i], q.entries[j] = q.entries[j], q.entries[i]
	q.entries[i].places[q.place], q.entries[j].places[q.place] = i, j
}

func (q *queue[K]) Push(x any) {
	e := x.(*entry[K])
	e.places[q.place] = len(q.entries)
	q.entries = append(q.entries, e)
}

func (q *queue[K]) Pop() any {
	n := len(q.entries) - 1
	e := q.entries[n]
	q.entries[n] = nil
	q.entries = q.entries[:n]
	e.places[q.place] = -1
	return e
}
