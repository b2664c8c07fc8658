package window

import (
	"context"
	"errors"
	"fmt"
)

// errTooLarge says that a window does not fit the memory when it is read back.
var errTooLarge = errors.New("window does not fit the memory limit")

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
	plan, err := r.encode(ctx, w)
	if err != nil {
		return "encode", err
	}
	if err := r.quarantine(ctx, w); err != nil {
		return "upload", err
	}
	if op, err := r.putObjects(ctx, w, plan); err != nil {
		return op, err
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

// letGo frees what the window holds beyond its references: it is in the bucket.
func (r *Runtime) letGo(w *sealedWindow) {
	for _, u := range w.units {
		r.budget.release(u.cool())
	}
}
