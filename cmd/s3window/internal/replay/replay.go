package replay

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

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

	// Skip is told of a record that the receiver refuses for good, and returns
	// once that is written down; the replay then passes it over. If Skip is nil, or
	// its error is not, the replay ends there.
	Skip func(Refused) error
}

// Sender is where records go; Client is one. Each call is one request, of so
// many records; refused is how many of them were not taken.
type Sender interface {
	Send(ctx context.Context, id partition.ID, request []byte, records int) (refused int64, err error)
}

// Progress counts what was done so far. It may be read at any time.
type Progress struct {
	Found      atomic.Int64 // partitions that are selected
	Discovered atomic.Bool  // all of them are found

	Windows, Records, Requests, Bytes atomic.Int64
	Refused                           atomic.Int64 // of requests that were taken
	Skipped                           atomic.Int64
}

// Partition is what became of one partition.
type Partition struct {
	ID             partition.ID
	Before         uint64 // last window that an earlier run sent
	First, Last    uint64 // windows sent; 0 = none
	Windows        int64
	Records, Bytes int64 // as their manifests say
	Skipped        int64 // records that the receiver refused
	Lost           int64 // records, about, that manifests report as lost
	Err            error // why it was not sent to its end: a DamageError
}

// Lake sends the selected windows. Of a partition that is damaged it sends what
// comes before the damage, then goes on with the next partition. An error means
// that the replay ended early; what was sent until then is in state.
func Lake(ctx context.Context, l *lake.Lake, to Sender, state *State, o Options, p *Progress) ([]Partition, error) {
	ids, err := partitions(ctx, l, o.Selection, p)
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
		if errors.As(err, &damage) {
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
	object   object // that is being sent
	inARow   int    // records refused since the last one that was taken
}

// object is one object of a window.
type object struct {
	k   uint64
	key string
}

func (r *replay) partition(ctx context.Context) error {
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
	for _, x := range m.Lost {
		r.out.Lost += max(x.Records, 1)
	}
	if !r.DryRun {
		for _, o := range m.Objects {
			if err := r.send(ctx, m, o); err != nil {
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

// send sends the records of an object.
func (r *replay) send(ctx context.Context, m lake.Manifest, o lake.Object) error {
	content, done, err := fetch(ctx, r.lake.Bucket(), o, m.Schema)
	if err != nil {
		return err
	}
	defer done()
	r.object = object{m.K, o.Key}
	records := int64(0)
	err = decode.EachRequest(content, m.Signal, r.RequestBytes, func(request []byte, n int) error {
		records += int64(n)
		return r.request(ctx, request, records-int64(n)+1, n)
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
