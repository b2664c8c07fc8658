package commit

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/s3window/s3window/internal/lake"
)

// maxWriters bounds the writers a head names, and with them the record's size:
// 4,096 are 230 kB. Beyond it the oldest go first.
const maxWriters = 4096

// State is the fold of the manifests 1..K of a commit log, less the writers
// that were pruned. So a State that is lost, or older than the newest manifest,
// costs nothing: folding goes on from it.
type State struct {
	K              uint64 // newest committed window; 0 = none
	ManifestSHA256 string // of manifest K's bytes; empty where K is 0
	Pruned         int64  // highest end that ever left the writers; 0 = none did
	writers        []Writer
}

// Writer says how far one writer is committed.
type Writer struct {
	End  int64    // every record with a stamp below it is in a committed window, no other is
	K    uint64   // the writer's newest window
	At   uint32   // when that was committed, Unix seconds by its committer's clock; informs pruning only
	name [13]byte // writers are many: a string would double their size
}

// Name returns the writer's name.
func (w Writer) Name() string { return string(w.name[:]) }

// Writer returns what the state knows of a writer.
func (s *State) Writer(name string) (Writer, bool) {
	i, ok := s.search(name)
	if !ok {
		return Writer{}, false
	}
	return s.writers[i], true
}

func (s *State) search(name string) (int, bool) {
	return slices.BinarySearchFunc(s.writers, name, func(w Writer, name string) int { return strings.Compare(string(w.name[:]), name) })
}

// set notes how far a writer is committed. Names are 13 bytes: manifests and
// heads with others are refused where they are read.
func (s *State) set(name string, end int64, k uint64, at uint32) {
	i, ok := s.search(name)
	if !ok {
		s.writers = slices.Insert(s.writers, i, Writer{name: [13]byte([]byte(name))})
	}
	w := &s.writers[i]
	w.End, w.K, w.At = end, k, at
}

func (s *State) clone() State {
	c := *s
	c.writers = slices.Clone(s.writers)
	return c
}

// fold takes manifest m, whose bytes hash to sha, into s. The caller has
// checked that it is number K+1 and follows.
func (s *State) fold(m lake.Manifest, sha string) {
	s.K, s.ManifestSHA256 = m.K, sha
	s.set(m.Writer, m.End, m.K, seconds(m.CommittedAt))
}

// leap takes manifest m into s, and by its writers all that lie between. The
// caller has checked that m names the writers of all those, and agrees with s.
func (s *State) leap(m lake.Manifest, sha string) {
	s.K, s.ManifestSHA256 = m.K, sha
	for name, r := range m.Writers {
		s.set(name, r.End, r.K, seconds(m.CommittedAt))
	}
}

func seconds(t time.Time) uint32 { return uint32(max(0, t.Unix())) }

// recent returns what manifest K+1, a window of writer up to end, says of the
// writers of the span newest windows, its own included.
func (s *State) recent(span uint64, writer string, end int64) map[string]lake.Reach {
	r := map[string]lake.Reach{}
	for i := range s.writers {
		if w := &s.writers[i]; s.K+1-w.K < span {
			r[w.Name()] = lake.Reach{End: w.End, K: w.K}
		}
	}
	r[writer] = lake.Reach{End: end, K: s.K + 1}
	return r
}

// pruning says which writers leave a state.
type pruning struct {
	before uint32 // those that committed nothing since, Unix seconds
	spare  func(writer string) bool
	scale  // the writers of its newest windows stay: the next manifests name them
}

// prune takes the writers out that are old, and the oldest of too many. Those of the newest windows stay whatever the clocks say.
//
// Pruned rises to the highest end taken out: that is how a process still knows
// that its old writer may have been committed. Pruning too much costs reading
// manifests, never a record.
func (s *State) prune(p pruning) {
	s.drop(p, func(w *Writer) bool { return w.At < p.before })
	if len(s.writers) <= p.writers {
		return
	}
	byAge := slices.Clone(s.writers)
	slices.SortFunc(byAge, func(a, b Writer) int { return b.age(&a) })
	youngest := byAge[p.writers] // of those that go
	s.drop(p, func(w *Writer) bool { return w.age(&youngest) <= 0 })
}

// age compares when two writers last committed.
func (w *Writer) age(other *Writer) int {
	return cmp.Or(cmp.Compare(w.At, other.At), cmp.Compare(w.K, other.K))
}

func (s *State) drop(p pruning, old func(*Writer) bool) {
	s.writers = slices.DeleteFunc(s.writers, func(w Writer) bool {
		if s.K-w.K < p.span || !old(&w) || p.spare(w.Name()) {
			return false
		}
		s.Pruned = max(s.Pruned, w.End)
		return true
	})
}

// ambiguous says that s alone does not tell where writer, whose next window is
// to start at start after the stamp after, is committed up to: it is absent,
// and may have been pruned with an end above one of the two.
//
// Absent and not ambiguous means: nothing committed at or above start, and no
// end that after could name.
func (s *State) ambiguous(writer string, after, start int64) bool {
	if _, ok := s.search(writer); ok {
		return false
	}
	return start < s.Pruned || 0 < after && after <= s.Pruned
}
