package lake

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"sync"

	"github.com/s3window/s3window/internal/partition"
)

// maxManifest bounds what is read of a manifest: many times what a window of
// thousands of objects takes.
const maxManifest = 32 << 20

// ErrNoManifest says that what lies at a manifest's key is no manifest of that
// number and partition, or of a version that is not read.
var ErrNoManifest = errors.New("no manifest")

// Taken says that a number has another manifest already. It is an ErrExists.
type Taken struct {
	Manifest Manifest
	SHA256   string // of its bytes, in hex
}

func (t *Taken) Error() string {
	return fmt.Sprintf("manifest %d of %s is a window of writer %s", t.Manifest.K, t.Manifest.ID(), t.Manifest.Writer)
}

// Is implements errors.Is.
func (t *Taken) Is(target error) bool { return target == ErrExists }

// PutManifest creates manifest m.K of partition id and returns the SHA-256 of
// its bytes in hex. It returns nil only after the manifest is durable. If the
// number is taken it returns ErrExists: a *Taken with the manifest that has it,
// unless what lies there is none or is gone. Where the answer was lost, what
// lies there decides; any other error means that the outcome is unknown.
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
	sum := hex.EncodeToString(body.SHA256[:])
	err = l.bucket.PutIfAbsent(ctx, key, body)
	if err == nil {
		return sum, nil
	}
	there, found, back := l.readManifest(ctx, key)
	switch {
	case back == nil && found == sum:
		return sum, nil
	case back == nil:
		err = &Taken{Manifest: there, SHA256: found}
	case errors.Is(back, ErrNoManifest):
		err = ErrExists
	case !errors.Is(back, ErrNotExist):
		err = unread(err, back)
	}
	return "", fmt.Errorf("put manifest %q: %w", key, err)
}

// Manifest reads manifest k of partition id, and returns it with the SHA-256
// of its bytes in hex. ErrNotExist: there is none. ErrNoManifest: something
// else is there.
func (l *Lake) Manifest(ctx context.Context, id partition.ID, k uint64) (Manifest, string, error) {
	key := partition.ManifestKey(l.ref.Prefix, id, k)
	m, sha, err := l.readManifest(ctx, key)
	if err != nil {
		return Manifest{}, "", fmt.Errorf("read manifest %q: %w", key, err)
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
		return Manifest{}, "", fmt.Errorf("%w: it is larger than %d bytes", ErrNoManifest, maxManifest)
	}
	m, err := DecodeManifest(b.Bytes())
	if err != nil {
		return Manifest{}, "", fmt.Errorf("%w: %w", ErrNoManifest, err)
	}
	if own := partition.ManifestKey(l.ref.Prefix, m.ID(), m.K); own != key {
		return Manifest{}, "", fmt.Errorf("%w: it says that it is manifest %d of %s", ErrNoManifest, m.K, m.ID())
	}
	sum := sha256.Sum256(b.Bytes())
	return m, hex.EncodeToString(sum[:]), nil
}

// Visit is called with a manifest, its number, and the SHA-256 of its bytes in
// hex.
type Visit func(k uint64, m Manifest, sha string) error

// Manifests visits the manifests of partition id in the order of k. It reads
// several at once. An error of visit ends it and is returned as it is. Gaps are
// for the caller to see; keys below the prefix that are no manifest's are
// passed over.
func (l *Lake) Manifests(ctx context.Context, id partition.ID, visit Visit) error {
	return l.ManifestsAfter(ctx, id, 0, visit)
}

// ManifestsAfter is Manifests for those behind number after.
func (l *Lake) ManifestsAfter(ctx context.Context, id partition.ID, after uint64, visit Visit) error {
	return l.readManifests(ctx, id, func(ctx context.Context, read func(k uint64) error) error {
		return l.ListManifests(ctx, id, after, read)
	}, visit)
}

// ManifestsAt visits the manifests of partition id that have the numbers ks, in
// their order. It reads several at once. One that does not exist is ErrNotExist;
// an error of visit ends it and is returned as it is.
func (l *Lake) ManifestsAt(ctx context.Context, id partition.ID, ks iter.Seq[uint64], visit Visit) error {
	return l.readManifests(ctx, id, func(_ context.Context, read func(k uint64) error) error {
		for k := range ks {
			if err := read(k); err != nil {
				return err
			}
		}
		return nil
	}, visit)
}

// readManifests visits the manifests whose numbers the source feeds to it.
func (l *Lake) readManifests(
	ctx context.Context, id partition.ID, source func(ctx context.Context, read func(k uint64) error) error, visit Visit,
) error {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()

	queue := make(chan *reading, l.readers-1)
	var fed error
	running.Go(func() {
		defer close(queue)
		fed = source(ctx, func(k uint64) error {
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
	return fed
}

// reading is a manifest on its way; done is closed when the rest is set.
type reading struct {
	k    uint64
	m    Manifest
	sha  string
	err  error
	done chan struct{}
}

// ListManifests visits the numbers of the manifests of partition id behind
// number after, in their order, without reading them.
func (l *Lake) ListManifests(ctx context.Context, id partition.ID, after uint64, visit func(k uint64) error) error {
	from := ""
	if after > 0 {
		from = partition.ManifestKey(l.ref.Prefix, id, after)
	}
	err := l.bucket.List(ctx, partition.ManifestPrefix(l.ref.Prefix, id), from, func(i Info) error {
		_, k, err := partition.ParseManifestKey(l.ref.Prefix, i.Key)
		if err != nil {
			return nil
		}
		return visit(k)
	})
	if err != nil {
		return fmt.Errorf("list manifests of %s: %w", id, err)
	}
	return nil
}
