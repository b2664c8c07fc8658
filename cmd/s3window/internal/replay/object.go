package replay

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/s3window/s3window/internal/encode/decode"
	"github.com/s3window/s3window/internal/lake"
)

const (
	// inMemory is the largest object that is not put into a temporary file.
	inMemory = 64 << 20
	// attempts bounds how often a read that breaks off is tried.
	attempts = 3
)

// DamageError says that something of the lake is not what it should be.
type DamageError struct{ Text string }

func (e *DamageError) Error() string { return e.Text }

func damaged(format string, args ...any) error { return &DamageError{fmt.Sprintf(format, args...)} }

// fetch reads an object and holds it to its manifest. The caller calls done.
func fetch(ctx context.Context, b lake.Bucket, o lake.Object, schema int) (out decode.Object, done func(), err error) {
	for n := 1; ; n++ {
		out, done, err = fetchOnce(ctx, b, o)
		var damage *DamageError
		if err == nil || errors.As(err, &damage) || n == attempts || ctx.Err() != nil {
			break
		}
		if err := sleep(ctx, time.Duration(n)*200*time.Millisecond); err != nil {
			return out, nil, err
		}
	}
	_, out.Ext, _ = strings.Cut(o.Key[strings.LastIndexByte(o.Key, '/')+1:], ".")
	out.Schema = schema
	return out, done, err
}

func fetchOnce(ctx context.Context, b lake.Bucket, o lake.Object) (out decode.Object, done func(), err error) {
	r, _, err := b.Open(ctx, o.Key)
	if errors.Is(err, lake.ErrNotExist) {
		return out, nil, damaged("object %q does not exist", o.Key)
	}
	if err != nil {
		return out, nil, fmt.Errorf("open object %q: %w", o.Key, err)
	}
	defer r.Close()
	sum := sha256.New()
	in := io.TeeReader(io.LimitReader(r, o.Bytes+1), sum)
	if o.Bytes <= inMemory {
		b := bytes.NewBuffer(make([]byte, 0, o.Bytes+bytes.MinRead))
		if out.Size, err = b.ReadFrom(in); err == nil {
			out.Content, done = bytes.NewReader(b.Bytes()), func() {}
		}
	} else {
		out.Content, out.Size, done, err = spool(in)
	}
	if err != nil {
		return out, nil, fmt.Errorf("read object %q: %w", o.Key, err)
	}
	if out.Size != o.Bytes || hex.EncodeToString(sum.Sum(nil)) != o.SHA256 {
		done()
		return out, nil, damaged("object %q is not what its manifest says: its bytes were changed", o.Key)
	}
	return out, done, nil
}

// spool puts what it reads into a temporary file, which done removes.
func spool(r io.Reader) (f *os.File, size int64, done func(), err error) {
	if f, err = os.CreateTemp("", "s3window-replay-*"); err != nil {
		return nil, 0, nil, err
	}
	done = func() {
		f.Close()
		_ = os.Remove(f.Name())
	}
	if size, err = io.Copy(f, r); err != nil {
		done()
		return nil, 0, nil, err
	}
	return f, size, done, nil
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
