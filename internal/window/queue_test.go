package window

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/s3window/s3window/internal/commit"
	"github.com/s3window/s3window/internal/wal"
)

// counted is a queue that counts, and that can withhold entries.
type counted struct {
	*wal.WAL
	reread    atomic.Int64 // entries read back
	withhold  atomic.Bool  // Reread misses every other entry
	sealDelay atomic.Int64
	readDelay atomic.Int64
}

func (c *counted) wrap(q *wal.WAL) Queue { c.WAL = q; return c }

func (c *counted) Read(ctx context.Context) ([]wal.Entry, error) {
	entries, err := c.WAL.Read(ctx)
	wait(context.WithoutCancel(ctx), time.Duration(c.readDelay.Load()))
	return entries, err
}

func (c *counted) Reread(ctx context.Context, seqs []uint64) ([]wal.Entry, error) {
	c.reread.Add(int64(len(seqs)))
	entries, err := c.WAL.Reread(ctx, seqs)
	if c.withhold.Load() {
		kept := entries[:0:0]
		for i := 0; i < len(entries); i += 2 {
			kept = append(kept, entries[i])
		}
		entries = kept
	}
	return entries, err
}

func (c *counted) PutSeal(ctx context.Context, value []byte) (uint64, error) {
	if d := c.sealDelay.Load(); d > 0 {
		wait(ctx, time.Duration(d))
		if err := ctx.Err(); err != nil { // it takes effect all the same
			_, _ = c.WAL.PutSeal(context.WithoutCancel(ctx), value)
			return 0, err
		}
	}
	return c.WAL.PutSeal(ctx, value)
}

// stubborn is a commit log whose commits end as it says.
type stubborn struct {
	Log
	reads, commits *atomic.Int64
	err            func(w commit.Window) error
}

func (s stubborn) Read(ctx context.Context) (commit.Ends, error) {
	s.reads.Add(1)
	return s.Log.Read(ctx)
}

func (s stubborn) Commit(ctx context.Context, ws []commit.Window) (int, error) {
	s.commits.Add(1)
	if err := s.err(ws[0]); err != nil {
		return 0, err
	}
	return s.Log.Commit(ctx, ws)
}
