package window

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/internal/flush"
	"github.com/s3window/s3window/internal/wal"
)

// TestSize fills windows to a target, also behind small ones, whose objects are
// nearly all footer.
func TestSize(t *testing.T) {
	const target = 1 << 20
	for name, small := range map[string]int{"first window": 0, "after small windows": 20, "of what compresses well": 1} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWorld(t)
				p := w.start(newDisk(), settings{target: target, maxAge: time.Minute})
				for i := range small {
					p.append("acme", fmt.Sprint(i))
					time.Sleep(2 * time.Minute)
				}
				require.Len(t, p.seen.windows(), small)
				r := rand.New(rand.NewPCG(1, 1))
				for i := 0; len(p.seen.windows()) == small; i++ {
					require.Less(t, i, 10000)
					require.Zero(t, p.Stats().Sealed)
					x := noise(r, fmt.Sprint(i), 20, 300)
					if small == 1 {
						for j := range x {
							x[j] = strings.Repeat(x[j][:30], 40)
						}
					}
					p.append("acme", x...)
					synctest.Wait()
				}
				ws := p.seen.windows()
				require.Len(t, ws, small+1)
				assert.Equal(t, flush.Size, ws[small].Reason)
				assert.InDelta(t, target, ws[small].Bytes, target/4, "the band")
				p.quiet()
				assert.Len(t, w.windows("acme")[small].Objects, 1)
				p.shutdown()
			})
		})
	}
}

// TestSizeCutsBetweenStamps has one request reach the target many times over.
func TestSizeCutsBetweenStamps(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.start(newDisk(), settings{target: 20000})
		recs := make([]wal.Record, 100)
		for i := range recs {
			recs[i] = record("acme", noise(rand.New(rand.NewPCG(1, 1)), fmt.Sprint(i), 20, 300)...)
		}
		require.NoError(t, p.wal.Append(t.Context(), recs...))
		p.quiet()
		require.Len(t, w.windows("acme"), 1)
		assert.Len(t, w.bodies("acme"), 2000)
		p.shutdown()
	})
}

func TestAge(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.start(newDisk(), settings{maxAge: 10 * time.Second})
		p.append("acme", "a")
		time.Sleep(5 * time.Second)
		p.append("acme", "b")
		time.Sleep(5*time.Second - time.Millisecond)
		synctest.Wait()
		assert.Empty(t, p.seen.windows())
		time.Sleep(time.Second + time.Millisecond) // the first tick then
		synctest.Wait()
		assert.Equal(t, map[flush.Reason]int{flush.Age: 1}, p.seen.reasons())
		assert.Equal(t, []string{"a", "b"}, w.bodies("acme"))
		p.quiet()
		p.shutdown()
	})
}

func TestLimitsOfOneTenant(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.start(newDisk(), settings{maxAge: time.Hour, limits: func(tenant string) flush.Limits {
			if tenant == "quick" {
				return flush.Limits{TargetSize: 1 << 40, MaxAge: 5 * time.Second}
			}
			return flush.Limits{}
		}})
		p.append("acme", "a")
		p.append("quick", "b")
		time.Sleep(10 * time.Second)
		assert.Equal(t, []string{"b"}, w.bodies("quick"))
		assert.Empty(t, w.bodies("acme"))
		p.shutdown()
	})
}

func TestRotation(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.start(newDisk(), settings{segment: time.Minute})
		for i := range 100 {
			p.append(fmt.Sprint("t", i), "a")
		}
		time.Sleep(62 * time.Second)
		p.append("new", "b")
		time.Sleep(2 * time.Second)
		synctest.Wait()
		assert.Equal(t, map[flush.Reason]int{flush.Rotation: 100}, p.seen.reasons(), "small ones too, and none of the new segment")
		assert.EqualValues(t, 1, p.wal.Stats().Entries, "nothing buffered predates it")
		assert.Equal(t, 1, p.wal.Stats().Segments)
		p.shutdown()
	})
}

// TestBoundedMemory is the promise in short; memory_test.go has the rest.
func TestBoundedMemory(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.start(newDisk(), settings{maxAge: time.Hour, data: 1 << 20})
		r := rand.New(rand.NewPCG(1, 1))
		want := map[string]int{}
		waited := false
		for i := range 400 {
			tenant := fmt.Sprint("t", i%40)
			p.append(tenant, noise(r, fmt.Sprint(i), 10, 1500)...)
			want[tenant] += 10
			waited = waited || p.wal.Stats().UnreadEntries > 3
		}
		assert.True(t, waited, "admission blocks")
		synctest.Wait()
		assert.Zero(t, p.wal.Stats().UnreadEntries, "until memory is freed")
		assert.Positive(t, p.seen.reasons()[flush.Memory], "partitions are sealed early")
		time.Sleep(2 * time.Hour)
		p.quiet() // and never more than the limit
		for tenant, n := range want {
			assert.Len(t, w.bodies(tenant), n)
		}
		p.shutdown()
	})
}

func TestIsolation(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.start(newDisk(), settings{maxAge: 3 * time.Second, target: 5000, data: 1 << 20})
		tenants := []string{"a", "a/b", "a=b", "../x", "%2e", "tenant=a", strings.Repeat("long", 20)}
		r := rand.New(rand.NewPCG(1, 1))
		want := map[string]int{}
		for i := range 500 {
			recs := []wal.Record{}
			for range 1 + r.IntN(4) {
				k := tenants[r.IntN(len(tenants))]
				recs = append(recs, record(k, noise(r, fmt.Sprintf("<%s>%d", k, i), 2, 100)...))
				want[k] += 2
			}
			require.NoError(t, p.wal.Append(t.Context(), recs...))
			time.Sleep(time.Duration(r.IntN(300)) * time.Millisecond)
		}
		p.quiet()
		for _, k := range tenants {
			got := w.bodies(k)
			assert.Len(t, got, want[k])
			for _, x := range got {
				require.Contains(t, x, "<"+k+">")
			}
		}
		p.shutdown()
	})
}
