package leasetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stretchr/testify/require"
)

// leaseExclusion lets processes with several callers each count in the state,
// and checks that only one is at work at a time.
func leaseExclusion(s *suite) {
	const processes, callers = 4, 3
	rounds := s.scaled(10, 2)
	var inside atomic.Int32
	var all sync.WaitGroup
	for i := range processes {
		p := s.join(fmt.Sprintf("p%d", i))
		for range callers {
			all.Go(func() {
				for range rounds {
					if err := count(s.Context(), p, &inside); err != nil {
						s.Error(err)
						return
					}
				}
			})
		}
	}
	all.Wait()
	state, err := s.join("reader").Read(s.Context(), "shared")
	require.NoError(s, err)
	require.JSONEq(s, string(counter(processes*callers*rounds)), string(state))
}

// count adds one to the state under the lease.
func count(ctx context.Context, p participant, inside *atomic.Int32) error {
	held, err := p.Acquire(ctx, "shared")
	if err != nil {
		return err
	}
	if inside.Add(1) != 1 {
		return errors.New("two holders at a time")
	}
	n, err := counted(held.State())
	if err != nil {
		return err
	}
	time.Sleep(time.Millisecond) // work; in a bubble this lets everybody else run
	inside.Add(-1)
	return held.Release(ctx, counter(n+1))
}

func counted(state []byte) (int, error) {
	var s struct{ N int }
	if state == nil {
		return 0, nil
	}
	err := json.Unmarshal(state, &s)
	return s.N, err
}

// leaseFairness lets busy processes want one lease all the time.
func leaseFairness(s *suite) {
	const processes = 4
	total := s.scaled(400, 60)
	ctx, cancel := context.WithCancel(s.Context())
	defer cancel()
	var shares [processes]int
	var done atomic.Int32
	var all sync.WaitGroup
	began := time.Now()
	for i := range processes {
		p := s.join(fmt.Sprintf("p%d", i))
		all.Go(func() {
			for ctx.Err() == nil {
				held, err := p.Acquire(ctx, "shared")
				if err != nil {
					break
				}
				time.Sleep(5 * time.Millisecond) // work
				if err := held.Release(s.Context(), nil); err != nil {
					s.Error(err)
				}
				shares[i]++
				if int(done.Add(1)) >= total {
					cancel()
				}
			}
		})
	}
	all.Wait()
	took := time.Since(began)
	s.Logf("turns of %d: %v in %v", total, shares, took)
	if s.clock == Bubble {
		require.Less(s, took/time.Duration(total), 20*time.Millisecond, "a turn of 5 ms, with what is between")
	}
	for i, share := range shares {
		require.GreaterOrEqualf(s, share, total/processes/3, "process %d got too few turns: %v", i, shares)
	}
}

// leaseOrder queues callers one by one and expects them served in that order,
// with no poll but that of the first.
func leaseOrder(s *suite) {
	p := s.join("p")
	first := s.acquire(p, "x")
	const callers = 5
	order := make(chan int, callers)
	var all sync.WaitGroup
	for i := range callers {
		all.Go(func() {
			held, err := p.Acquire(s.Context(), "x")
			if err != nil {
				s.Error(err)
				return
			}
			order <- i
			if err := held.Release(s.Context(), nil); err != nil {
				s.Error(err)
			}
		})
		s.settle()
	}
	require.Len(s, p.faulty.Requests("get"), 1, "no caller polls while this process holds the lease")
	require.NoError(s, first.Release(s.Context(), nil))
	all.Wait()
	close(order)
	require.Equal(s, []int{0, 1, 2, 3, 4}, slices.Collect(func(yield func(int) bool) {
		for i := range order {
			if !yield(i) {
				return
			}
		}
	}))
}

// settle lets other goroutines get to where they wait.
func (s *suite) settle() { time.Sleep(time.Duration(s.scaled(1, 50)) * time.Millisecond) }

// leaseHandover times how soon a waiting process notices a release.
func leaseHandover(s *suite) {
	holder, waiter := s.join("holder"), s.join("waiter")
	held := s.acquire(holder, "x")
	released := make(chan time.Time, 1)
	time.AfterFunc(100*time.Millisecond, func() {
		if err := held.Release(s.Context(), nil); err != nil {
			s.Error(err)
		}
		released <- time.Now()
	})
	taken := s.acquire(waiter, "x")
	require.Less(s, time.Since(<-released), time.Duration(s.scaled(300, 1500))*time.Millisecond)
	require.NoError(s, taken.Release(s.Context(), nil))
}

func leaseWrites(s *suite) {
	p := s.join("p")
	for n := range 3 {
		held := s.acquire(p, "x")
		require.NoError(s, held.Release(s.Context(), counter(n)))
	}
	require.Len(s, p.faulty.Requests("put"), 6)
	require.Len(s, p.faulty.Requests("get"), 3)
}
