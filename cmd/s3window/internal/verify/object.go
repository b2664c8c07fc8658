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

// object holds an object to what manifest m says of it.
func (c *commitLog) object(ctx context.Context, key string, m lake.Manifest, o lake.Object) error {
	defer c.progress.Objects.Add(1)
	size, listed := c.listed[o.Key]
	if !listed || !c.SizesOnly {
		return c.content(ctx, key, m, o)
	}
	c.size(key, o, size)
	return nil
}

func (c *commitLog) size(key string, o lake.Object, size int64) {
	if size != o.Bytes {
		c.fail(found(WrongSize, o.Key, "has %d bytes, but %s says %d", size, key, o.Bytes).about(key))
	}
}

// content reads an object to its end and checks everything about it.
func (c *commitLog) content(ctx context.Context, key string, m lake.Manifest, o lake.Object) error {
	var got reading
	err := c.try(ctx, func() (err error) {
		got, err = c.open(ctx, o)
		return err
	})
	if errors.Is(err, lake.ErrNotExist) {
		c.fail(found(ObjectMissing, o.Key, "does not exist, but %s names it with %d records", key, o.Records).about(key))
		return nil
	}
	if err != nil {
		return fmt.Errorf("read object %q: %w", o.Key, err)
	}
	if got.size != o.Bytes {
		c.size(key, o, got.size)
		return nil
	}
	if got.sum != "" && got.sum != o.SHA256 {
		c.fail(found(WrongHash, o.Key, "has sha256 %.12s…, but %s says %.12s…: its bytes were changed", got.sum, key, o.SHA256).about(key))
		return nil
	}
	if got.sum != "" {
		for _, f := range got.facts.check(key, m, o) {
			c.fail(f.about(key))
		}
	}
	return nil
}

// reading is what a read of an object found; sum is empty if only its size was
// asked for.
type reading struct {
	size  int64
	sum   string
	facts facts
}

func (c *commitLog) open(ctx context.Context, o lake.Object) (reading, error) {
	if c.SizesOnly {
		info, err := c.bucket.Stat(ctx, o.Key)
		return reading{size: info.Size}, err
	}
	r, _, err := c.bucket.Open(ctx, o.Key)
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
	return reading{size: in.n, sum: hex.EncodeToString(h.Sum(nil)), facts: f}, nil
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
