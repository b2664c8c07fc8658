package window

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/extension/xextension/storage"
)

// TestSealWrittenTwice has seals take effect whose write gave an error, before
// the window is sealed otherwise.
func TestSealWrittenTwice(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		d := newDisk()
		p := w.start(d, settings{maxAge: 2 * time.Second})
		fails := 3
		d.after = func(ops []*storage.Operation) error {
			for _, op := range ops {
				if op.Type == storage.Set && strings.Contains(string(op.Value), `"reason"`) && fails > 0 {
					fails--
					return errors.New("input/output error")
				}
			}
			return nil
		}
		p.append("acme", "a")
		time.Sleep(2050 * time.Millisecond)
		done := make(chan struct{})
		p.events <- func() { p.restart(p.parts[key{"acme", "logs"}]); close(done) }
		<-done
		time.Sleep(time.Second / 4)
		p.append("acme", "b")
		time.Sleep(time.Minute)
		require.Zero(t, fails)
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
		var stamps []int64
		done := make(chan seal)
		p.events <- func() {
			x := p.parts[key{"acme", "logs"}]
			for _, u := range x.open.units {
				for _, f := range u.refs {
					stamps = append(stamps, f.stamp)
				}
			}
			done <- x.open.seal(x, "age", x.open.last+1, time.Now()).seal
		}
		whole := <-done
		part := whole
		part.End = stamps[1] + 1
		for _, s := range []seal{part, whole} {
			b, err := s.encode()
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
		done := make(chan struct{})
		p.events <- func() { p.restart(p.parts[key{"acme", "logs"}]); close(done) }
		<-done
		time.Sleep(time.Minute)
		p.quiet()
		assert.Equal(t, []string{"a"}, w.bodies("acme"))
		p.shutdown()
	})
}
