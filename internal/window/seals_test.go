package window

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/extension/xextension/storage"

	"github.com/s3window/s3window/internal/lake/laketest"
	"github.com/s3window/s3window/internal/window/sealed"
)

// TestSealWrittenTwice has seals take effect whose write gave an error, before
// the window is sealed otherwise.
func TestSealWrittenTwice(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		d := newDisk()
		p := w.start(d, settings{maxAge: 2 * time.Second})
		var fails atomic.Int32
		fails.Store(3)
		d.after = func(ops []*storage.Operation) error {
			for _, op := range ops {
				if op.Type == storage.Set && strings.Contains(string(op.Value), `"reason"`) && fails.Add(-1) >= 0 {
					return errors.New("input/output error")
				}
			}
			return nil
		}
		p.append("acme", "a")
		time.Sleep(2050 * time.Millisecond)
		p.do(func() { p.restart(p.parts[key{"acme", "logs"}]) })
		time.Sleep(time.Second / 4)
		p.append("acme", "b")
		time.Sleep(time.Minute)
		require.Negative(t, fails.Load())
		p.shutdown()
		p = w.start(d, settings{maxAge: 2 * time.Second})
		time.Sleep(time.Minute)
		p.quiet()
		assert.ElementsMatch(t, []string{"a", "b"}, w.bodies("acme"))
		p.shutdown()
	})
}

// TestTwinSeals puts two overlapping seals of one writer on the disk, the
// earlier one never acknowledged.
func TestTwinSeals(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		d := newDisk()
		p := w.start(d, settings{maxAge: time.Hour})
		for i := range 4 {
			p.append("acme", fmt.Sprint(i))
			time.Sleep(time.Second)
		}
		var whole sealed.Seal
		p.do(func() {
			x := p.parts[key{"acme", "logs"}]
			whole = x.open.seal(x, "age", x.open.Last+1).window.Seal
		})
		part := whole
		part.End = part.Start + 1500_000 // between the second and the third
		for _, s := range []sealed.Seal{part, whole} {
			b, err := s.Encode()
			require.NoError(t, err)
			_, err = p.wal.PutSeal(t.Context(), b)
			require.NoError(t, err)
		}
		p.crash()
		p = w.start(d, settings{maxAge: time.Hour})
		time.Sleep(time.Minute)
		p.quiet()
		ws := w.windows("acme")
		require.Len(t, ws, 1, "the later one holds")
		assert.Len(t, ws[0].bodies, 4)
		p.shutdown()
	})
}

// TestRestartWhileASealIsWritten has a partition decided anew while the seal of
// its window is on its way to the disk.
func TestRestartWhileASealIsWritten(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		q := &counted{}
		q.sealDelay.Store(int64(5 * time.Second))
		p := w.start(newDisk(), settings{maxAge: 2 * time.Second, queue: q.wrap})
		p.append("acme", "a")
		time.Sleep(4 * time.Second)
		p.do(func() { p.restart(p.parts[key{"acme", "logs"}]) })
		time.Sleep(time.Minute)
		p.quiet()
		assert.Equal(t, []string{"a"}, w.bodies("acme"))
		p.shutdown()
	})
}

// TestEntriesThatComeDuringARestart has them wait behind those that are decided
// anew.
func TestEntriesThatComeDuringARestart(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.start(newDisk(), settings{maxAge: 10 * time.Second})
		p.append("acme", "a")
		time.Sleep(time.Second)
		w.bucket.Script(func(laketest.Op) laketest.Fault {
			return laketest.Fault{Pause: func(ctx context.Context) { wait(ctx, 2*time.Second) }}
		})
		p.do(func() {
			x := p.parts[key{"acme", "logs"}]
			p.fail(x, sealed.Commit, errDown)
			p.restart(x)
		})
		p.append("acme", "b")
		time.Sleep(5 * time.Second)
		p.do(func() {
			assert.False(t, p.parts[key{"acme", "logs"}].failing(), "what went wrong before is no longer known")
		})
		time.Sleep(time.Minute)
		p.quiet()
		ws := w.windows("acme")
		require.Len(t, ws, 1)
		assert.Equal(t, []string{"a", "b"}, ws[0].bodies)
		p.shutdown()
	})
}

// TestRebuiltWindowWaitsForWhatIsInTransit has the reader hold a group of a
// window that an earlier process sealed.
func TestRebuiltWindowWaitsForWhatIsInTransit(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		d := newDisk()
		p := w.start(d, settings{maxAge: 5 * time.Second})
		synctest.Wait()
		w.bucket.Script(func(op laketest.Op) laketest.Fault {
			if op.Kind == laketest.PutIfAbsent {
				return laketest.Fault{Before: errDown}
			}
			return laketest.Fault{}
		})
		for i := range 3 {
			p.append("acme", fmt.Sprint(i))
			time.Sleep(time.Second)
		}
		time.Sleep(10 * time.Second)
		require.Len(t, p.wal.Seals(), 1)
		p.crash()
		w.bucket.Script(nil)
		q := &counted{}
		q.readDelay.Store(int64(4 * time.Second))
		p = w.start(d, settings{maxAge: 5 * time.Second, queue: q.wrap})
		time.Sleep(time.Minute)
		p.quiet()
		ws := w.windows("acme")
		require.Len(t, ws, 1)
		assert.Equal(t, []string{"0", "1", "2"}, ws[0].bodies)
		p.shutdown()
	})
}
