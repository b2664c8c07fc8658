package memory

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestBudget holds the budget to its rules one by one.
func TestBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := 0
		b := New(1600, func() { told++ })
		held, err := b.Acquire(t.Context(), 1000, 0, false)
		require.NoError(t, err)
		type grant struct {
			name  string
			share Share
		}
		got := make(chan grant, 4)
		ask := func(name string, data, refs int64, first bool) {
			go func() {
				if s, err := b.Acquire(context.Background(), data, refs, first); err == nil {
					got <- grant{name, s}
				}
			}()
			synctest.Wait()
		}
		take := func(want ...string) (shares []Share) {
			t.Helper()
			var names []string
			for range want {
				g := <-got
				names = append(names, g.name)
				shares = append(shares, g.share)
			}
			assert.ElementsMatch(t, want, names)
			return shares
		}
		ask("reader", 600, 0, false)
		ask("small", 1, 0, false)
		ask("load", 501, 0, true)
		assert.Empty(t, got, "nothing fits, and nobody overtakes but who is first")
		assert.Equal(t, 3, told)
		assert.Equal(t, Shortage{Need: 1, First: true}, b.Short())
		held.Resize(999, 0)
		synctest.Wait()
		load := take("load")[0]
		held.Release()
		held.Release() // again: it is empty
		load.Release()
		synctest.Wait()
		both := take("reader", "small")
		sum, peak := b.Usage()
		assert.EqualValues(t, 601, sum)
		assert.EqualValues(t, 1500, peak)
		both[0].Join(&both[1])
		assert.Zero(t, both[1].Data(), "it was passed on")
		both[1].Release()
		part := both[0].Split(200, 5)
		assert.EqualValues(t, []int64{200, 0, 401}, []int64{part.Data(), part.Refs(), both[0].Data()})
		part.Release()
		both[0].Release()
		sum, _ = b.Usage()
		assert.Zero(t, sum)

		ask("huge", 9999, 0, false)
		huge := take("huge")[0] // alone
		huge.Release()
		refs, err := b.Acquire(t.Context(), 0, 400, true)
		require.NoError(t, err)
		ask("more refs", 0, 1, false)
		assert.Equal(t, Shortage{Need: 1, Refs: true}, b.Short())
		ask("load beside refs", 1100, 0, true)
		beside := take("load beside refs")[0]
		refs.Resize(0, 399)
		synctest.Wait()
		take("more refs")

		beside.Resize(1000, 0)
		late, cancel := context.WithCancel(context.Background())
		done := make(chan error)
		go func() { _, err := b.Acquire(late, 5000, 0, false); done <- err }()
		synctest.Wait()
		ask("behind", 1, 0, false)
		cancel()
		require.ErrorIs(t, <-done, context.Canceled)
		take("behind") // who gives up lets the next one pass

		b.Windows(2)
		_, _, windows := b.Held()
		assert.EqualValues(t, 2*WindowBytes, windows)
		ask("refs beside windows", 0, 1, false)
		assert.True(t, b.Short().Refs, "windows take room for references")
		b.Admit()
		synctest.Wait()
		take("refs beside windows")
		b.Admit() // nobody waits
	})
}
