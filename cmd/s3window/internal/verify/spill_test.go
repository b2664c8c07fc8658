package verify

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// A spill of any budget finds what a map finds: with one part and many, one
// pass and many, and with more equal hashes than fit into the budget.
func TestSpillFindsWhatAMapFinds(t *testing.T) {
	for _, c := range []struct {
		rows, told, budget int64
		distinct           uint64
	}{
		{5000, 5000, sortBudget, 3000},
		{5000, 5000, 10_000, 3000},
		{5000, 10, 10_000, 3000}, // the manifests say too little: passes
		{5000, 5000, 1, 3000},
		{5000, 10, 1000, 3},
	} {
		s, err := newSpill(t.TempDir(), c.told, c.budget)
		require.NoError(t, err)
		random := rand.New(rand.NewPCG(1, uint64(c.budget)))
		type place struct {
			hash   rowHash
			object uint32
		}
		counts, first := map[place]int64{}, map[rowHash]uint32{}
		for range c.rows {
			p := place{hashOf(binary.AppendUvarint(nil, random.Uint64N(c.distinct))), random.Uint32N(20)}
			require.NoError(t, s.add(p.hash, p.object))
			counts[p]++
			if o, ok := first[p.hash]; !ok || p.object < o {
				first[p.hash] = p.object
			}
		}
		want, duplicated := map[pair]int64{}, int64(0)
		for p, n := range counts {
			if first[p.hash] == p.object {
				n--
			}
			if n > 0 {
				want[pair{first[p.hash], p.object}] += n
				duplicated += n
			}
		}
		require.NoError(t, s.flush())
		got, err := s.find(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, got.count)
		require.Equal(t, duplicated, got.records)
		s.close()
	}
}
