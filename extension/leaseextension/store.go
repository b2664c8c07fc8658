package leaseextension

import (
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	xstorage "go.opentelemetry.io/collector/extension/xextension/storage"

	"github.com/s3window/s3window/extension/leaseextension/internal/memory"
	"github.com/s3window/s3window/extension/leaseextension/internal/register"
	"github.com/s3window/s3window/extension/leaseextension/internal/s3"
	"github.com/s3window/s3window/extension/leaseextension/internal/storage"
)

// Store is a register per key with compare-and-set. Every backend is one of
// these, and nothing more.
type Store = register.Store

// ClosingStore is a Store with connections. Close ends them after the last use.
type ClosingStore interface {
	Store
	Close() error
}

// Record is a register's content at one revision.
type Record = register.Record

// ErrNotFound says that a register, or the record of a lease, does not exist.
var ErrNotFound = register.ErrNotFound

// ErrConflict says that a register has another revision than a write asked for.
var ErrConflict = register.ErrConflict

// NewMemoryStore returns an empty store in memory.
func NewMemoryStore() Store { return memory.New() }

// NewStorageStore returns a store on a client of a collector storage extension,
// for a single replica. The client must not be used by anyone else; the caller
// closes it after the last use of the store.
func NewStorageStore(client xstorage.Client) Store { return storage.New(client) }

// NewS3Store returns a store on the objects below prefix in bucket. The bucket
// must honour If-None-Match and If-Match on PUT. refine may add to each PUT what
// the bucket needs, such as encryption or a checksum algorithm.
func NewS3Store(client *awss3.Client, bucket, prefix string, refine ...func(*awss3.PutObjectInput)) Store {
	return s3.New(client, bucket, prefix, refine...)
}
