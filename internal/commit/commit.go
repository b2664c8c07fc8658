package commit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/s3window/s3window/extension/leaseextension/lease"
	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/partition"
)

// putAttempts bounds how often one manifest is put, and how often a refused
// put is looked into, before the caller's backoff takes over.
const putAttempts = 3

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
	Objects           []lake.Object
	Records           int64
	Bytes, RawBytes   int64
	MinTime, MaxTime  int64
	Lost              []lake.Lost
}

// Commit makes the windows ws real, in their order, under one lease: each gets
// the log's next number, or is found committed already. The windows of one
// writer are given in the order of their stamps, their objects durable.
//
// It returns how many windows of ws, counted from the first, are committed and
// confirmed by the head. These may leave the WAL. The others are unknown, and
// giving them to Commit again is always right, also in another process.
//
// *Overlap says that the next window does not follow its writer's end, and
// *Blocked that the log cannot go on. Any other error passes, or the caller's
// configuration is at fault; the caller tries again after a pause.
func (l *Log) Commit(ctx context.Context, ws []Window) (int, error) {
	if len(ws) == 0 {
		return 0, nil
	}
	for _, w := range ws {
		if w.ID != l.id || w.Writer == "" || w.After < 0 || w.After > w.Start || w.Start >= w.End {
			return 0, fmt.Errorf("commit window [%d, %d) after %d of writer %q of %s to the log of %s: not a window of it",
				w.Start, w.End, w.After, w.Writer, w.ID, l.id)
		}
	}
	select {
	case l.turn <- struct{}{}:
		defer func() { <-l.turn }()
	case <-ctx.Done():
		return 0, fmt.Errorf("wait for the turn to commit: %w", context.Cause(ctx))
	}
	lease, err := l.acquire(ctx)
	if err != nil {
		return 0, err
	}
	t := turn{log: l, lease: lease}
	if err := t.run(ctx, ws); err != nil {
		t.giveUp(ctx)
		return t.confirmed, err
	}
	return t.confirmed, nil
}

// turn is one stay on the lease.
type turn struct {
	log       *Log
	lease     lease.Lease
	state     State // the fold as far as it is known; every manifest in it is in the bucket
	unwritten bool  // state is ahead of the head
	committed int   // windows of the caller that state covers, from the first
	confirmed int   // those that the head covers
	released  bool
}

// run commits ws and gives the lease back.
func (t *turn) run(ctx context.Context, ws []Window) error {
	if err := t.load(ctx); err != nil {
		return err
	}
	for i, w := range ws {
		if err := t.window(ctx, w, i == len(ws)-1); err != nil {
			return err
		}
	}
	if t.released {
		return nil
	}
	return t.release(ctx)
}

// load takes the state that came with the lease. Where there is none, it is
// rebuilt and written before it is used.
//
// Crash before this: the record has no state, the next reader rebuilds it.
// Crash after it: the head is as the bucket says.
func (t *turn) load(ctx context.Context) error {
	raw := t.lease.State()
	if raw != nil {
		s, err := decodeState(raw)
		t.state = s
		return err
	}
	s, err := t.log.rebuild(ctx)
	if err != nil {
		return err
	}
	t.state = s
	if s.K == 0 {
		return nil
	}
	return t.save(ctx, "save-rebuilt")
}

// window commits one window: look, put the manifest, confirm. last says that
// the lease goes with the confirmation.
func (t *turn) window(ctx context.Context, w Window, last bool) error {
	for range putAttempts {
		covered, err := t.covered(ctx, w)
		if err != nil {
			return err
		}
		if covered {
			t.count()
			return nil
		}
		err = t.put(ctx, w)
		if errors.Is(err, lake.ErrExists) {
			continue // whatever is there is looked at, and committed if it can be
		}
		if err != nil {
			return err
		}
		t.log.opts.Step("after_manifest")
		t.count()
		return t.confirm(ctx, last)
	}
	return fmt.Errorf("put manifest %d of %s: refused %d times as existing, and gone when looked at", t.state.K+1, t.log.id, putAttempts)
}

// covered looks ahead, and says whether w is committed already. An error says
// that w may not be committed as it is.
//
// It may read many manifests, behind a head that was rolled back far or for a
// writer that was pruned. No deadline cuts that short, or it would never end:
// the lease renews itself meanwhile.
func (t *turn) covered(ctx context.Context, w Window) (bool, error) {
	before := t.state.K
	s, err := t.log.ahead(ctx, t.state)
	t.state = s // what was folded before an error is committed all the same
	t.unwritten = t.unwritten || s.K > before
	if err != nil {
		return false, err
	}
	end, s, err := t.log.end(ctx, t.state, w.Writer, w.After, w.Start)
	if err != nil {
		return false, err
	}
	t.state = s
	if w.End <= end {
		return true, nil
	}
	if w.After != end {
		return false, &Overlap{Writer: w.Writer, After: w.After, End: end}
	}
	return false, nil
}

// put creates the manifest of w as number K+1. ErrExists says that the number
// is taken.
//
// Crash before this: objects without a manifest; the next process on this WAL
// uploads what is missing and comes here again.
// Crash after it: w is committed, since whoever looks next finds it; the head
// does not say so yet.
func (t *turn) put(ctx context.Context, w Window) error {
	ctx, cancel := t.bound(ctx)
	defer cancel()
	m := t.manifest(w)
	var err error
	for range putAttempts {
		var sha string
		err = t.log.do("put-manifest", func() (err error) {
			sha, err = t.log.lake.PutManifest(ctx, t.log.id, m)
			return err
		})
		switch {
		case err == nil:
			t.state = t.state.apply(m, sha).prune(time.Now(), t.log.opts.Retention)
			t.unwritten = true
			return nil
		case errors.Is(err, lake.ErrExists) || ctx.Err() != nil:
			return err
		}
		// The outcome is unknown, and was read back in vain: the same bytes
		// again, which meet themselves at worst.
	}
	return err
}

func (t *turn) manifest(w Window) lake.Manifest {
	l, s := t.log, t.state
	m := lake.Manifest{
		Version: lake.ManifestVersion, Sink: l.id.Sink, Tenant: l.id.Tenant, Signal: l.id.Signal,
		K: s.K + 1, Writer: w.Writer, After: w.After, Start: w.Start, End: w.End,
		Reason: w.Reason, Format: w.Format, Compression: w.Compression, Schema: w.Schema,
		Objects: w.Objects, Records: w.Records, Bytes: w.Bytes, RawBytes: w.RawBytes,
		MinTime: w.MinTime, MaxTime: w.MaxTime, Lost: w.Lost,
		Epoch: t.lease.Epoch(), CommittedAt: time.Now().UTC().Truncate(time.Microsecond),
	}
	if s.K > 0 {
		m.Prev = &lake.Prev{K: s.K, Key: partition.ManifestKey(l.lake.Prefix(), l.id, s.K), SHA256: s.ManifestSHA256}
	}
	return m
}

func (t *turn) count() {
	t.committed++
	if !t.unwritten {
		t.confirmed = t.committed
	}
}
