package lake

import (
	"context"
	"errors"
	"io"
	"time"
)

// The outcomes of a Bucket's calls that callers branch on.
var (
	// ErrExists says that a key that must not exist exists. Nothing changed.
	ErrExists = errors.New("object exists")
	// ErrNotExist says that there is no object at a key.
	ErrNotExist = errors.New("object does not exist")
	// ErrChanged says that the object is not the version that was named, or
	// is gone. Nothing changed.
	ErrChanged = errors.New("object is another version")
)

// Bucket is the seam to an object store. Keys are UTF-8 without a leading
// slash, in no other way restricted. All methods are safe for concurrent use.
//
// An implementation may send a conditional request again after its answer was
// lost, so ErrExists and ErrChanged can be the echo of the caller's own
// success: callers read the key to know.
type Bucket interface {
	// PutIfAbsent creates the object at key. It returns nil only after the
	// object is durable and whole. If the key exists it returns ErrExists and
	// changes nothing; of several concurrent calls one at most returns nil.
	//
	// Any other error means the outcome is unknown, also after it returned.
	// Callers resolve that by reading the key, never by writing again under
	// a new one.
	PutIfAbsent(ctx context.Context, key string, body Body) error

	// Replace overwrites the object at key if its ETag is etag, and returns
	// ErrChanged if it is not or if there is none. Any other error means the
	// outcome is unknown.
	Replace(ctx context.Context, key string, body Body, etag string) error

	// Open returns the object's content, which the caller closes, and its
	// Info, or ErrNotExist. A read that meets a dead connection ends in an
	// error, never in an early io.EOF.
	Open(ctx context.Context, key string) (io.ReadCloser, Info, error)

	// Stat returns the object's Info, or ErrNotExist.
	Stat(ctx context.Context, key string) (Info, error)

	// List visits the objects whose key begins with prefix and sorts behind
	// after, in byte order of the keys. Info has no Metadata then. An error of
	// visit ends the listing and is returned as it is.
	List(ctx context.Context, prefix, after string, visit func(Info) error) error

	// Dirs visits what lies directly below prefix, which is empty or ends with
	// a slash: the beginnings of keys up to and with their next slash, each
	// once, in byte order. Objects directly below prefix are not visited. An
	// error of visit ends the listing and is returned as it is.
	Dirs(ctx context.Context, prefix string, visit func(dir string) error) error

	// Delete removes the object. A key that does not exist is no error.
	Delete(ctx context.Context, key string) error
}

// Info is what a bucket knows of an object.
type Info struct {
	Key      string
	ETag     string // names this version of the object; opaque
	Size     int64
	Metadata map[string]string // keys in lower case; nil from List
	ModTime  time.Time         // the store's clock
}
