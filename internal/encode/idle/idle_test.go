package idle

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// use is a call of an owner.
func use(k *Keeper, owner string) (again bool) {
	memory, ok := k.Take(owner)
	defer k.Done()
	if !ok {
		memory = "of " + owner
	}
	k.Give(owner, memory)
	return ok
}

func TestMemoryIsUsedAgainAndBounded(t *testing.T) {
	k := NewKeeper(2)
	require.False(t, use(k, "a"))
	require.False(t, use(k, "b"))
	require.True(t, use(k, "a"))
	require.False(t, use(k, "c")) // b lay idle the longest
	require.True(t, use(k, "a"))
	require.Empty(t, k.Of("b"))
	require.Len(t, k.Of("a"), 1)
	require.Len(t, k.Of("c"), 1)
}

// Memory in use counts: idle memory gives way to it.
func TestMemoryInUseCounts(t *testing.T) {
	k := NewKeeper(2)
	use(k, "a")
	use(k, "b")
	for range 3 {
		_, _ = k.Take("c")
	}
	require.Empty(t, k.Of("a"))
	require.Empty(t, k.Of("b"))
	k.Give("c", "1")
	k.Done()
	require.Empty(t, k.Of("c")) // two are in use still
	k.Done()                    // one that panicked
	k.Give("c", "3")
	k.Done()
	require.Len(t, k.Of("c"), 1)
}
