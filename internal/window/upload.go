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

func isTooLarge(err error) bool { return errors.Is(err, errTooLarge) }

// upload does the steps of a flush that need no lease: seal, encode, upload.
// Each may be repeated; a repeated one finds what the earlier left. It returns
// the name of the step that went wrong.
func (r *Runtime) upload(ctx context.Context, w *sealedWindow) (op string, err error) {
	if err := r.putSeal(ctx, w); err != nil {
		return "seal", err
	}
	r.opt.Step("after_seal")
	obj, err := r.encode(ctx, w)
	if err != nil {
		return "encode", err
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

// encode gives the window's object. Units that are not encoded yet are, those
// that are not held are read back first, one at a time.
func (r *Runtime) encode(ctx context.Context, w *sealedWindow) (encode.Object, error) {
	if w.encoder == nil {
		_, err := encode.New(w.Spec)
		return encode.Object{}, err
	}
	for _, u := range w.units {
		if u.encoded {
			continue
		}
		if !u.hot() {
			if err := r.load(ctx, w, u); err != nil {
				return encode.Object{}, err
			}
		}
		if err := r.stageUnit(ctx, w.encoder, u); err != nil {
			return encode.Object{}, err
		}
	}
	staged := make([]encode.Staged, 0, len(w.units))
	w.result = upload{}
	for _, u := range w.units {
		if err := r.quarantine(ctx, w, u); err != nil {
			return encode.Object{}, err
		}
		w.result.replaced += int64(u.staged.Replaced)
		if u.staged.Rows > 0 {
			staged = append(staged, u.staged)
		}
	}
	if len(staged) == 0 {
		return encode.Object{}, nil
	}
	return w.encoder.Assemble(w.id(), w.Writer, staged)
}

// stageUnit encodes a unit that is held when a place for that is free.
func (r *Runtime) stageUnit(ctx context.Context, enc *encode.Encoder, u *unit) error {
	select {
	case r.slots <- struct{}{}:
		defer func() { <-r.slots }()
	case <-ctx.Done():
		return ctx.Err()
	}
	return u.encode(enc, r.budget)
}

// load reads a cold unit back from the WAL. One window at a time does, and is
// served memory before the reader, so that it always comes to an end.
func (r *Runtime) load(ctx context.Context, w *sealedWindow, u *unit) error {
	select {
	case r.loads <- struct{}{}:
		defer func() { <-r.loads }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if held, raw := w.heldNow(); held+u.raw > r.budget.limit*3/4 {
		w.ratio = float64(held) / float64(max(raw, 1))
		return fmt.Errorf("read window back: %w", errTooLarge)
	}
	if err := r.budget.acquire(ctx, u.raw, true); err != nil {
		return err
	}
	u.held = u.raw
	seqs := make([]uint64, len(u.refs))
	for i, f := range u.refs {
		seqs[i] = f.seq
	}
	entries, err := r.opt.Queue.Reread(ctx, seqs)
	if err != nil {
		r.budget.release(u.cool())
		return fmt.Errorf("read window back: %w", err)
	}
	u.payloads = make([][]byte, len(u.refs))
	at := 0
	for _, e := range entries {
		for u.refs[at].seq != e.Seq {
			at++
		}
		u.payloads[at] = e.Payload
		if e.Payload == nil {
			u.payloads[at] = []byte{}
		}
	}
	return nil
}

// heldNow is what the window's units hold, and the raw size of those that are
// encoded.
func (w *sealedWindow) heldNow() (held, encodedRaw int64) {
	for _, u := range w.units {
		held += u.held
		if u.encoded {
			encodedRaw += u.raw
		}
	}
	return held, encodedRaw
}

// quarantine keeps the entries of a unit that do not decode in the bucket and
// names them in the window, which goes on without them.
//
// Crash before this: they are found again by the same window. Crash after it:
// the same bytes are put under the same key again.
func (r *Runtime) quarantine(ctx context.Context, w *sealedWindow, u *unit) error {
	for _, x := range u.rejected {
		e := lake.Entry{Writer: w.Writer, Stamp: x.stamp, Seq: x.seq}
		lost := lake.Lost{Writer: w.Writer, Stamp: x.stamp, Seq: x.seq, Records: int64(x.items), Reason: x.err.Error()}
		if x.payload != nil {
			k, err := w.dest.lake.Quarantine(ctx, w.id(), e, x.payload)
			if err != nil {
				return fmt.Errorf("quarantine entry: %w", err)
			}
			lost.Key = k
		}
		w.result.lost = append(w.result.lost, lost)
	}
	return nil
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
	if put.Records != obj.Records {
		return fmt.Errorf("put object %q: it is there with %d records, the window has %d: "+
			"the WAL lost entries since it was written, or another program wrote it", k, put.Records, obj.Records)
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
