package source

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/partition"
)

// Source is a lake to read from. It holds no state but how columns were read, and
// is safe for concurrent use.
type Source struct {
	lake    *lake.Lake
	slots   chan struct{} // bounds the objects that are read at once
	schemas *schemas
}

// objects is how many data objects are read at once.
const objects = 16

// New makes the source of a lake. It does no I/O.
func New(l *lake.Lake) *Source {
	return &Source{lake: l, slots: make(chan struct{}, objects), schemas: newSchemas()}
}

// Ref says which lake this is.
func (s *Source) Ref() lake.Ref { return s.lake.Ref() }

// Tenants returns the tenants that ever committed something under a sink. It is
// one request for a thousand of them.
func (s *Source) Tenants(ctx context.Context, sink string) ([]string, error) {
	prefix := partition.LogsPrefix(s.lake.Prefix(), sink)
	var out []string
	err := s.lake.Bucket().Dirs(ctx, prefix, func(dir string) error {
		name, ok := strings.CutPrefix(strings.TrimSuffix(dir[len(prefix):], "/"), "tenant=")
		if !ok {
			return nil
		}
		tenant, err := partition.Unescape(name)
		if err == nil { // what no exporter writes is no tenant
			out = append(out, tenant)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list the tenants below %q: %s", prefix, lake.Reason(err))
	}
	return out, nil
}

// Manifest reads one manifest. See lake.Lake.
func (s *Source) Manifest(ctx context.Context, id partition.ID, k uint64) (lake.Manifest, string, error) {
	return s.lake.Manifest(ctx, id, k)
}

// ManifestsAfter visits up to n manifests behind number after, in order, until
// the first that does not exist. It reads several at once.
func (s *Source) ManifestsAfter(ctx context.Context, id partition.ID, after uint64, n int, visit lake.Visit) error {
	numbers := func(yield func(uint64) bool) {
		for k := after + 1; k <= after+uint64(n) && yield(k); k++ {
		}
	}
	err := s.lake.ManifestsAt(ctx, id, numbers, visit)
	if errors.Is(err, lake.ErrNotExist) {
		return nil
	}
	return err
}

// Count returns how many manifests there are behind number after, up to limit.
func (s *Source) Count(ctx context.Context, id partition.ID, after uint64, limit int) (int, error) {
	n, full := 0, errors.New("limit")
	err := s.lake.ListManifests(ctx, id, after, func(uint64) error {
		if n++; n == limit {
			return full
		}
		return nil
	})
	if errors.Is(err, full) {
		err = nil
	}
	return n, err
}
