package commit

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/s3window/s3window/internal/lake"
)

// maxWriters bounds the writers a head names, so that the record stays small
// where every restart brings a new one.
const maxWriters = 256

// State is what a head says of its partition's commit log: an index of the
// manifests 1..K. It stands flat in the lease record, beside version, epoch,
// write and lease.
//
// Every State that is ever written is the fold of the manifests 1..K, less the
// writers that were pruned. So a State that is lost, or older than the newest
// manifest, costs nothing: folding goes on from it.
type State struct {
	K              uint64            `json:"k"`               // newest committed window; 0 = none
	ManifestSHA256 string            `json:"manifest_sha256"` // of manifest K's bytes; empty when K is 0
	Writers        map[string]Writer `json:"writers"`
	Pruned         int64             `json:"pruned"` // highest End that ever left Writers; 0 = none did
}

// Writer says how far one writer is committed.
type Writer struct {
	End int64  `json:"end"` // every record with a stamp below it is in a committed window, no other is
	K   uint64 `json:"k"`   // the writer's newest window
	At  int64  `json:"at"`  // when that was committed, by its committer's clock; informs pruning only
}

// decodeState reads the state of a lease record. It refuses what encode never
// writes, because a fold that goes on from a wrong state is wrong.
func decodeState(raw []byte) (State, error) {
	var s State
	if err := json.Unmarshal(raw, &s); err != nil {
		return State{}, fmt.Errorf("decode head: %w: remove its record to have it rebuilt from the bucket", err)
	}
	if err := s.check(); err != nil {
		return State{}, fmt.Errorf("decode head: %w: remove its record to have it rebuilt from the bucket", err)
	}
	return s, nil
}

func (s State) check() error {
	if s.Pruned < 0 {
		return fmt.Errorf("pruned (%d) is negative", s.Pruned)
	}
	if s.K == 0 {
		if s.ManifestSHA256 != "" || len(s.Writers) > 0 || s.Pruned != 0 {
			return errors.New("k is 0, yet it names a manifest, a writer or a pruned end")
		}
		return nil
	}
	if len(s.ManifestSHA256) != 64 || strings.Trim(s.ManifestSHA256, "0123456789abcdef") != "" {
		return fmt.Errorf("manifest_sha256 %q is not 64 lower-case hex digits", s.ManifestSHA256)
	}
	for name, w := range s.Writers {
		if name == "" || w.End <= 0 || w.K == 0 || w.K > s.K {
			return fmt.Errorf("writer %q: end %d in window %d of %d", name, w.End, w.K, s.K)
		}
	}
	return nil
}

// encode gives the state's canonical bytes: fields in the order of the type,
// writers sorted by name.
func (s State) encode() ([]byte, error) {
	if s.Writers == nil {
		s.Writers = map[string]Writer{}
	}
	return json.Marshal(s)
}

// apply folds manifest m, whose bytes hash to sha, into a copy of s. The
// caller has checked that m may follow s.
func (s State) apply(m lake.Manifest, sha string) State {
	next := s.clone()
	next.K, next.ManifestSHA256 = m.K, sha
	next.Writers[m.Writer] = Writer{End: m.End, K: m.K, At: m.CommittedAt.UnixMicro()}
	return next
}

// prune takes the writers out that committed nothing since retention before
// now, then the oldest until maxWriters are left. The newest window's writer
// stays whatever the clocks say. Pruned rises to the highest end taken out:
// that is how a process still knows that its old writer may have been
// committed. Pruning too much costs reading manifests, never a record.
func (s State) prune(now time.Time, retention time.Duration) State {
	names := make([]string, 0, len(s.Writers))
	for name, w := range s.Writers {
		if w.K != s.K {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		if d := s.Writers[a].At - s.Writers[b].At; d != 0 {
			return int(max(-1, min(1, d)))
		}
		return strings.Compare(a, b)
	})
	oldest := now.Add(-retention).UnixMicro()
	next := s.clone()
	for _, name := range names {
		w := s.Writers[name]
		if w.At >= oldest && len(next.Writers) <= maxWriters {
			break
		}
		next.Pruned = max(next.Pruned, w.End)
		delete(next.Writers, name)
	}
	return next
}

func (s State) clone() State {
	writers := make(map[string]Writer, len(s.Writers)+1)
	for name, w := range s.Writers {
		writers[name] = w
	}
	s.Writers = writers
	return s
}

// ambiguous says that s alone does not tell where writer, whose next window is
// to start at start after the stamp after, is committed up to: it is absent,
// and may have been pruned with an end above one of the two.
//
// Absent and not ambiguous means: nothing committed at or above start, and no
// end that after could name.
func (s State) ambiguous(writer string, after, start int64) bool {
	if _, ok := s.Writers[writer]; ok {
		return false
	}
	return start < s.Pruned || 0 < after && after <= s.Pruned
}
