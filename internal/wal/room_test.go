package wal

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// crowd waits for a room and notes who was served, in order.
type crowd struct {
	t     *testing.T
	room  *room
	leave map[string]context.CancelFunc

	mu     sync.Mutex // guards everything below, which is read while nobody runs
	served []string
	errs   map[string]error
}

func crowdOf(t *testing.T, limit int64) *crowd {
	return &crowd{
		t: t, room: &room{limit: limit, block: true}, errs: map[string]error{}, leave: map[string]context.CancelFunc{},
	}
}

// comes has one more ask for n, and returns when it is served or waits.
func (c *crowd) comes(name string, n int64) {
	ctx, cancel := context.WithCancel(c.t.Context())
	c.leave[name] = cancel
	go func() {
		err := c.room.take(ctx, n)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.errs[name] = err
		if err == nil {
			c.served = append(c.served, name)
		}
	}()
	synctest.Wait()
}

func (c *crowd) gives(n int64) {
	c.room.give(n)
	synctest.Wait()
}

func (c *crowd) leaves(name string) {
	c.leave[name]()
	synctest.Wait()
	require.ErrorIs(c.t, c.errs[name], context.Canceled)
}

func inRoom(t *testing.T, limit int64, f func(c *crowd)) {
	synctest.Test(t, func(t *testing.T) {
		c := crowdOf(t, limit)
		f(c)
		c.room.close()
		for _, leave := range c.leave {
			leave()
		}
	})
}

// Whoever waits is served in order of arrival: a small request that would fit
// does not pass a large one that waits, or that would wait for ever.
func TestRoomServesInOrder(t *testing.T) {
	inRoom(t, 10, func(c *crowd) {
		c.comes("first", 8)
		c.comes("large", 6)
		c.comes("small", 1)
		require.Equal(t, []string{"first"}, c.served, "small fits, and waits behind large")
		c.gives(1)
		require.Equal(t, []string{"first"}, c.served, "small fits still")
		c.gives(3)
		require.Equal(t, []string{"first", "large"}, c.served, "4 are used, and 6 fit; then it is full")
		c.gives(1)
		require.Equal(t, []string{"first", "large", "small"}, c.served)
		require.EqualValues(t, 10, c.room.inUse())
	})
}

// All that fit are woken by one that gives.
func TestRoomWakesAllThatFit(t *testing.T) {
	inRoom(t, 10, func(c *crowd) {
		c.comes("first", 10)
		for _, name := range []string{"a", "b", "c", "d"} {
			c.comes(name, 3)
		}
		c.gives(10)
		require.ElementsMatch(t, []string{"first", "a", "b", "c"}, c.served)
		require.EqualValues(t, 9, c.room.inUse())
	})
}

// When one gives up that others wait behind, those that fit go on.
func TestRoomGoesOnWhenOneLeaves(t *testing.T) {
	inRoom(t, 10, func(c *crowd) {
		c.comes("first", 8)
		c.comes("large", 6)
		c.comes("small", 2)
		c.leaves("large")
		require.Equal(t, []string{"first", "small"}, c.served)
		require.EqualValues(t, 10, c.room.inUse())
		c.comes("next", 1)
		c.gives(8)
		require.Equal(t, []string{"first", "small", "next"}, c.served, "who left is not served in its place")
		c.gives(3)
		require.Zero(t, c.room.inUse())
	})
}

// What is granted in the moment in which the one that waited gives up is given
// back. leave stands in for the moment: it runs behind the grant.
func TestRoomTakesBackWhatNobodyWaitsFor(t *testing.T) {
	r := &room{limit: 10, block: true, used: 10}
	w := &waiter{need: 4, ready: make(chan error, 1)}
	next := &waiter{need: 10, ready: make(chan error, 1)}
	r.waiters = []*waiter{w, next}
	r.give(4)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, r.leave(ctx, w), context.Canceled)
	require.EqualValues(t, 6, r.inUse())
	r.give(6)
	require.NoError(t, <-next.ready, "and others can have it")
}

// A close tells all that wait, also one that gives up in the same moment.
func TestRoomThatCloses(t *testing.T) {
	inRoom(t, 10, func(c *crowd) {
		c.comes("first", 10)
		c.comes("second", 1)
		c.comes("third", 1)
		c.room.close()
		synctest.Wait()
		require.ErrorIs(t, c.errs["second"], ErrClosed)
		require.ErrorIs(t, c.errs["third"], ErrClosed)
		c.comes("late", 1)
		require.ErrorIs(t, c.errs["late"], ErrClosed)
		require.EqualValues(t, 10, c.room.inUse(), "they took nothing")
	})
	r := &room{limit: 1, block: true, used: 1}
	w := &waiter{need: 1, ready: make(chan error, 1)}
	r.waiters = []*waiter{w}
	r.close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, r.leave(ctx, w), ErrClosed)
	require.EqualValues(t, 1, r.inUse())
}

// Without block nobody waits, also behind one that forced its way in.
func TestRoomThatIsFull(t *testing.T) {
	r := &room{limit: 10}
	r.force(12)
	require.ErrorIs(t, r.take(t.Context(), 1), ErrFull)
	r.give(3)
	require.NoError(t, r.take(t.Context(), 1))
	err := r.take(t.Context(), 11)
	require.ErrorIs(t, err, ErrTooLarge)
	require.False(t, errors.Is(err, ErrFull))
	require.NoError(t, (&room{}).take(t.Context(), 1<<40), "no limit")
}
