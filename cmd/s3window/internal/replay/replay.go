package replay

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/s3window/s3window/internal/encode/decode"
	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/partition"
)

// ErrEmpty says that there is nothing to send from: no manifests.
var ErrEmpty = errors.New("no commit log of a selected partition is there")

// Options change a replay.
type Options struct {
	Selection
	RequestBytes int  // most bytes of a request, unless one record has more
	DryRun       bool // send nothing and remember nothing
}

// Sender is where records go; Client is one.
type Sender interface {
	Logs(ctx context.Context, id partition.ID, l plog.Logs) (refused int64, err error)
}

// Progress counts what was done so far. It may be read at any time.
type Progress struct {
	Windows, Records, Requests, Refused, Bytes atomic.Int64
}

// Partition is what became of one partition.
type Partition struct {
	ID             partition.ID
	Before         uint64 // last window that an earlier run sent
	First, Last    uint64 // windows sent; 0 = none
	Windows        int64
	Records, Bytes int64 // as their manifests say
	Lost           int64 // entries that manifests report as lost
	Err            error // why it was not sent to its end: a DamageError, or that its signal is not known
}

// Lake sends the selected windows. Of a partition that is damaged it sends what
// comes before the damage, then goes on with the next partition. An error means
// that the replay ended early; what was sent until then is in state.
func Lake(ctx context.Context, l *lake.Lake, to Sender, state *State, o Options, p *Progress) ([]Partition, error) {
	ids, err := partitions(ctx, l, o.Selection)
	if err != nil {
		return nil, err
	}
	if len(ids) == 0 {
		return nil, ErrEmpty
	}
	if !o.DryRun {
		// One that cannot be written is better known before anything is sent.
		if err := state.write(); err != nil {
			return nil, err
		}
	}
	var out []Partition
	for _, id := range ids {
		r := &replay{Options: o, lake: l, to: to, state: state, progress: p, out: Partition{ID: id, Before: state.Sent(id)}}
		err := r.partition(ctx)
		var damage *DamageError
		if errors.As(err, &damage) || errors.Is(err, errors.ErrUnsupported) {
			r.out.Err, err = err, nil
		}
		out = append(out, r.out)
		if err != nil {
			return out, fmt.Errorf("replay %s: %w", id, err)
		}
	}
	return out, nil
}

// replay is that of one partition.
type replay struct {
	Options
	lake     *lake.Lake
	to       Sender
	state    *State
	progress *Progress
	out      Partition
}

func (r *replay) partition(ctx context.Context) error {
	if r.out.ID.Signal != partition.Logs {
		return fmt.Errorf("signal %s: %w", r.out.ID.Signal, errors.ErrUnsupported)
	}
	after := r.out.Before
	if r.FirstK > 0 {
		after = max(after, r.FirstK-1)
	}
	last := after
	err := r.lake.ManifestsAfter(ctx, r.out.ID, after, func(k uint64, m lake.Manifest, _ string) error {
		if r.LastK > 0 && k > r.LastK {
			return errStop
		}
		if k != last+1 {
			return damaged("the manifests of windows %d to %d are not there", last+1, k-1)
		}
		last = k
		if !r.Selection.window(m) {
			return nil
		}
		return r.window(ctx, m)
	})
	if errors.Is(err, errStop) {
		return nil
	}
	return err
}

// window sends a window and remembers that.
func (r *replay) window(ctx context.Context, m lake.Manifest) error {
	r.out.Lost += int64(len(m.Lost))
	if !r.DryRun {
		for _, o := range m.Objects {
			if err := r.object(ctx, m, o); err != nil {
				return fmt.Errorf("window %d: %w", m.K, err)
			}
		}
		if err := r.state.Save(m.ID(), m.K); err != nil {
			return err
		}
	}
	if r.out.First == 0 {
		r.out.First = m.K
	}
	r.out.Last = m.K
	r.out.Windows++
	r.out.Records += m.Records
	r.out.Bytes += m.Bytes
	r.progress.Windows.Add(1)
	return nil
}

func (r *replay) object(ctx context.Context, m lake.Manifest, o lake.Object) error {
	content, done, err := fetch(ctx, r.lake.Bucket(), o, m.Schema)
	if err != nil {
		return err
	}
	defer done()
	records := int64(0)
	err = decode.EachLogs(content, r.RequestBytes, func(l plog.Logs) error {
		n := int64(l.LogRecordCount())
		refused, err := r.to.Logs(ctx, r.out.ID, l)
		if err != nil {
			return err
		}
		records += n
		r.progress.Requests.Add(1)
		r.progress.Records.Add(n)
		r.progress.Refused.Add(refused)
		return nil
	})
	r.progress.Bytes.Add(o.Bytes)
	if errors.Is(err, decode.ErrMalformed) {
		return damaged("object %q: %v", o.Key, err)
	}
	if err != nil {
		return err
	}
	if records != o.Records {
		return damaged("object %q has %d records, its manifest says %d", o.Key, records, o.Records)
	}
	return nil
}
