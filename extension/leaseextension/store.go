package leaseextension

import (
	"github.com/s3window/s3window/extension/leaseextension/internal/memory"
	"github.com/s3window/s3window/extension/leaseextension/internal/register"
)

// Store is a register per key with compare-and-set. Every backend is one of
// these, and nothing more.
type Store = register.Store

// Record is a register's content at one revision.
type Record = register.Record

// ErrNotFound says that a register, or the record of a lease, does not exist.
var ErrNotFound = register.ErrNotFound

// ErrConflict says that a register has another revision than a write asked for.
var ErrConflict = register.ErrConflict

// NewMemoryStore returns an empty store in memory.
func NewMemoryStore() Store { return memory.New() }
