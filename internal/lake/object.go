package lake

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
)

// replaceAttempts bounds how often PutObject reads back and replaces one
// object in one call.
const replaceAttempts = 3

// ObjectMeta is what a manifest says of an object beyond its bytes. It is
// stored with the object.
type ObjectMeta struct {
	Records int64
	MinTime int64 // microseconds
	MaxTime int64
	Encoder string // printable ASCII
}

// PutObject creates the object at key and returns it as it lies in the bucket:
// what a manifest must say of it. It returns nil only after the object is
// durable.
//
// If the key exists, or the outcome of the put is unknown, the content there
// is read and decides:
//
//   - It equals body: the object is body and meta.
//   - It differs, but matches the metadata stored with it: an earlier attempt
//     wrote the same rows with another encoder. It stays, and the object is
//     what its metadata says; Records differing from meta.Records is for the
//     caller to judge.
//   - It does not match its own metadata, or has none: it is torn. It is
//     replaced with body under If-Match.
//   - There is none: the error of the put is returned.
//
// The caller may call again with the same key after any error, and must not
// write the same rows under another key.
//
// Crash before this: the bucket has no such object, or an earlier attempt's.
// Crash after it: the object lies there and no manifest names it; the next
// attempt finds it by its key.
func (l *Lake) PutObject(ctx context.Context, key string, body Body, meta ObjectMeta) (Object, error) {
	body.Metadata = meta.merge(body)
	l.step("lake:put-object")
	err := l.bucket.PutIfAbsent(ctx, key, body)
	for range replaceAttempts {
		if err == nil {
			l.step("lake:put-object done")
			return meta.object(key, body), nil
		}
		l.step("lake:read-back-object")
		there, back := l.readBack(ctx, key)
		switch {
		case errors.Is(back, ErrNotExist):
			return Object{}, fmt.Errorf("put object %q: %w", key, err)
		case back != nil:
			return Object{}, fmt.Errorf("put object %q: %w", key, unread(err, back))
		case there.is(body):
			return meta.object(key, body), nil
		}
		if o, ok := there.verified(); ok {
			return o, nil
		}
		l.step("lake:replace-object")
		err = l.bucket.Replace(ctx, key, body, there.info.ETag)
	}
	if err == nil {
		return meta.object(key, body), nil
	}
	return Object{}, fmt.Errorf("replace torn object %q: %w", key, err)
}

func (m ObjectMeta) object(key string, body Body) Object {
	return Object{
		Key: key, Bytes: body.Size, Records: m.Records, SHA256: hex.EncodeToString(body.SHA256[:]),
		Encoder: m.Encoder, MinTime: m.MinTime, MaxTime: m.MaxTime,
	}
}

// content is what a read of an object found.
type content struct {
	info Info
	size int64
	sum  [sha256.Size]byte
}

// readBack reads the object at key to its end.
func (l *Lake) readBack(ctx context.Context, key string) (content, error) {
	r, info, err := l.bucket.Open(ctx, key)
	if err != nil {
		return content{}, err
	}
	defer r.Close()
	h := sha256.New()
	c := content{info: info}
	if c.size, err = io.Copy(h, r); err != nil {
		return content{}, err
	}
	h.Sum(c.sum[:0])
	return c, nil
}

// unread is the error of a put that failed with err and could not be read back
// either. A refusal says nothing then: it may be the echo of the same put.
func unread(err, back error) error {
	if errors.Is(err, ErrExists) || errors.Is(err, ErrChanged) {
		return fmt.Errorf("read back: %w", back)
	}
	return fmt.Errorf("%w (and read back: %w)", err, back)
}

// is says whether the content is body's, whatever the metadata.
func (c content) is(body Body) bool { return c.size == body.Size && c.sum == body.SHA256 }

// putSame creates the object at key, where whoever writes it writes the same
// bytes. It returns ErrExists if other bytes are there, and the put's own
// error if the outcome stays unknown.
func (l *Lake) putSame(ctx context.Context, key string, body Body) error {
	err := l.bucket.PutIfAbsent(ctx, key, body)
	if err == nil {
		return nil
	}
	there, back := l.readBack(ctx, key)
	switch {
	case errors.Is(back, ErrNotExist):
		return err
	case back != nil:
		return unread(err, back)
	case there.is(body):
		return nil
	}
	return ErrExists
}

func (m ObjectMeta) merge(body Body) map[string]string {
	all := maps.Clone(body.Metadata)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, m.metadata(body))
	return all
}
