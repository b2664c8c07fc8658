package replay

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/s3window/s3window/cmd/s3window/internal/levels"
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

func (s Selection) window(m lake.Manifest) bool {
	return (s.From == 0 || m.End > s.From) && (s.To == 0 || m.Start < s.To)
}

var errStop = errors.New("stop")

// listings is how many levels of a lake are listed at once.
const listings = 16

// partitions returns the partitions that have a commit log and are selected, in
// the order of their keys.
func partitions(ctx context.Context, l *lake.Lake, s Selection, p *Progress) ([]partition.ID, error) {
	var ids []partition.ID
	w := levels.Walk{Bucket: l.Bucket(), Prefix: l.Prefix(), Workers: listings, Sink: s.Sink, Tenant: s.Tenant}
	w.Found = func(id partition.ID) {
		if s.Signal == "" || s.Signal == id.Signal {
			ids = append(ids, id)
			p.Found.Add(1)
		}
	}
	if err := w.Logs(ctx); err != nil {
		return nil, err
	}
	slices.SortFunc(ids, func(a, b partition.ID) int { return strings.Compare(a.String(), b.String()) })
	p.Discovered.Store(true)
	return ids, nil
}
