package replay

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/partition"
)

// Selection says which windows are sent. The zero value is all of them.
type Selection struct {
	Sink, Tenant  string           // empty = all
	Signal        partition.Signal // empty = all
	From, To      int64            // microseconds: windows that received records in [From, To); 0 = open
	FirstK, LastK uint64           // 0 = open
}

// String names what a state file depends on: what decides which windows before
// the last one sent were passed over.
func (s Selection) String() string {
	return fmt.Sprintf("received from %d to %d, k from %d to %d", s.From, s.To, s.FirstK, s.LastK)
}

func (s Selection) partition(id partition.ID) bool {
	return (s.Sink == "" || s.Sink == id.Sink) && (s.Tenant == "" || s.Tenant == id.Tenant) && (s.Signal == "" || s.Signal == id.Signal)
}

func (s Selection) window(m lake.Manifest) bool {
	return (s.From == 0 || m.End > s.From) && (s.To == 0 || m.Start < s.To)
}

var errStop = errors.New("stop")

// partitions returns the partitions that have a manifest and are selected, in
// order. It skips from one to the next, so it costs one listing each.
func partitions(ctx context.Context, l *lake.Lake, s Selection) (ids []partition.ID, err error) {
	prefix, after := partition.SystemPrefix(l.Prefix())+"sink=", ""
	for {
		first := ""
		err := l.Bucket().List(ctx, prefix, after, func(i lake.Info) error {
			first = i.Key
			return errStop
		})
		if err != nil && !errors.Is(err, errStop) {
			return nil, fmt.Errorf("list %q: %w", prefix, err)
		}
		if first == "" {
			return ids, nil
		}
		after = first
		if id, _, err := partition.ParseManifestKey(l.Prefix(), first); err == nil {
			// '0' comes behind '/', and so behind all of the partition's keys.
			after = strings.TrimSuffix(partition.ManifestPrefix(l.Prefix(), id), "/") + "0"
			if s.partition(id) && !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
}
