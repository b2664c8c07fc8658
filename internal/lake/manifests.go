package lake

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"sync"

	"github.com/s3window/s3window/internal/partition"
)

// maxManifest bounds what is read of a manifest: many times what a window of
// thousands of objects takes.
const maxManifest = 32 << 20

// PutManifest creates manifest m.K of partition id and returns the SHA-256 of
// its bytes in hex. It returns nil only after the manifest is durable, and
// ErrExists if another manifest has this number. Where the answer was lost, the
// manifest that lies there decides; any other error means that the outcome is
// unknown.
//
// Crash before this: the window is not committed; its objects wait.
// Crash after it: the window is committed, and whoever looks next confirms it.
func (l *Lake) PutManifest(ctx context.Context, id partition.ID, m Manifest) (string, error) {
	if m.ID() != id {
		return "", fmt.Errorf("put manifest %d of %s: it is of %s", m.K, id, m.ID())
	}
	b, err := m.Encode()
	if err != nil {
		return "", fmt.Errorf("put manifest %d of %s: %w", m.K, id, err)
	}
	key := partition.ManifestKey(l.ref.Prefix, id, m.K)
	body := NewBody("application/json", b)
	l.step("lake:put-manifest")
	if err := l.putSame(ctx, key, body); err != nil {
		return "", fmt.Errorf("put manifest %q: %w", key, err)
	}
	return hex.EncodeToString(body.SHA256[:]), nil
}

// Manifest reads manifest k of partition id, and returns it with the SHA-256
// of its bytes in hex, or ErrNotExist.
func (l *Lake) Manifest(ctx context.Context, id partition.ID, k uint64) (Manifest, string, error) {
	key := partition.ManifestKey(l.ref.Prefix, id, k)
	m, sha, err := l.readManifest(ctx, key)
	if err != nil {
		return Manifest{}, "", fmt.Errorf("read manifest %q: %w", key, err)
	}
	if m.ID() != id || m.K != k {
		return Manifest{}, "", fmt.Errorf("read manifest %q: it says it is manifest %d of %s", key, m.K, m.ID())
	}
	return m, sha, nil
}

func (l *Lake) readManifest(ctx context.Context, key string) (Manifest, string, error) {
	r, _, err := l.bucket.Open(ctx, key)
	if err != nil {
		return Manifest{}, "", err
	}
	defer r.Close()
	var b bytes.Buffer
	n, err := b.ReadFrom(io.LimitReader(r, maxManifest+1))
	if err != nil {
		return Manifest{}, "", err
	}
	if n > maxManifest {
		return Manifest{}, "", fmt.Errorf("it is larger than %d bytes", maxManifest)
	}
	m, err := DecodeManifest(b.Bytes())
	sum := sha256.Sum256(b.Bytes())
	return m, hex.EncodeToString(sum[:]), err
}

// Manifests visits the manifests of partition id in the order of k, with the
// SHA-256 of their bytes. It reads several at once. An error of visit ends it
// and is returned as it is. Gaps are for the caller to see; keys below the
// prefix that are no manifest's are passed over.
func (l *Lake) Manifests(ctx context.Context, id partition.ID, visit func(k uint64, m Manifest, sha string) error) error {
	return l.ManifestsAfter(ctx, id, 0, visit)
}

// ManifestsAfter is Manifests for the manifests behind number after.
func (l *Lake) ManifestsAfter(
	ctx context.Context, id partition.ID, after uint64, visit func(k uint64, m Manifest, sha string) error,
) error {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()

	queue := make(chan *reading, l.readers-1)
	var listed error
	running.Go(func() {
		defer close(queue)
		listed = l.listManifests(ctx, id, after, func(k uint64) error {
			r := &reading{k: k, done: make(chan struct{})}
			select {
			case queue <- r:
			case <-ctx.Done():
				return ctx.Err()
			}
			running.Go(func() {
				defer close(r.done)
				r.m, r.sha, r.err = l.Manifest(ctx, id, k)
			})
			return nil
		})
	})
	for r := range queue {
		<-r.done
		if r.err != nil {
			return r.err
		}
		if err := visit(r.k, r.m, r.sha); err != nil {
			return err
		}
	}
	if listed != nil {
		return fmt.Errorf("list manifests of %s: %w", id, listed)
	}
	return nil
}

// reading is a manifest on its way; done is closed when the rest is set.
type reading struct {
	k    uint64
	m    Manifest
	sha  string
	err  error
	done chan struct{}
}

func (l *Lake) listManifests(ctx context.Context, id partition.ID, after uint64, visit func(k uint64) error) error {
	from := ""
	if after > 0 {
		from = partition.ManifestKey(l.ref.Prefix, id, after)
	}
	return l.bucket.List(ctx, partition.ManifestPrefix(l.ref.Prefix, id), from, func(i Info) error {
		_, k, err := partition.ParseManifestKey(l.ref.Prefix, i.Key)
		if err != nil {
			return nil
		}
		return visit(k)
	})
}
