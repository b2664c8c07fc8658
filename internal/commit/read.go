package commit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"

	"github.com/s3window/s3window/extension/leaseextension/lease"
	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/partition"
)

// Ends says how far a partition and its writers were committed when it was
// read. It is a snapshot and a lower bound: what it calls committed stays so.
type Ends struct{ state State }

// K is the newest committed window; 0 means none.
func (e Ends) K() uint64 { return e.state.K }

// End is where writer is committed up to: records below it are in committed
// windows, no others are. known is false where the head does not name the
// writer; then Resolve tells.
func (e Ends) End(writer string) (end int64, known bool) {
	w, known := e.state.Writers[writer]
	return w.End, known
}

// Writers gives every writer the head names and its end. The map is the
// caller's own.
func (e Ends) Writers() map[string]int64 {
	ends := make(map[string]int64, len(e.state.Writers))
	for name := range maps.Keys(e.state.Writers) {
		ends[name] = e.state.Writers[name].End
	}
	return ends
}

// Read returns how far the partition is committed: step 0, before anything is
// replayed, sealed or uploaded.
//
// A head that is missing or carries no state is rebuilt from the manifests and
// written, under its lease, before Read returns; where there is no manifest,
// nothing is written. Manifests that the head does not know yet (a commit that
// was not confirmed, a head rolled back) are counted; writing them into the
// head is left to the next commit.
//
// *Blocked says that the log goes on with a manifest that cannot be committed.
// After any error nothing is known and the caller reads again.
func (l *Log) Read(ctx context.Context) (Ends, error) {
	s, err := l.head(ctx)
	if err != nil {
		return Ends{}, err
	}
	if s, err = l.ahead(ctx, s); err != nil {
		return Ends{}, err
	}
	l.saw(s)
	return Ends{s}, nil
}

// Resolve returns where writer is committed up to, by the newest state this
// process knows, which it reads if there is none; oldest is the stamp of the
// oldest entry of writer in the WAL.
//
// A writer that the head does not name, with entries older than what was
// pruned, may have been committed: then the manifests are read.
func (l *Log) Resolve(ctx context.Context, writer string, oldest int64) (int64, error) {
	l.mu.Lock()
	seen := l.seen
	l.mu.Unlock()
	if seen == nil {
		ends, err := l.Read(ctx)
		if err != nil {
			return 0, err
		}
		seen = &ends.state
	}
	end, _, err := l.end(ctx, *seen, writer, 0, oldest)
	return end, err
}

// head returns the head's state, rebuilt and written where there is none.
func (l *Log) head(ctx context.Context) (State, error) {
	var raw []byte
	err := l.do("read-head", func() (err error) {
		raw, err = l.leases.Read(ctx, l.name)
		return err
	})
	switch {
	case err != nil && !errors.Is(err, lease.ErrNotFound):
		return State{}, fmt.Errorf("read head: %w", err)
	case err == nil && raw != nil:
		return decodeState(raw)
	}
	s, err := l.rebuild(ctx)
	if err != nil || s.K == 0 {
		return s, err
	}
	return l.found(ctx, s)
}

// found writes the rebuilt state s into the head, unless another process was
// faster: then that one's state is returned.
//
// Crash before this: the head is still missing, the next reader rebuilds it.
// Crash after it: the head is there and free.
func (l *Log) found(ctx context.Context, s State) (State, error) {
	lease, err := l.acquire(ctx)
	if err != nil {
		return State{}, err
	}
	t := turn{log: l, lease: lease}
	if lease.State() != nil {
		t.state, err = decodeState(lease.State())
	} else {
		t.state = s
	}
	if err != nil {
		t.giveUp(ctx)
		return State{}, err
	}
	if err := t.release(ctx); err != nil {
		return State{}, err
	}
	return t.state, nil
}

// ahead folds the manifests behind s.K into s, for as long as there are any.
// It writes nothing.
func (l *Log) ahead(ctx context.Context, s State) (State, error) {
	for {
		m, sha, err := l.look(ctx, s.K+1)
		if errors.Is(err, lake.ErrNotExist) {
			return s, nil
		}
		if err != nil {
			return s, err
		}
		if why := place(s, l.lake.Prefix(), l.id, m); why != "" {
			return s, l.blocked(s.K+1, why, nil)
		}
		end, known, err := l.end(ctx, s, m.Writer, m.After, m.Start)
		if err != nil {
			return s, err
		}
		if !follows(m, end) {
			return s, l.blocked(s.K+1, followsNot(m, end), nil)
		}
		s = known.apply(m, sha)
	}
}

// look reads manifest k. One that is there but is no manifest blocks the log;
// other errors may pass.
func (l *Log) look(ctx context.Context, k uint64) (lake.Manifest, string, error) {
	var m lake.Manifest
	var sha string
	err := l.do("look", func() (err error) {
		m, sha, err = l.lake.Manifest(ctx, l.id, k)
		return err
	})
	if err == nil || errors.Is(err, lake.ErrNotExist) || ctx.Err() != nil {
		return m, sha, err
	}
	if why := l.unreadable(ctx, k); why != nil {
		return m, "", l.blocked(k, why.Error(), why)
	}
	return m, "", err
}

// unreadable says why the bytes at manifest k's key are no manifest of this
// partition; nil if they are one or cannot be had.
func (l *Log) unreadable(ctx context.Context, k uint64) error {
	r, _, err := l.lake.Bucket().Open(ctx, partition.ManifestKey(l.lake.Prefix(), l.id, k))
	if err != nil {
		return nil
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	if err != nil {
		return nil
	}
	m, err := lake.DecodeManifest(b)
	if err == nil && (m.ID() != l.id || m.K != k) {
		return fmt.Errorf("it says that it is manifest %d of %s", m.K, m.ID())
	}
	return err
}

func followsNot(m lake.Manifest, end int64) string {
	return fmt.Sprintf("it follows stamp %d of writer %s, which is committed up to %d", m.After, m.Writer, end)
}
