package sealed

import (
	"context"
	"encoding/hex"
	"fmt"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/s3window/s3window/internal/encode"
	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/partition"
)

// maxPuts is how many directories of a window are uploaded at once.
const maxPuts = 4

// Taken says that the bucket has another object under a key of the window. Its
// bounds are decided again, so that it gets another key.
type Taken struct {
	Key         string
	There, Ours int64 // records
}

func (e *Taken) Error() string {
	return fmt.Sprintf("put object %q: another with %d records is there, this one has %d: another version of this program wrote it, "+
		"or the queue lost records since", e.Key, e.There, e.Ours)
}

// put puts the objects of every directory that the window's rows go to. After
// an error no more are begun, but those that are on their way come to an end:
// another attempt finds them there.
func (f *Flusher) put(ctx context.Context, d *Durable, plan *encode.Plan, r *Result) error {
	puts := make([][]lake.Object, plan.Len())
	var group errgroup.Group
	group.SetLimit(maxPuts)
	var failed atomic.Bool
	var joined error
	for i := 0; i < len(puts) && !failed.Load(); i++ {
		var objects []encode.Object
		if objects, joined = f.join(ctx, d, plan, i); joined != nil {
			break
		}
		group.Go(func() (err error) {
			p := putter{d: d, only: len(puts) == 1, refiled: r.Refiled+r.Small > 0}
			if puts[i], err = p.all(ctx, objects); err != nil {
				failed.Store(true)
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		d.To.Log.Doubt()
		return at(Upload, err)
	}
	if joined != nil {
		return at(Encode, joined)
	}
	for _, objects := range puts {
		for _, o := range objects {
			r.add(o)
		}
	}
	return nil
}

// join returns the objects of a directory when a place to encode is free.
func (f *Flusher) join(ctx context.Context, d *Durable, plan *encode.Plan, i int) ([]encode.Object, error) {
	leave, err := enter(ctx, f.slots)
	if err != nil {
		return nil, err
	}
	defer leave()
	return plan.Objects(i, d.ID(), d.Writer)
}

// putter puts the objects of one directory. only says that the window has no
// other, refiled that records had to leave theirs.
type putter struct {
	d             *Durable
	only, refiled bool
}

func (p putter) all(ctx context.Context, objects []encode.Object) ([]lake.Object, error) {
	put := make([]lake.Object, len(objects))
	var err error
	for i, o := range objects {
		if put[i], err = p.one(ctx, o); err != nil {
			return nil, err
		}
	}
	return put, nil
}

// one puts an object of the window under its key.
//
// Crash before this: the bucket has nothing of it, or an earlier attempt's.
// Crash after it: the next process on this queue finds it there and goes on.
func (p putter) one(ctx context.Context, o encode.Object) (lake.Object, error) {
	d := p.d
	key := partition.PlacedKey(d.Seal.Lake.Prefix, d.ID(), o.Place, partition.ObjectName{
		Start: d.Start, End: d.End, Writer: d.Writer, Part: o.Part, Ext: o.Ext,
	})
	if put, ok := d.had(key); ok && put.SHA256 == hex.EncodeToString(o.SHA256[:]) {
		return put, nil // by an earlier attempt of this process
	}
	body := lake.Body{Segments: o.Segments, Size: o.Size, SHA256: o.SHA256, ContentType: o.ContentType}
	put, err := d.To.Lake.PutObject(ctx, key, body, lake.ObjectMeta{
		Records: o.Records, MinTime: o.MinTime, MaxTime: o.MaxTime, Encoder: o.Encoder,
	})
	if err != nil {
		return lake.Object{}, err
	}
	if !p.fits(put, o) {
		return lake.Object{}, &Taken{Key: key, There: put.Records, Ours: o.Records}
	}
	d.keep(put)
	return put, nil
}

// fits says whether what the bucket has under an object's key can stand for it:
// whether it has its records and no others that are owed.
//
// The only object of a window may have more records: the queue lost entries
// since an earlier attempt put them. They are in the bucket, so they are
// committed. Of several objects each must have its own rows, or one would have
// those of another, or nobody. The rows of a directory follow from the records,
// so the encoder of another version may have written them. A part must match
// byte for byte: another version may split the window elsewhere, and its part 1
// beside our part 2 could drop or repeat a row group. So must all objects of a
// window whose records were refiled: with entries lost since, other directories
// may be the ones too many.
func (p putter) fits(there lake.Object, ours encode.Object) bool {
	switch {
	case there.SHA256 == hex.EncodeToString(ours.SHA256[:]):
		return true
	case p.refiled || ours.Part > 0:
		return false
	case p.only:
		return there.Records >= ours.Records
	}
	return there.Encoder != ours.Encoder &&
		there.Records == ours.Records && there.MinTime == ours.MinTime && there.MaxTime == ours.MaxTime
}

// add counts an object that is in the bucket.
func (r *Result) add(o lake.Object) {
	if len(r.Objects) == 0 {
		r.MinTime, r.MaxTime = o.MinTime, o.MaxTime
	}
	r.MinTime, r.MaxTime = min(r.MinTime, o.MinTime), max(r.MaxTime, o.MaxTime)
	r.Objects = append(r.Objects, o)
	r.Records += o.Records
	r.Bytes += o.Bytes
}

// had returns the object that an earlier attempt put under key.
func (d *Durable) had(key string) (lake.Object, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	o, ok := d.put[key]
	return o, ok
}

func (d *Durable) keep(o lake.Object) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.put == nil {
		d.put = map[string]lake.Object{}
	}
	d.put[o.Key] = o
}
