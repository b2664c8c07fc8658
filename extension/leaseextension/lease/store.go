package lease

import (
	"context"
	"errors"
)

// ErrNotFound says that a register, or the record of a lease, does not exist.
var ErrNotFound = errors.New("register not found")

// ErrConflict says that the register has another revision than the write asked
// for. The write changed nothing, unless it is the second copy of a request
// whose first copy was applied and whose answer got lost: the caller reads the
// register to tell.
var ErrConflict = errors.New("register has another revision")

// Record is a register's content at one revision.
type Record struct {
	Key      string
	Value    []byte
	Revision string
}

// Store is a register per key with compare-and-set. Every backend is one of
// these, and nothing more. It is safe for concurrent use.
//
// Keys are any valid UTF-8 of 1 to 1024 bytes; slashes and dots mean nothing.
// Values are up to 128 KiB. Revisions are opaque; two versions of a register
// whose values differ never share one, also across a deletion.
//
// Success and ErrNotFound need proof. Between a store and its server may be
// something that answers in the server's place: a proxy's page with status 200,
// an empty message. An answer counts only if it holds what such a thing cannot
// know: the value, the revision that was drawn, the number of the write. Any
// other answer is an error of its own. ErrConflict needs none, for callers read
// the register after it.
type Store interface {
	// Get returns the newest version of the register: linearizable, never from
	// a cache or a lagging replica. ErrNotFound if there is none.
	Get(ctx context.Context, key string) (Record, error)

	// Put writes value if the register's revision is ifRevision, "" meaning
	// that it must not exist, and returns the new revision. It returns nil
	// only after the value is as durable as the backend makes it.
	// ErrConflict if the revision is another one or the register is missing.
	//
	// Any other error means that the outcome is unknown: the write may have
	// been applied, or may still be applied later. Callers read it back.
	Put(ctx context.Context, key string, value []byte, ifRevision string) (revision string, err error)

	// Delete removes the register if its revision is ifRevision. ErrConflict
	// if it is another one, ErrNotFound if there is none. Any other error:
	// outcome unknown.
	Delete(ctx context.Context, key string, ifRevision string) error

	// List returns the registers whose key starts with prefix, sorted by key.
	// It is not a snapshot: registers that change meanwhile may be missing or
	// newer.
	List(ctx context.Context, prefix string) ([]Record, error)
}
