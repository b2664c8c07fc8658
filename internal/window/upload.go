package window

import (
	"context"
	"errors"
	"fmt"

	"github.com/s3window/s3window/internal/encode"
	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/partition"
)

// errTooLarge says that a window does not fit the memory when it is read back.
var errTooLarge = errors.New("window does not fit the memory limit")

// takenError says that the bucket has another object under the window's key.
type takenError struct {
	key         string
	there, ours int64 // records
}

func (e *takenError) Error() string {
	return fmt.Sprintf("put object %q: it is there with %d records, the window has %d: another version of this program wrote it",
		e.key, e.there, e.ours)
}

// upload does the steps of a flush that need no lease: seal, encode, upload.
// Each may be repeated; a repeated one finds what the earlier left. It returns
// the name of the step that went wrong. With probe it asks the lake before it
// reads a window back from the WAL for it.
func (r *Runtime) upload(ctx context.Context, w *sealedWindow, probe bool) (op string, err error) {
	// Not ctx: a seal whose write is given up may become durable all the same,
	// and nobody would know its number.
	if err := r.putSeal(r.ctx, w); err != nil {
		return "seal", err
	}
	r.opt.Step("after_seal")
	if probe && w.cold() {
		if _, err := w.dest.log.Read(ctx); err != nil {
			return "upload", fmt.Errorf("ask the lake before the window is read back: %w", err)
		}
	}
	obj, err := r.encode(ctx, w)
	if err != nil {
		return "encode", err
	}
	if err := r.quarantine(ctx, w); err != nil {
		return "upload", err
	}
	if obj.Records > 0 {
		if err := r.putObject(ctx, w, obj); err != nil {
			return "upload", err
		}
	}
	r.opt.Step("after_upload")
	r.letGo(w)
	return "", nil
}

// putSeal makes the window's bounds durable before anything of it is written
// to the bucket.
//
// Crash before this: the entries are in the WAL, and may be cut into windows
// otherwise. Crash after it: the next process rebuilds this window and no other.
func (r *Runtime) putSeal(ctx context.Context, w *sealedWindow) error {
	if w.sealed {
		return nil
	}
	b, err := w.seal.encode()
	if err != nil {
		return err
	}
	w.sealID, err = r.opt.Queue.PutSeal(ctx, b)
	w.sealed = err == nil
	return err
}

// putObject puts the window's object under its key.
//
// Crash before this: the bucket has nothing of it, or an earlier attempt's.
// Crash after it: the next process on this WAL finds it there and goes on.
func (r *Runtime) putObject(ctx context.Context, w *sealedWindow, obj encode.Object) error {
	k := partition.ObjectKey(w.Lake.Prefix, w.id(), w.Align, partition.ObjectName{
		Start: w.Start, End: w.End, Writer: w.Writer, Ext: obj.Ext,
	})
	body := lake.Body{Segments: obj.Segments, Size: obj.Size, SHA256: obj.SHA256, ContentType: obj.ContentType}
	put, err := w.dest.lake.PutObject(ctx, k, body, lake.ObjectMeta{
		Records: obj.Records, MinTime: obj.MinTime, MaxTime: obj.MaxTime, Encoder: obj.Encoder,
	})
	if err != nil {
		return err
	}
	// More is there than the window has: the WAL lost entries since an earlier
	// attempt put them. They are in the bucket, so they are committed.
	if put.Records < obj.Records {
		return &takenError{key: k, there: put.Records, ours: obj.Records}
	}
	res := &w.result
	res.objects = append(res.objects, put)
	res.records, res.bytes = put.Records, put.Bytes
	res.minTime, res.maxTime = put.MinTime, put.MaxTime
	return nil
}

// letGo frees what the window holds beyond its references: it is in the bucket.
func (r *Runtime) letGo(w *sealedWindow) {
	for _, u := range w.units {
		r.budget.release(u.cool())
	}
}
