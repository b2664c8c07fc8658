package verify

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/partition"
)

// maxManifest bounds what is read of a manifest.
const maxManifest = 64 << 20

// commitLog verifies one partition's commit log.
type commitLog struct {
	*verifier
	tableFacts
	id  partition.ID
	out *Partition

	heads  []head
	folded map[string]committed // how far this log commits each writer

	prev  string // SHA-256 of the manifest before; "" where unknown
	holes bool   // a manifest could not be taken into account: what follows may start later than known
	notes []Finding

	mu       sync.Mutex // guards the following, which the readers of objects add to
	damage   []Finding
	doubtful bool // what is damaged are manifests: which objects they named, and how far they commit, is not sure
}

func (c *commitLog) fail(f Finding) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.damage = append(c.damage, f)
	c.doubtful = c.doubtful || f.Kind.ofLog()
}

func (c *commitLog) verify(ctx context.Context) error {
	if err := c.askStore(ctx); err != nil {
		return err
	}
	keys, err := c.list(ctx)
	if err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(2 * c.Workers)
	err = c.each(ctx, keys, func(k uint64, key string, content []byte) {
		m, ok := c.manifest(k, key, content)
		if !ok {
			return
		}
		w := witness{Manifest: m, key: key, sum: c.prev}
		for _, o := range m.Objects {
			g.Go(func() error { return c.object(ctx, w, o) })
		}
	})
	if waited := g.Wait(); waited != nil {
		return waited
	}
	if err != nil {
		return err
	}
	c.behindHeads()
	return nil
}

// list returns the keys of the manifests in the order of k.
func (c *commitLog) list(ctx context.Context) ([]string, error) {
	var keys []string
	prefix := partition.SystemPrefix(c.prefix) + c.id.String() + "/"
	err := c.bucket.List(ctx, prefix, "", func(i lake.Info) error {
		if _, _, err := partition.ParseManifestKey(c.prefix, i.Key); err != nil {
			c.notes = append(c.notes, found(Stray, i.Key, "stands among the commit logs and is no manifest"))
			return nil
		}
		keys = append(keys, i.Key)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list %q: %w", prefix, err)
	}
	return keys, nil
}

// each reads manifests ahead, several at once, and calls f in their order.
func (c *commitLog) each(ctx context.Context, keys []string, f func(k uint64, key string, content []byte)) error {
	for len(keys) > 0 {
		part := keys[:min(len(keys), 4*c.Workers)]
		keys = keys[len(part):]
		contents := make([][]byte, len(part))
		g, ctx := errgroup.WithContext(ctx)
		for i, key := range part {
			g.Go(func() (err error) {
				contents[i], err = c.read(ctx, key)
				return err
			})
		}
		if err := g.Wait(); err != nil {
			return err
		}
		for i, key := range part {
			_, k, err := partition.ParseManifestKey(c.prefix, key)
			if err != nil {
				return err
			}
			f(k, key, contents[i])
			c.progress.Manifests.Add(1)
		}
	}
	return nil
}

func (c *commitLog) read(ctx context.Context, key string) (content []byte, err error) {
	err = c.try(ctx, func() error {
		r, _, err := c.bucket.Open(ctx, key)
		if err != nil {
			return err
		}
		defer r.Close()
		content, err = io.ReadAll(io.LimitReader(r, maxManifest))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read manifest %q: %w", key, err)
	}
	return content, nil
}

// manifest holds manifest k to the rules and takes it into account. It says
// whether its objects can be looked at.
func (c *commitLog) manifest(k uint64, key string, content []byte) (lake.Manifest, bool) {
	if k != c.out.K+1 {
		c.fail(c.gap(k, key))
		c.prev, c.holes = "", true
	}
	before := c.prev
	sum := sha256.Sum256(content)
	c.prev, c.out.K = hex.EncodeToString(sum[:]), k
	c.out.Windows++
	c.sumAtHead(k, key, c.prev)
	m, err := lake.DecodeManifest(content)
	if err != nil {
		c.holes = true
		c.fail(found(BadManifest, key, "cannot be read: %v", err))
		return m, false
	}
	if m.ID() != c.id || m.K != k {
		c.holes = true
		c.fail(found(Misplaced, key, "says it is window %d of %s", m.K, m.ID()))
		return m, false
	}
	if before != "" && m.Prev != nil && (m.Prev.SHA256 != before || m.Prev.Key != partition.ManifestKey(c.prefix, c.id, k-1)) {
		c.fail(found(BrokenChain, key, "names %s with sha256 %.12s… as the window before, but sha256 %.12s… is there: one of the two was changed",
			m.Prev.Key, m.Prev.SHA256, before).about(m.Prev.Key))
	}
	c.window(key, m)
	c.endsAtHead(k)
	return m, true
}

// gap says which windows are missing before k.
func (c *commitLog) gap(k uint64, key string) Finding {
	first, last := c.out.K+1, k-1
	missing := fmt.Sprintf("window %d is", first)
	if last > first {
		missing = fmt.Sprintf("windows %d to %d are", first, last)
	}
	return found(Gap, partition.ManifestKey(c.prefix, c.id, first), "does not exist, but %s does: %s missing", key, missing).about(key)
}
