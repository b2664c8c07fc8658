// Package table is what the synchronisation knows of an Iceberg table: its state
// as a catalog returned it, and one atomic change to it. It does no I/O.
package table

import (
	"errors"
	"strings"

	"github.com/apache/iceberg-go"
)

// The outcomes of a catalog's calls that callers branch on.
var (
	// ErrNotExist says that the catalog has no such table.
	ErrNotExist = errors.New("table does not exist")
	// ErrConflict says that a change was refused because the table is not in
	// the state that the change was made for. It can be the echo of the change's
	// own success: only loading the table again tells.
	ErrConflict = errors.New("table has changed")
	// ErrAgain says that the table was made ready for a change, which was not
	// made yet: the caller loads it again.
	ErrAgain = errors.New("table was made ready")
)

// Name is a table's name: its namespace, and itself as the last element.
type Name []string

// String returns the name as people write it.
func (n Name) String() string { return strings.Join(n, ".") }

// State is a table as it was when it was loaded.
type State struct {
	Name       Name
	Format     int    // version of the table format
	Location   string // what the table's own files begin with
	Properties map[string]string
	Columns    []Column // of the current schema, top level
	Snapshots  map[int64]Snapshot
	Refs       map[string]int64 // branches and tags, main among them
	Sequence   int64            // the last sequence number that was given out

	// Loaded is for the catalog that made the State.
	Loaded any
}

// MainBranch is the branch that is written to and that readers see.
const MainBranch = "main"

// Main returns the snapshot that readers see; false if there is none yet.
func (s State) Main() (Snapshot, bool) {
	id, ok := s.Refs[MainBranch]
	if !ok {
		return Snapshot{}, false
	}
	is, ok := s.Snapshots[id]
	return is, ok
}

// Column returns the column of a name.
func (s State) Column(name string) (Column, bool) {
	for _, c := range s.Columns {
		if c.Name == name {
			return c, true
		}
	}
	return Column{}, false
}

// Snapshot is one version of a table.
type Snapshot struct {
	ID       int64
	Parent   int64 // 0 where there is none
	Sequence int64
	Summary  map[string]string
}

// Column is a column of a table or of a file. A column is known by its name.
type Column struct {
	Name string
	Type iceberg.Type
}

// File is a data file to add.
type File struct {
	URI     string
	Bytes   int64
	Records int64
	Tenant  string
	Start   int64 // the file's records were received in [Start, End), microseconds
	End     int64
	Stats   []Stats
}

// Stats is what is known of the values of one top-level column of a file.
type Stats struct {
	Column string
	Values int64
	Nulls  int64
	Size   int64  // bytes in the file
	Lower  []byte // in Iceberg's binary form; nil = unknown
	Upper  []byte
}

// Change is one atomic change of a table. It applies wholly or not at all, and
// only to a table whose main branch is where the State has it.
type Change struct {
	Files      []File            // none: no snapshot is made
	Summary    map[string]string // of the snapshot
	Properties map[string]string // to set
	Expire     []int64           // snapshots to forget; their files stay

	// Columns are added, optional, and to the name mapping. Such a change has
	// nothing else in it.
	Columns []Column
}
