package leasetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/extension/leaseextension/lease"
)

// tally is a state with one count per process.
type tally map[string]int

// faultRandom lets processes count under random faults. Whatever happens, the
// state never goes back behind what any of them has had confirmed, nor beyond
// what it has sent.
func faultRandom(s *suite) {
	const processes = 4
	rounds := s.scaled(40, 4)
	var confirmed, sent [processes]int
	var all sync.WaitGroup
	for i := range processes {
		p := s.join(fmt.Sprintf("p%d", i))
		p.faulty.Random(uint64(i), 0.2, Refuse, Lose, Delay, Duplicate, Conflict)
		all.Go(func() {
			for range rounds {
				p.faulty.Deliver(s.Context())
				if err := tallyOnce(s.Context(), p, fmt.Sprint(i), &confirmed[i], &sent[i]); err != nil {
					s.Errorf("process %d: %v", i, err)
					return
				}
			}
			p.faulty.Heal()
			p.faulty.Deliver(s.Context())
		})
	}
	all.Wait()
	judge := s.join("judge")
	var state []byte
	require.EventuallyWithT(s, func(c *assert.CollectT) { // what is between may break this, too
		var err error
		state, err = judge.Read(s.Context(), "x")
		assert.NoError(c, err)
	}, s.TTL, s.TTL/100)
	var counts tally
	require.NoError(s, json.Unmarshal(state, &counts))
	s.Logf("confirmed %v, sent %v, state %s", confirmed, sent, state)
	for i := range processes {
		require.GreaterOrEqual(s, counts[fmt.Sprint(i)], confirmed[i])
		require.LessOrEqual(s, counts[fmt.Sprint(i)], sent[i])
		require.GreaterOrEqual(s, confirmed[i], rounds/2, "process %d hardly got through", i)
	}
}

// tallyOnce counts one up in its own entry, by a Save and a Release.
func tallyOnce(ctx context.Context, p participant, key string, confirmed, sent *int) error {
	held, err := p.Acquire(ctx, "x")
	if err != nil {
		return err
	}
	counts := tally{}
	if state := held.State(); state != nil {
		if err := json.Unmarshal(state, &counts); err != nil {
			return err
		}
	}
	if counts[key] < *confirmed || counts[key] > *sent {
		return fmt.Errorf("state has %d: confirmed %d, sent %d", counts[key], *confirmed, *sent)
	}
	for _, write := range []func(context.Context, []byte) error{held.Save, held.Release} {
		counts[key]++
		*sent = counts[key]
		state, err := json.Marshal(counts)
		if err != nil {
			return err
		}
		switch err := write(ctx, state); {
		case errors.Is(err, lease.ErrLost):
			return nil
		case err != nil:
			return fmt.Errorf("write: %w", err)
		}
		*confirmed = counts[key]
	}
	return nil
}
