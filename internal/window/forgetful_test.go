package window

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/s3window/s3window/internal/commit"
)

// forgetful is a log whose head names no writer: all of them were pruned.
type forgetful struct {
	Log
	swept *[]string
}

func (forgetful) Read(context.Context) (commit.Ends, error) { return commit.Ends{}, nil }

func (f forgetful) Sweep(_ context.Context, writers ...string) ([]string, error) {
	*f.swept = append(*f.swept, writers...)
	return nil, nil
}

// TestOwnWriterThatTheHeadForgot has a head forget the running process, whose
// partition is read anew after a pause.
func TestOwnWriterThatTheHeadForgot(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		var swept []string
		var asked []string
		p := w.start(newDisk(), settings{maxAge: time.Second, log: func(l Log) Log {
			return asking{forgetful{l, &swept}, &asked}
		}})
		p.append("acme", "a")
		time.Sleep(30 * time.Minute) // the partition is forgotten
		p.append("acme", "b")
		time.Sleep(time.Minute)
		p.quiet()
		assert.Equal(t, []string{"a", "b"}, w.bodies("acme"))
		assert.Contains(t, asked, p.wal.Writer(), "its end is looked for where the head does not say")
		p.shutdown()
	})
}

// asking notes whose end is resolved.
type asking struct {
	Log
	writers *[]string
}

func (a asking) Resolve(ctx context.Context, writer string, oldest int64) (int64, error) {
	*a.writers = append(*a.writers, writer)
	return a.Log.Resolve(ctx, writer, oldest)
}

// TestSweepTouchesOwnObjectsOnly has objects of an older writer stay: another
// sink's log may name them.
func TestSweepTouchesOwnObjectsOnly(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		var swept []string
		p := w.start(newDisk(), settings{maxAge: time.Second, log: func(l Log) Log { return forgetful{l, &swept} }})
		p.append("acme", "a")
		time.Sleep(time.Minute)
		p.do(func() {
			a := p.parts[key{"acme", "logs"}]
			a.sweepers = []string{"olderolderold", p.wal.Writer()}
			p.sweep(a)
		})
		synctest.Wait()
		assert.Equal(t, []string{p.wal.Writer()}, swept)
		p.shutdown()
	})
}
