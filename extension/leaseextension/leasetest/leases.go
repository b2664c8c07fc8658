package leasetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/extension/leaseextension"
)

func leaseCases() []testCase {
	return []testCase{
		{"lease/one holder at a time", leaseExclusion},
		{"lease/turns are fair among processes", leaseFairness},
		{"lease/turns are in order within a process", leaseOrder},
		{"lease/two writes a commit", leaseWrites},
		{"lease/epochs never repeat", leaseEpochs},
		{"lease/taken over after the TTL and not before", leaseExpiry},
		{"lease/renewed while held", leaseRenewal},
		{"lease/holder knows before a fast clock takes over", leaseClocks},
		{"lease/predecessor is taken over at once", leasePredecessor},
		{"lease/predecessor that writes is alive", leaseLivingPredecessor},
		{"lease/take-over keeps the state", leaseTakeOver},
		{"lease/deleted under its holder", leaseDeleted},
		{"lease/states", leaseStates},
		{"lease/names", leaseNames},
		{"lease/survives a restart of the store", leaseRestart},
	}
}

// leaseExclusion lets processes with several callers each count in the state,
// and checks that nobody is at it at the same time.
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
	lease, err := p.Acquire(ctx, "shared")
	if err != nil {
		return err
	}
	if inside.Add(1) != 1 {
		return errors.New("two holders at a time")
	}
	n, err := counted(lease.State())
	if err != nil {
		return err
	}
	time.Sleep(time.Millisecond) // work; in a bubble this lets everybody else run
	inside.Add(-1)
	return lease.Release(ctx, counter(n+1))
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
	for i := range processes {
		p := s.join(fmt.Sprintf("p%d", i))
		all.Go(func() {
			for ctx.Err() == nil {
				lease, err := p.Acquire(ctx, "shared")
				if err != nil {
					break
				}
				time.Sleep(5 * time.Millisecond) // work
				if err := lease.Release(s.Context(), nil); err != nil {
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
	s.Logf("turns of %d: %v", total, shares)
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
			lease, err := p.Acquire(s.Context(), "x")
			if err != nil {
				s.Error(err)
				return
			}
			order <- i
			if err := lease.Release(s.Context(), nil); err != nil {
				s.Error(err)
			}
		})
		s.settle()
	}
	require.Len(s, p.faulty.Requests("get"), 1, "nobody polls while this process holds the lease")
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

func leaseWrites(s *suite) {
	p := s.join("p")
	for n := range 3 {
		lease := s.acquire(p, "x")
		require.NoError(s, lease.Release(s.Context(), counter(n)))
	}
	require.Len(s, p.faulty.Requests("put"), 6)
	require.Len(s, p.faulty.Requests("get"), 3)
}

func leaseEpochs(s *suite) {
	ctx := s.Context()
	a, b := s.join("a"), s.join("b")
	var epochs []uint64
	acquire := func(p participant) leaseextension.Lease {
		lease := s.acquire(p, "x")
		epochs = append(epochs, lease.Epoch())
		return lease
	}
	require.NoError(s, acquire(a).Release(ctx, counter(1)))
	require.NoError(s, acquire(b).Release(ctx, nil))
	old := s.record("x")
	abandoned := acquire(a)
	a.faulty.Always(Hang) // dead
	require.NoError(s, acquire(b).Release(ctx, nil))
	s.remove("x")
	require.NoError(s, acquire(b).Release(ctx, nil))
	s.remove("x")
	s.settle() // a process that never saw the record needs another microsecond
	require.NoError(s, acquire(s.join("c")).Release(ctx, nil))

	// The store comes back from an old copy.
	_, err := s.Open(s.T).Put(ctx, "x", old.Value, s.record("x").Revision)
	require.NoError(s, err)
	require.NoError(s, acquire(b).Release(ctx, nil))

	require.True(s, slices.IsSorted(epochs))
	require.Len(s, slices.Compact(slices.Clone(epochs)), len(epochs), "epochs %v", epochs)
	a.faulty.Heal()
	require.ErrorIs(s, abandoned.Save(ctx, counter(9)), leaseextension.ErrLost)
}

// leaseExpiry kills a holder and times the take-over from the waiter's first
// read on.
func leaseExpiry(s *suite) {
	dead := s.join("dead")
	s.acquire(dead, "x")
	dead.faulty.Always(Hang)
	dead.Close()
	s.settle()

	asked := time.Now()
	lease := s.acquire(s.join("waiter"), "x")
	waited := time.Since(asked)
	require.GreaterOrEqual(s, waited, s.TTL)
	require.Less(s, waited, s.TTL+s.TTL/4+time.Duration(s.scaled(0, 2))*time.Second)
	require.NoError(s, lease.Release(s.Context(), nil))
}

// leaseRenewal holds a lease for three TTLs; then stops renewing it.
func leaseRenewal(s *suite) {
	holder, waiter := s.join("holder"), s.join("waiter")
	lease := s.acquire(holder, "x")
	_, err := waiter.Acquire(s.within(3*s.TTL), "x")
	require.ErrorIs(s, err, context.DeadlineExceeded)
	require.NoError(s, lease.Context().Err())
	require.Positive(s, time.Until(lease.Deadline()))
	require.NoError(s, lease.Save(s.Context(), counter(1)))

	// What the waiter saw of the old version counts no more after a write: from
	// here on it takes one more TTL.
	holder.faulty.Always(Hang)
	written := time.Now()
	taken := s.acquire(waiter, "x")
	require.GreaterOrEqual(s, time.Since(written), s.TTL)
	require.ErrorIs(s, context.Cause(lease.Context()), leaseextension.ErrExpired)
	require.NoError(s, taken.Release(s.Context(), nil))
}

// leaseClocks cuts a holder off from the store while a waiter's clock runs 5 %
// fast.
func leaseClocks(s *suite) {
	for _, rate := range []float64{0.95, 1, 1.05} {
		name := fmt.Sprint("rate ", rate)
		holder := s.join("holder")
		waiter := s.joinThrough("waiter", func(store leaseextension.Store) leaseextension.Store { return Skewed(store, rate) })
		lease := s.acquire(holder, name)
		holder.faulty.Always(Hang)
		taken := s.acquire(waiter, name)
		require.ErrorIs(s, context.Cause(lease.Context()), leaseextension.ErrExpired, name)
		require.NoError(s, taken.Release(s.Context(), nil))
	}
}

func leasePredecessor(s *suite) {
	before := s.join("gw/1")
	s.acquire(before, "x")
	before.faulty.Always(Hang)
	before.Close()

	after := s.join("gw/2")
	if _, err := after.Read(s.Context(), "x"); err != nil { // a read does not use the right up
		s.Error(err)
	}
	asked := time.Now()
	lease := s.acquire(after, "x", leaseextension.WithHolder("gw/3"), leaseextension.WithPredecessors(func(holder string) bool {
		return holder == "gw/1"
	}))
	require.Less(s, time.Since(asked), s.TTL/2)
	require.Contains(s, string(s.record("x").Value), `"holder":"gw/3"`)
	require.NoError(s, lease.Release(s.Context(), nil))
}

func leaseLivingPredecessor(s *suite) {
	before, after := s.join("gw/1"), s.join("gw/2")
	lease := s.acquire(before, "x")
	_, err := after.Read(s.Context(), "x")
	require.NoError(s, err)
	require.NoError(s, lease.Save(s.Context(), counter(1)))
	before.faulty.Always(Hang)

	written := time.Now()
	taken := s.acquire(after, "x", leaseextension.WithPredecessors(func(string) bool { return true }))
	require.GreaterOrEqual(s, time.Since(written), s.TTL)
	require.NoError(s, taken.Release(s.Context(), nil))
}

func leaseTakeOver(s *suite) {
	ctx := s.Context()
	stalled := s.join("stalled")
	lost := s.acquire(stalled, "x")
	require.NoError(s, lost.Save(ctx, []byte(`{"k":41,"writers":{"q7":{"end":1}}}`)))
	stalled.faulty.Always(Hang)

	taken := s.acquire(s.join("waiter"), "x")
	require.Equal(s, `{"k":41,"writers":{"q7":{"end":1}}}`, string(taken.State()))
	require.Greater(s, taken.Epoch(), lost.Epoch())

	stalled.faulty.Heal() // it wakes up
	require.ErrorIs(s, lost.Save(ctx, counter(1)), leaseextension.ErrLost)
	require.ErrorIs(s, lost.Release(ctx, counter(2)), leaseextension.ErrLost)
	require.Error(s, lost.Context().Err())
	require.NoError(s, taken.Context().Err())
	require.NoError(s, taken.Release(ctx, nil))
	state, err := stalled.Read(ctx, "x")
	require.NoError(s, err)
	require.Equal(s, `{"k":41,"writers":{"q7":{"end":1}}}`, string(state))
}

func leaseDeleted(s *suite) {
	p := s.join("p")
	lease := s.acquire(p, "x")
	require.NoError(s, lease.Save(s.Context(), counter(1)))
	s.remove("x")
	require.ErrorIs(s, lease.Save(s.Context(), counter(2)), leaseextension.ErrLost)
	require.ErrorIs(s, context.Cause(lease.Context()), leaseextension.ErrLost)
	_, err := p.Read(s.Context(), "x")
	require.ErrorIs(s, err, leaseextension.ErrNotFound)
	again := s.acquire(p, "x")
	require.Greater(s, again.Epoch(), lease.Epoch())
	require.Nil(s, again.State())
	require.NoError(s, again.Release(s.Context(), nil))
}

func leaseStates(s *suite) {
	ctx := s.Context()
	p := s.join("p")
	full := `{"a":"` + strings.Repeat("x", leaseextension.MaxState-len(`{"a":""}`)) + `"}`
	for give, want := range map[string]string{
		`{}`:                                "",
		`{"k":1}`:                           `{"k":1}`,
		"{ \"b\" : [ 1 ] ,\n\"a\" : null }": `{"b":[1],"a":null}`,
		`{"":0,"ü":"<&>"}`:                  `{"":0,"ü":"<&>"}`,
		full:                                full,
	} {
		lease := s.acquire(p, "x")
		require.NoError(s, lease.Save(ctx, []byte(give)))
		require.Equal(s, want, string(lease.State()))
		require.NoError(s, lease.Save(ctx, nil), "nil leaves the state as it is")
		require.Equal(s, want, string(lease.State()))
		require.NoError(s, lease.Release(ctx, nil))
		state, err := p.Read(ctx, "x")
		require.NoError(s, err)
		require.Equal(s, want, string(state))
	}
	lease := s.acquire(p, "x")
	before := s.record("x").Revision
	for _, bad := range []string{``, `null`, `1`, `[]`, `{"a":1}x`, `{"a":1,"a":2}`, `{"epoch":1}`, `{"write":""}`, `{"version":1}`, `{"lease":{}}`, full[:len(full)-2] + `x"}`} {
		require.Errorf(s, lease.Save(ctx, []byte(bad)), "state %.40q", bad)
	}
	require.Equal(s, before, s.record("x").Revision, "a wrong state writes nothing")
	require.NoError(s, lease.Context().Err())
	require.NoError(s, lease.Release(ctx, nil))
}

func leaseNames(s *suite) {
	p := s.join("p")
	names := oddNames()
	if s.clock == RealTime {
		names = names[:12]
	}
	for _, name := range names {
		require.NoErrorf(s, s.acquire(p, name).Release(s.Context(), fmt.Appendf(nil, `{"name":%q}`, fmt.Sprintf("%x", name))), "%q", name)
	}
	for _, name := range names {
		state, err := p.Read(s.Context(), name)
		require.NoError(s, err)
		require.Equal(s, fmt.Sprintf(`{"name":"%x"}`, name), string(state))
	}
	for _, bad := range []string{"", "\xff", strings.Repeat("x", 1025)} {
		_, err := p.Acquire(s.Context(), bad)
		require.Error(s, err)
		_, err = p.Read(s.Context(), bad)
		require.Error(s, err)
	}
}

func leaseRestart(s *suite) {
	if s.Restart == nil {
		return // nothing outlives the process, and nothing is promised
	}
	p := s.join("before")
	lease := s.acquire(p, "x")
	require.NoError(s, lease.Save(s.Context(), counter(1)))
	s.Restart(s.T)
	require.NoError(s, lease.Save(s.Context(), counter(2)), "a restart of the store does not end a lease")
	require.NoError(s, lease.Release(s.Context(), counter(3)))
	s.Restart(s.T)
	again := s.acquire(s.join("after"), "x")
	require.JSONEq(s, string(counter(3)), string(again.State()))
	require.Greater(s, again.Epoch(), lease.Epoch())
	require.NoError(s, again.Release(s.Context(), nil))
}
