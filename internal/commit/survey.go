package commit

import (
	"context"
	"hash/maphash"
	"slices"
	"time"

	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/partition"
)

// surveyPause is how long a survey that failed is not repeated.
const surveyPause = 10 * time.Second

// Survey knows which tenants of a sink had a commit log when this process first
// asked: one listing in place of one per partition. It is safe for concurrent
// use; a nil Survey knows nothing.
//
// What it calls absent may have come since. A log that is taken to be empty
// and is not is met by the first manifest that is put: a state that is behind
// is as good as any.
type Survey struct {
	lake *lake.Lake
	sink string
	turn chan struct{} // one token while it is asked

	// Whoever holds the token owns these.
	seed    maphash.Seed
	tenants []uint64 // hashes of their directories, sorted; nil until listed
	failed  time.Time
}

// NewSurvey makes the survey of a sink's commit logs in a lake. It does no I/O.
func NewSurvey(l *lake.Lake, sink string) *Survey {
	return &Survey{lake: l, sink: sink, turn: make(chan struct{}, 1), seed: maphash.MakeSeed()}
}

// absent says that partition id had no commit log when the survey was made.
// False means that it may have one.
func (s *Survey) absent(ctx context.Context, id partition.ID) bool {
	if s == nil {
		return false
	}
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return false
	}
	if s.tenants == nil && !s.make(ctx) {
		return false
	}
	_, found := slices.BinarySearch(s.tenants, s.hash(partition.TenantDir(s.lake.Prefix(), id)))
	return !found
}

// make lists the tenants, and says whether that went well.
func (s *Survey) make(ctx context.Context) bool {
	if time.Since(s.failed) < surveyPause {
		return false
	}
	tenants := []uint64{}
	err := s.lake.Bucket().Dirs(ctx, partition.LogsPrefix(s.lake.Prefix(), s.sink), func(dir string) error {
		tenants = append(tenants, s.hash(dir))
		return nil
	})
	if err != nil {
		s.failed = time.Now()
		return false
	}
	slices.Sort(tenants)
	s.tenants = tenants
	return true
}

func (s *Survey) hash(dir string) uint64 { return maphash.String(s.seed, dir) }
