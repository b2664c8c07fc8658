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
		held, err := b.Acquire(t.Context(), 1000, 0, Reader)
		require.NoError(t, err)
		type grant struct {
			name  string
			share Share
		}
		got := make(chan grant, 4)
		ask := func(name string, data, refs int64, who Who) {
			go func() {
				if s, err := b.Acquire(context.Background(), data, refs, who); err == nil {
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
		ask("reader", 600, 0, Reader)
		ask("small", 1, 0, Reader)
		ask("load", 501, 0, Load)
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
		sum, _, peak := b.Usage()
		assert.EqualValues(t, 601, sum)
		assert.EqualValues(t, 1500, peak)
		both[0].Join(&both[1])
		assert.Zero(t, both[1].Data(), "it was passed on")
		both[1].Release()
		part := both[0].Split(200, 5)
		assert.EqualValues(t, []int64{200, 0, 401}, []int64{part.Data(), part.Refs(), both[0].Data()})
		part.Release()
		both[0].Release()
		sum, _, _ = b.Usage()
		assert.Zero(t, sum)

		ask("huge", 9999, 0, Reader)
		huge := take("huge")[0] // alone
		huge.Release()
		refs, err := b.Acquire(t.Context(), 0, 400, Load)
		require.NoError(t, err)
		ask("more refs", 0, 1, Reader)
		assert.Equal(t, Shortage{Need: 1, Refs: true}, b.Short())
		ask("load beside refs", 1100, 0, Load)
		beside := take("load beside refs")[0]
		refs.Resize(0, 399)
		synctest.Wait()
		take("more refs")

		beside.Resize(1000, 0)
		late, cancel := context.WithCancel(context.Background())
		done := make(chan error)
		go func() { _, err := b.Acquire(late, 5000, 0, Reader); done <- err }()
		synctest.Wait()
		ask("behind", 1, 0, Reader)
		cancel()
		require.ErrorIs(t, <-done, context.Canceled)
		take("behind") // who gives up lets the next one pass

		b.Windows(2)
		_, windows, _ := b.Usage()
		assert.EqualValues(t, 2*WindowBytes, windows)
		ask("refs beside windows", 0, 1, Reader)
		assert.True(t, b.Short().Refs, "windows take room for references")
		b.Admit()
		synctest.Wait()
		take("refs beside windows")
		b.Admit() // nobody waits
	})
}

// TestScanLeavesRoomToTheReader has a scan wait for references: the reader is
// let past it as long as its own bound allows, and past nobody else.
func TestScanLeavesRoomToTheReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(3200, func() {}) // 800 for references, 700 of them for scans
		assert.EqualValues(t, 800, b.Spare())
		held, err := b.Acquire(t.Context(), 0, 650, Scan)
		require.NoError(t, err)
		got := make(chan string, 4)
		ask := func(name string, data, refs int64, who Who) {
			go func() {
				if _, err := b.Acquire(context.Background(), data, refs, who); err == nil {
					got <- name
				}
			}()
			synctest.Wait()
		}
		ask("scan", 1, 51, Scan)
		assert.Empty(t, got)
		assert.Equal(t, Shortage{Need: 1, Refs: true}, b.Short())
		ask("reader", 1, 60, Reader)
		assert.Equal(t, "reader", <-got)
		ask("too much", 1, 91, Reader)
		ask("after it", 1, 1, Reader)
		assert.Empty(t, got)
		held.Resize(0, 649) // just what the reader in line needs
		synctest.Wait()
		assert.Equal(t, "too much", <-got)
		assert.Empty(t, got)
		held.Release()
		synctest.Wait()
		assert.ElementsMatch(t, []string{"scan", "after it"}, []string{<-got, <-got})

		full, err := b.Acquire(t.Context(), 2700, 0, Reader)
		require.NoError(t, err)
		ask("scan", 500, 1, Scan)
		ask("reader", 1, 1, Reader)
		assert.Empty(t, got, "who waits for data waits in order")
		full.Release()
		synctest.Wait()
		assert.ElementsMatch(t, []string{"scan", "reader"}, []string{<-got, <-got})
	})
}
