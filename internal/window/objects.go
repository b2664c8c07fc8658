package window

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

// maxPuts is how many places of a window are uploaded at once.
const maxPuts = 4

// takenError says that the bucket has another object under a key of the window.
type takenError struct {
	key         string
	there, ours int64 // records
}

func (e *takenError) Error() string {
	return fmt.Sprintf("put object %q: another with %d records is there, this one has %d: another version of this program wrote it, "+
		"or the queue lost records since", e.key, e.there, e.ours)
}

// putObjects puts the objects of every place that the window's rows go to. It
// returns the name of the step that went wrong. Then no more are begun, but
// those that are on their way come to an end: another attempt finds them there.
func (r *Runtime) putObjects(ctx context.Context, w *sealedWindow, plan *encode.Plan) (op string, err error) {
	places := make([][]lake.Object, plan.Len())
	var group errgroup.Group
	group.SetLimit(maxPuts)
	var failed atomic.Bool
	for i := 0; i < len(places) && !failed.Load(); i++ {
		var objects []encode.Object
		if objects, err = r.join(ctx, w, plan, i); err != nil {
			break
		}
		group.Go(func() (err error) {
			if places[i], err = r.putPlace(ctx, w, objects, len(places) == 1); err != nil {
				failed.Store(true)
			}
			return err
		})
	}
	if e := group.Wait(); e != nil {
		return "upload", e
	}
	if err != nil {
		return "encode", err
	}
	for _, objects := range places {
		for _, o := range objects {
			w.result.add(o)
		}
	}
	return "", nil
}

// putPlace puts the objects of a place. only says that the window has no other
// place.
func (r *Runtime) putPlace(ctx context.Context, w *sealedWindow, objects []encode.Object, only bool) ([]lake.Object, error) {
	put := make([]lake.Object, len(objects))
	var err error
	for i, o := range objects {
		if put[i], err = r.putObject(ctx, w, o, only); err != nil {
			return nil, err
		}
	}
	return put, nil
}

// join gives the objects of a place when a place to encode is free.
func (r *Runtime) join(ctx context.Context, w *sealedWindow, plan *encode.Plan, i int) ([]encode.Object, error) {
	leave, err := r.slot(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	return plan.Objects(i, w.id(), w.Writer)
}

// putObject puts an object of the window under its key. only says that the
// window has no other place.
//
// Crash before this: the bucket has nothing of it, or an earlier attempt's.
// Crash after it: the next process on this WAL finds it there and goes on.
func (r *Runtime) putObject(ctx context.Context, w *sealedWindow, o encode.Object, only bool) (lake.Object, error) {
	key := partition.PlacedKey(w.Lake.Prefix, w.id(), o.Place, partition.ObjectName{
		Start: w.Start, End: w.End, Writer: w.Writer, Part: o.Part, Ext: o.Ext,
	})
	if put, ok := w.had(key); ok && put.SHA256 == hex.EncodeToString(o.SHA256[:]) {
		return put, nil // by an earlier attempt of this process
	}
	body := lake.Body{Segments: o.Segments, Size: o.Size, SHA256: o.SHA256, ContentType: o.ContentType}
	put, err := w.dest.lake.PutObject(ctx, key, body, lake.ObjectMeta{
		Records: o.Records, MinTime: o.MinTime, MaxTime: o.MaxTime, Encoder: o.Encoder,
	})
	if err != nil {
		return lake.Object{}, err
	}
	if !fits(put, o, only, w.result.refiled > 0) {
		return lake.Object{}, &takenError{key: key, there: put.Records, ours: o.Records}
	}
	w.keep(put)
	return put, nil
}

// fits says whether what the bucket has under an object's key can stand for it:
// whether it has its records and no others that are owed. only says that the
// window has no other place, refiled that records had to leave theirs.
//
// The only object of a window may have more records: the WAL lost entries since
// an earlier attempt put them. They are in the bucket, so they are committed. Of
// several objects each must have just its own rows, or one would have those of
// another, or nobody. Those of a place follow from the records, so another version's
// encoder may have written them otherwise. Those of a part follow from how the
// encoder cuts, and where records were refiled, from all that the window has: if
// the WAL lost some of it, other places may be the ones too many.
func fits(there lake.Object, ours encode.Object, only, refiled bool) bool {
	switch {
	case there.SHA256 == hex.EncodeToString(ours.SHA256[:]):
		return true
	case refiled || ours.Part > 0:
		return false
	case only:
		return there.Records >= ours.Records
	}
	return there.Encoder != ours.Encoder &&
		there.Records == ours.Records && there.MinTime == ours.MinTime && there.MaxTime == ours.MaxTime
}

// add counts an object that is in the bucket.
func (u *upload) add(o lake.Object) {
	if len(u.objects) == 0 {
		u.minTime, u.maxTime = o.MinTime, o.MaxTime
	}
	u.minTime, u.maxTime = min(u.minTime, o.MinTime), max(u.maxTime, o.MaxTime)
	u.objects = append(u.objects, o)
	u.records += o.Records
	u.bytes += o.Bytes
}

// had gives the object that an earlier attempt put under key.
func (w *sealedWindow) had(key string) (lake.Object, bool) {
	w.putMu.Lock()
	defer w.putMu.Unlock()
	o, ok := w.put[key]
	return o, ok
}

func (w *sealedWindow) keep(o lake.Object) {
	w.putMu.Lock()
	defer w.putMu.Unlock()
	if w.put == nil {
		w.put = map[string]lake.Object{}
	}
	w.put[o.Key] = o
}
