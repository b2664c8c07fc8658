// Package syncer brings the committed windows of a lake into an Iceberg table,
// each once. DESIGN.md of this module has the protocol and what a crash at each
// point leaves behind.
package syncer

import (
	"context"

	"github.com/s3window/s3window/icebergsync/internal/table"
	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/partition"
)

// Catalog keeps tables. It is safe for concurrent use.
type Catalog interface {
	// Load returns the table as it is now, or table.ErrNotExist.
	Load(ctx context.Context, name table.Name) (table.State, error)

	// Create makes an empty table with these columns. An error leaves it
	// unknown whether there is one now.
	Create(ctx context.Context, name table.Name, columns []table.Column) error

	// Apply makes one change to the table in the state that was loaded. nil:
	// it is made and durable. table.ErrConflict: the table was in another
	// state. After any error it is unknown whether the change was made: a
	// caller loads the table again and looks.
	Apply(ctx context.Context, is table.State, change table.Change) error
}

// Lake is the lake that windows are read from. It is safe for concurrent use.
type Lake interface {
	// Ref says which lake this is.
	Ref() lake.Ref
	// Manifest reads one manifest and returns the SHA-256 of its bytes in hex;
	// lake.ErrNotExist, lake.ErrNoManifest.
	Manifest(ctx context.Context, id partition.ID, k uint64) (lake.Manifest, string, error)
	// ManifestsAfter visits up to n manifests behind number after, in order,
	// until the first that does not exist.
	ManifestsAfter(ctx context.Context, id partition.ID, after uint64, n int, visit lake.Visit) error
	// Contents reads what the object itself says; lake.ErrNotExist. An
	// *Unreadable is one that no later attempt will read either.
	Contents(ctx context.Context, object lake.Object) (Contents, error)
}

// Contents is what a data object says of itself.
type Contents struct {
	Bytes   int64
	Records int64
	Columns []table.Column
	Stats   []table.Stats
}

// Unreadable says that an object is not what its manifest says, whoever reads it
// and when.
type Unreadable struct{ Why string }

func (u *Unreadable) Error() string { return u.Why }
