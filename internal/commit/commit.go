package commit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/partition"
)

// attempts bounds how often one manifest is put, and how often a number that is
// refused and then free is put again, before the caller's backoff takes over.
const attempts = 3

// Window is a sealed window whose objects lie in the bucket: what its manifest
// is to say. Stamps and times are microseconds.
type Window struct {
	ID                partition.ID
	Writer            string
	After, Start, End int64 // After: end of the writer's window before this one, 0 for the first
	Reason            string
	Format            string
	Compression       string
	Schema            int
	Columns           []lake.Column // that are promoted
	Objects           []lake.Object
	Records           int64
	Bytes, RawBytes   int64
	MinTime, MaxTime  int64
	Lost              []lake.Lost
}

// Commit makes the windows ws real, in their order: each gets the log's next
// number, or is found committed already. The windows of one writer are given in
// the order of their stamps, their objects durable.
//
// It returns how many windows of ws, counted from the first, are committed.
// These may leave the WAL. The others are unknown, and giving them to Commit
// again is always right, also in another process.
//
// *Overlap says that the next window does not follow its writer's end, and
// *Blocked that the log cannot go on. Any other error passes, or the caller's
// configuration is at fault; the caller tries again after a pause.
func (l *Log) Commit(ctx context.Context, ws []Window) (committed int, err error) {
	if len(ws) == 0 {
		return 0, nil
	}
	for _, w := range ws {
		if w.ID != l.id || w.Writer == "" || w.After < 0 || w.After > w.Start || w.Start >= w.End {
			return 0, fmt.Errorf("commit window [%d, %d) after %d of writer %q of %s to the log of %s: not a window of it",
				w.Start, w.End, w.After, w.Writer, w.ID, l.id)
		}
	}
	if err := l.enter(ctx); err != nil {
		return 0, err
	}
	defer l.leave()
	if err := l.load(ctx); err != nil {
		return 0, err
	}
	c := commits{log: l}
	defer c.end(ctx)
	if err := c.begin(ctx); err != nil {
		return 0, err
	}
	for i := range ws {
		if err := c.window(ctx, &ws[i]); err != nil {
			return i, err
		}
	}
	return len(ws), nil
}

// commits is one call of Commit.
type commits struct {
	log  *Log
	turn *turn // nil while none is taken

	landedOnce bool // a window of this call was put
}

// begin takes the turn where turns are taken, and looks ahead where others are
// known to commit.
func (c *commits) begin(ctx context.Context) error {
	l := c.log
	if l.opts.Turns {
		var err error
		c.turn, err = l.take(ctx)
		return err
	}
	if l.turns > 0 {
		l.turns--
		c.crowded(ctx)
		return nil
	}
	return l.foresee(ctx)
}

// crowded takes the turn if it can be had: without it commits only meet more
// often.
func (c *commits) crowded(ctx context.Context) {
	var err error
	if c.turn, err = c.log.take(ctx); err != nil {
		c.log.opts.Failed("acquire", err)
	}
}

func (c *commits) end(ctx context.Context) {
	if c.turn != nil {
		c.turn.release(ctx)
		return
	}
	if ctx.Err() == nil {
		c.log.save(ctx)
	}
}

// window commits one window. It goes on for as long as others are faster: each
// time, one of their windows was committed.
func (c *commits) window(ctx context.Context, w *Window) error {
	l := c.log
	for met, gone := 0, 0; ; met++ {
		end, err := l.resolve(ctx, w.Writer, w.After, w.Start)
		if err != nil {
			return err
		}
		if w.End <= end {
			return nil
		}
		if w.After != end {
			return &Overlap{Writer: w.Writer, After: w.After, End: end}
		}
		err = c.put(ctx, w)
		if !errors.Is(err, lake.ErrExists) {
			return err
		}
		k := l.state.K
		if err := l.pass(ctx, err); err != nil {
			return err
		}
		if l.state.K == k {
			if gone++; gone == attempts {
				return fmt.Errorf("put manifest %d of %s: refused %d times as existing, and gone when looked at", k+1, l.id, gone)
			}
		}
		if met == 1 && c.turn == nil && !l.opts.Turns {
			l.turns = crowdedTurns
			c.crowded(ctx)
		}
	}
}

// put creates the manifest of w as number K+1. ErrExists says that the number
// is taken: by another's window, or by w itself if an earlier answer was lost.
//
// The number is created only where it was free, so the log was 1..K then, and
// whatever the state says of it held.
//
// Crash before this: objects without a manifest; the next process on this WAL
// uploads what is missing and comes here again.
// Crash after it: w is committed. The next process on this WAL reads that, and
// drops the window's entries.
func (c *commits) put(ctx context.Context, w *Window) error {
	l := c.log
	ctx, cancel := context.WithTimeout(ctx, l.opts.Timeout)
	defer cancel()
	m := c.manifest(w)
	var err error
	for range attempts {
		var sha string
		err = l.do("put-manifest", func() (err error) {
			sha, err = l.lake.PutManifest(ctx, l.id, m)
			return err
		})
		switch {
		case err == nil:
			c.landed(m, sha)
			return nil
		case errors.Is(err, lake.ErrExists):
			return err
		}
		// The outcome is unknown, and was read back in vain: the same bytes
		// again, which meet themselves at worst.
		if ctx.Err() != nil {
			break
		}
	}
	l.Doubt()
	return err
}

func (c *commits) manifest(w *Window) lake.Manifest {
	l, s := c.log, &c.log.state
	m := lake.Manifest{
		Version: lake.ManifestVersion, Sink: l.id.Sink, Tenant: l.id.Tenant, Signal: l.id.Signal,
		K: s.K + 1, Writer: w.Writer, After: w.After, Start: w.Start, End: w.End,
		Reason: w.Reason, Format: w.Format, Compression: w.Compression, Schema: w.Schema, Columns: w.Columns,
		Objects: w.Objects, Records: w.Records, Bytes: w.Bytes, RawBytes: w.RawBytes,
		MinTime: w.MinTime, MaxTime: w.MaxTime, Lost: w.Lost,
		Writers: s.recent(l.opts.scale.span, w.Writer, w.End), CommittedAt: time.Now().UTC().Truncate(time.Microsecond),
	}
	if c.turn != nil {
		m.Epoch = c.turn.lease.Epoch()
	}
	if s.K > 0 {
		m.Prev = &lake.Prev{K: s.K, Key: partition.ManifestKey(l.lake.Prefix(), l.id, s.K), SHA256: s.ManifestSHA256}
	}
	return m
}

// landed folds what was put, and notes how many windows of others were before
// it since this process's newest.
func (c *commits) landed(m lake.Manifest, sha string) {
	l := c.log
	l.state.fold(m, sha)
	l.bound()
	if !c.landedOnce && l.newest > 0 {
		gap := m.K - 1 - l.newest
		l.steady, l.gap = gap == l.gap, gap
	}
	c.landedOnce, l.newest = true, m.K
}

// pass folds what refused a put, and what is listed behind it.
func (l *Log) pass(ctx context.Context, refusal error) error {
	var there *lake.Taken
	if !errors.As(refusal, &there) {
		return l.ahead(ctx)
	}
	if err := l.accept(ctx, there.Manifest, there.SHA256); err != nil {
		return err
	}
	return l.catchUp(ctx)
}
