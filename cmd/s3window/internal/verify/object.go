package verify

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"time"

	"github.com/s3window/s3window/internal/lake"
)

// attempts bounds how often a read that breaks off is tried.
const attempts = 3

// try runs one read while it holds a slot, again if it breaks off.
func (v *verifier) try(ctx context.Context, read func() error) error {
	for n := 1; ; n++ {
		select {
		case v.slots <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
		err := read()
		<-v.slots
		if err == nil || errors.Is(err, lake.ErrNotExist) || errors.Is(err, ErrBadHead) || n == attempts || ctx.Err() != nil {
			return err
		}
		wait := time.NewTimer(time.Duration(n) * 200 * time.Millisecond)
		select {
		case <-wait.C:
		case <-ctx.Done():
			wait.Stop()
			return ctx.Err()
		}
	}
}

// witness is a manifest that says something of an object.
type witness struct {
	lake.Manifest
	key, sum string // its own key, and the SHA-256 of its bytes
}

// object holds an object to what its manifest says of it.
func (c *commitLog) object(ctx context.Context, w witness, o lake.Object) error {
	defer c.progress.Objects.Add(1)
	is, listed := c.listed[o.Key]
	if c.SizesOnly && listed {
		c.size(w.key, o, is.size)
		return nil
	}
	m := markOf(w.sum, o.Key, is.etag, is.size)
	known := c.Resume != nil && listed && is.etag != "" && !c.SizesOnly
	if known && c.Resume.judged(m) {
		c.progress.Skipped.Add(1)
		c.progress.SkippedBytes.Add(is.size)
		return nil
	}
	got, sound, err := c.content(ctx, w, o)
	// Only the version that was listed is known by its mark.
	if sound && known && got.etag == is.etag {
		c.Resume.sound(m)
	}
	return err
}

func (c *commitLog) size(key string, o lake.Object, size int64) {
	if size != o.Bytes {
		c.fail(found(WrongSize, o.Key, "has %d bytes, but %s says %d", size, key, o.Bytes).about(key))
	}
}

// content reads an object to its end and checks everything about it.
func (c *commitLog) content(ctx context.Context, w witness, o lake.Object) (got reading, sound bool, err error) {
	err = c.try(ctx, func() (err error) {
		got, err = c.open(ctx, o)
		return err
	})
	switch {
	case errors.Is(err, lake.ErrNotExist):
		c.fail(found(ObjectMissing, o.Key, "does not exist, but %s names it with %d records", w.key, o.Records).about(w.key))
		return got, false, nil
	case err != nil:
		return got, false, fmt.Errorf("read object %q: %w", o.Key, err)
	case got.size != o.Bytes:
		c.size(w.key, o, got.size)
		return got, false, nil
	case got.sum == "":
		return got, false, nil
	case got.sum != o.SHA256:
		c.fail(found(WrongHash, o.Key, "has sha256 %.12s…, but %s says %.12s…: its bytes were changed", got.sum, w.key, o.SHA256).about(w.key))
		return got, false, nil
	}
	wrong := got.facts.check(w.key, w.Manifest, o)
	for _, f := range wrong {
		c.fail(f.about(w.key))
	}
	return got, len(wrong) == 0, nil
}

// reading is what a read of an object found; sum is empty if only its size was
// asked for.
type reading struct {
	size  int64
	sum   string
	etag  string
	facts facts
}

func (c *commitLog) open(ctx context.Context, o lake.Object) (reading, error) {
	if c.SizesOnly {
		info, err := c.bucket.Stat(ctx, o.Key)
		return reading{size: info.Size}, err
	}
	r, info, err := c.bucket.Open(ctx, o.Key)
	if err != nil {
		return reading{}, err
	}
	defer r.Close()
	h := sha256.New()
	in := &counted{r: r, h: h, v: c.verifier}
	f, err := readFacts(o.Key, in, func(off int64) (io.ReadCloser, error) { return c.reopen(ctx, o.Key, off) })
	if err != nil {
		return reading{}, err
	}
	return reading{size: in.n, sum: hex.EncodeToString(h.Sum(nil)), etag: info.ETag, facts: f}, nil
}

// reopen opens an object again and passes over its first off bytes.
func (c *commitLog) reopen(ctx context.Context, key string, off int64) (io.ReadCloser, error) {
	r, _, err := c.bucket.Open(ctx, key)
	if err != nil {
		return nil, err
	}
	if _, err := io.CopyN(io.Discard, r, off); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// counted counts and hashes what is read through it.
type counted struct {
	r io.Reader
	h hash.Hash
	v *verifier
	n int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.h.Write(p[:n])
	c.n += int64(n)
	c.v.progress.Bytes.Add(int64(n))
	return n, err
}
