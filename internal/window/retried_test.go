package window

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/s3window/s3window/internal/commit"
	"github.com/s3window/s3window/internal/lake/laketest"
	"github.com/s3window/s3window/internal/wal"
	"github.com/s3window/s3window/internal/window/sealed"
)

// refusing is a queue, and its commit logs, of which calls fail while fails says
// so.
type refusing struct {
	*wal.WAL
	fails func(call string) bool
}

var errRefused = errors.New("input/output error")

func (q *refusing) Read(ctx context.Context) ([]wal.Entry, error) {
	if q.fails("read") {
		return nil, errRefused
	}
	return q.WAL.Read(ctx)
}

func (q *refusing) Trim(ctx context.Context, seqs []uint64) error {
	if q.fails("trim") {
		return errRefused
	}
	return q.WAL.Trim(ctx, seqs)
}

func (q *refusing) PutSeal(ctx context.Context, value []byte) (uint64, error) {
	if q.fails("seal") {
		return 0, errRefused
	}
	return q.WAL.PutSeal(ctx, value)
}

func (q *refusing) DeleteSeal(ctx context.Context, id uint64) error {
	if q.fails("delete seal") {
		return errRefused
	}
	return q.WAL.DeleteSeal(ctx, id)
}

type refusingLog struct {
	Log
	*refusing
}

func (l refusingLog) Read(ctx context.Context) (commit.Ends, error) {
	if l.fails("read head") {
		return commit.Ends{}, errRefused
	}
	return l.Log.Read(ctx)
}

func (l refusingLog) Commit(ctx context.Context, ws []commit.Window) (int, error) {
	if l.fails("commit") {
		return 0, errRefused
	}
	return l.Log.Commit(ctx, ws)
}

// TestEveryStepThatIsTriedAgainCounts has each step of a window fail three
// times: it counts so often under its own name, and no other step does; health
// has it at once and is well again afterwards.
func TestEveryStepThatIsTriedAgainCounts(t *testing.T) {
	for _, step := range []sealed.Step{sealed.ReadHead, sealed.ReadQueue, sealed.PutSeal, sealed.Upload, sealed.Commit, sealed.Trim, sealed.DeleteSeal} {
		t.Run(string(step), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWorld(t)
				var asked atomic.Int32
				q := &refusing{fails: func(call string) bool { return call == string(step) && asked.Add(1) <= 3 }}
				w.bucket.Script(func(op laketest.Op) laketest.Fault {
					if op.Kind == laketest.PutIfAbsent && strings.HasSuffix(op.Key, ".parquet") && q.fails("upload") {
						return laketest.Fault{Before: errDown}
					}
					return laketest.Fault{}
				})
				p := w.start(newDisk(), settings{
					maxAge: time.Second,
					queue:  func(x *wal.WAL) Queue { q.WAL = x; return q },
					log:    func(l Log) Log { return refusingLog{l, q} },
				})
				p.append("acme", "a")
				eventually(t, func() bool { return asked.Load() > 0 && len(p.seen.healths()) > 0 })
				assert.ErrorContains(t, p.seen.healths()[0], string(step))
				p.quiet()
				assert.Equal(t, map[sealed.Step]int{step: 3}, p.seen.retries())
				eventually(t, func() bool { return p.seen.lastHealth() == nil })
				assert.Equal(t, []string{"a"}, w.bodies("acme"))
				p.shutdown()
			})
		})
	}
}
