package window

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/extension/xextension/storage"

	"github.com/s3window/s3window/internal/lake/laketest"
)

// TestStorageThatFails has the WAL refuse every write: what is sealed by then is
// committed, health says so once, and all goes on when it answers again.
func TestStorageThatFails(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		d := newDisk()
		p := w.start(d, settings{maxAge: 5 * time.Second})
		w.bucket.Script(func(op laketest.Op) laketest.Fault {
			return laketest.Fault{Pause: func(ctx context.Context) { wait(ctx, 500*time.Millisecond) }}
		})
		p.append("acme", "a")
		eventually(t, func() bool { return p.wal.Stats().Seals == 1 })
		p.append("beta", "b")
		d.set(func([]*storage.Operation) error { return errors.New("no space left on device") })
		require.Error(t, p.wal.Append(t.Context(), record("acme", "refused")))
		time.Sleep(time.Minute)
		assert.Equal(t, []string{"a"}, w.bodies("acme"), "what was sealed")
		n := len(p.seen.healths())
		require.ErrorContains(t, p.seen.lastHealth(), "no space left")
		time.Sleep(time.Hour)
		assert.LessOrEqual(t, len(p.seen.healths())-n, 1, "said once, not once per try")
		d.set(nil)
		time.Sleep(time.Minute)
		p.quiet()
		assert.Equal(t, []string{"b"}, w.bodies("beta"))
		assert.NoError(t, p.seen.lastHealth())
		p.shutdown()
	})
}

// TestStorageThatRefusesSeals takes entries all the while: health must not go
// to and fro with every read that succeeds.
func TestStorageThatRefusesSeals(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		d := newDisk()
		p := w.start(d, settings{maxAge: 5 * time.Second})
		d.set(func(ops []*storage.Operation) error {
			for _, op := range ops {
				if op.Type == storage.Set && strings.Contains(string(op.Value), `"reason"`) {
					return errors.New("input/output error")
				}
			}
			return nil
		})
		for i := range 60 {
			rec := record("acme", fmt.Sprint(i))
			for p.wal.Append(t.Context(), rec) != nil { // it shared a Batch with a seal
				time.Sleep(time.Millisecond)
			}
			time.Sleep(time.Second)
		}
		require.Len(t, p.seen.healths(), 1, "said once")
		require.ErrorContains(t, p.seen.lastHealth(), "input/output error")
		assert.Empty(t, w.bodies("acme"), "nothing is uploaded without its seal")
		assert.Empty(t, w.bucket.Keys("otel/tenant"))
		d.set(nil)
		time.Sleep(time.Minute)
		p.quiet()
		assert.Len(t, w.bodies("acme"), 60)
		assert.NoError(t, p.seen.lastHealth())
		p.shutdown()
	})
}
