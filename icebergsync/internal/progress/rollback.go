package progress

import (
	"fmt"
	"strconv"

	"github.com/s3window/s3window/icebergsync/internal/table"
)

// RolledBack says that the table's main branch does not hold the newest snapshot
// that added windows: the properties say more than is there. Which of the two is
// right only an operator knows.
type RolledBack struct {
	Commit int64  // the newest by the property, a sequence number
	Found  int64  // the newest in the history of main; 0 = none is known
	Why    string // how it was seen
}

func (r *RolledBack) Error() string {
	return fmt.Sprintf("the table was rolled back or replaced: its properties name the commit of sequence number %d, and %s", r.Commit, r.Why)
}

// Check returns *RolledBack if main does not descend from the newest snapshot
// that added windows, or from the one that was main when a rollback was accepted.
//
// A parent that is not there any more was expired. Snapshots are expired from
// the oldest on, so what is missing is older than what was seen; only a sequence
// number that is not above ours, or our snapshot elsewhere, proves that ours was
// passed.
func Check(s table.State) error {
	commit, err := Commit(s)
	if err != nil {
		return err
	}
	rolled := func(found int64, format string, args ...any) error {
		return &RolledBack{Commit: commit, Found: found, Why: fmt.Sprintf(format, args...)}
	}
	is, ok := s.Main()
	if !ok && commit > 0 {
		return rolled(0, "main has no snapshot")
	}
	for passed := false; ok; is, ok = s.Snapshots[is.Parent] {
		if is.Sequence == commit {
			return nil
		}
		if n, ours := Number(is); ours {
			return rolled(n, "the newest in the history of main is that of %d", n)
		}
		passed = passed || is.Sequence < commit
		_, more := s.Snapshots[is.Parent]
		switch {
		case commit == 0 || more:
		case is.Parent == 0:
			return rolled(0, "the history of main begins at %d without it", is.Sequence)
		case passed:
			return rolled(0, "the history of main reaches %d without it", is.Sequence)
		case there(s, commit):
			return rolled(0, "its snapshot is there and not in the history of main")
		}
	}
	return nil // what is left of the history is newer than our snapshot
}

// there says whether the snapshot of a sequence number was not expired yet.
func there(s table.State, sequence int64) bool {
	for _, is := range s.Snapshots {
		if is.Sequence == sequence {
			return true
		}
	}
	return false
}

// Number returns the number of a snapshot that added windows. The summary of
// such a snapshot can be copied into another one, by a cherry-pick; that one has
// another sequence number, and is not ours.
func Number(s table.Snapshot) (int64, bool) {
	n, err := strconv.ParseInt(s.Summary[PropCommit], 10, 64)
	return n, err == nil && n == s.Sequence
}
