package commit

import (
	"fmt"

	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/partition"
)

// Overlap says that a window does not follow what is committed of its writer:
// another process had the same entries (a WAL copied or restored), or the
// windows came out of order. The caller drops what it holds of Writer below
// End, seals the rest anew after End, and commits that.
type Overlap struct {
	Writer string
	After  int64 // what the window was to follow
	End    int64 // where the writer is committed up to
}

func (e *Overlap) Error() string {
	return fmt.Sprintf("commit window of writer %q: it follows stamp %d, but the writer is committed up to %d: seal again from there",
		e.Writer, e.After, e.End)
}

// Blocked says that the commit log goes on with a manifest that cannot be
// committed. The protocol never produces one, so somebody changed the bucket by hand or
// a program is broken. Nothing was touched and nothing is until an operator
// has looked: the partition stops.
type Blocked struct {
	Key string // of the manifest
	Why string
	Err error // what reading it said, if it could not be read at all
}

func (e *Blocked) Error() string {
	return fmt.Sprintf("manifest %q cannot be committed: %s; check the lake with `s3window verify` and remove what does not belong there", e.Key, e.Why)
}

func (e *Blocked) Unwrap() error { return e.Err }

// disagrees says why m, which names the writers of the span windows up to it and
// lies behind s.K, is not of the log that s is the fold of, or nothing: its
// writers are at least where s has them.
func disagrees(s *State, span uint64, m lake.Manifest) string {
	if m.Writers == nil {
		return "" // version 1 says nothing of them
	}
	for i := range s.writers {
		w := &s.writers[i]
		if m.K-w.K >= span {
			continue // before what m names
		}
		r, ok := m.Writers[w.Name()]
		switch {
		case !ok:
			return fmt.Sprintf("it does not name window %d of writer %s", w.K, w.Name())
		case r.K < w.K || r.End < w.End || r.K == w.K && r.End != w.End:
			return fmt.Sprintf("it names window %d of writer %s up to %d, the log has window %d up to %d", r.K, w.Name(), r.End, w.K, w.End)
		}
	}
	return ""
}

// place says why m cannot be number s.K+1 of the log of id, or nothing. It
// looks at everything but the writer's end.
func place(s *State, prefix string, id partition.ID, m lake.Manifest) string {
	switch {
	case m.ID() != id:
		return fmt.Sprintf("it is of partition %s", m.ID())
	case m.K != s.K+1:
		return fmt.Sprintf("it says k %d at the place of %d", m.K, s.K+1)
	case m.Writer == "" || m.After < 0 || m.After > m.Start || m.Start >= m.End:
		return fmt.Sprintf("writer %q, after %d, window [%d, %d) is not a window", m.Writer, m.After, m.Start, m.End)
	case s.K == 0 && m.Prev != nil:
		return "it is the first and names one before it"
	case s.K == 0:
		return ""
	case m.Prev == nil:
		return fmt.Sprintf("it does not name manifest %d before it", s.K)
	}
	want := lake.Prev{K: s.K, Key: partition.ManifestKey(prefix, id, s.K), SHA256: s.ManifestSHA256}
	if *m.Prev != want {
		return fmt.Sprintf("it follows %s (sha256 %s), the log ends with %s (sha256 %s)", m.Prev.Key, m.Prev.SHA256, want.Key, want.SHA256)
	}
	return ""
}

// follows says whether a manifest in the bucket, at its place in the chain,
// may follow end, its writer's committed end.
//
// The second form is that of a writer whose end its committer could not see,
// because it was pruned: such a window starts after all that was pruned and
// says that it follows nothing. It doubles nothing, and it skips nothing,
// because it is the first that its committer had.
func follows(m lake.Manifest, end int64) bool {
	return m.After == end || m.After == 0 && m.Start >= end
}
