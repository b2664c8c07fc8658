package window

import (
	"context"
	"fmt"

	"github.com/s3window/s3window/internal/encode"
	"github.com/s3window/s3window/internal/partition"
)

// encode encodes the window and says which objects its rows go to. Units that
// are not encoded yet are, those that are not held are read back first, one at
// a time.
func (r *Runtime) encode(ctx context.Context, w *sealedWindow) (*encode.Plan, error) {
	w.result = upload{}
	if w.encoder == nil {
		_, err := encode.New(w.Spec)
		return nil, err
	}
	for _, u := range w.units {
		if !u.hot() {
			continue
		}
		if err := r.stageUnit(ctx, w.encoder, u); err != nil {
			return nil, err
		}
	}
	if err := r.reload(ctx, w); err != nil {
		return nil, err
	}
	staged := make([]encode.Staged, 0, len(w.units))
	for _, u := range w.units {
		w.result.replaced += int64(u.staged.Replaced)
		w.result.skewed += u.staged.Skewed
		if u.staged.Rows > 0 {
			staged = append(staged, u.staged)
		}
	}
	plan := w.encoder.Plan(partition.Place{Time: w.Start, Align: w.Align}, staged)
	w.result.refiled = plan.Refiled
	return plan, nil
}

// slot waits for one of the places in which records are encoded.
func (r *Runtime) slot(ctx context.Context) (leave func(), err error) {
	select {
	case r.slots <- struct{}{}:
		return func() { <-r.slots }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// stageUnit encodes a unit that is held when a place for that is free.
func (r *Runtime) stageUnit(ctx context.Context, enc *encode.Encoder, u *unit) error {
	leave, err := r.slot(ctx)
	if err != nil {
		return err
	}
	defer leave()
	return u.encode(enc, r.budget)
}

// reload reads the window's cold units back from the WAL and encodes them. One
// window at a time does from its first cold unit to its last, and is served
// memory before the reader, so that it always comes to an end: two that hold a
// half each would wait for each other.
func (r *Runtime) reload(ctx context.Context, w *sealedWindow) error {
	if !w.cold() {
		return nil
	}
	select {
	case r.loads <- struct{}{}:
	default:
		// Who waits for its turn holds nothing: whose turn it is may need it all.
		for _, u := range w.units {
			r.budget.release(u.cool())
		}
		select {
		case r.loads <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	defer func() { <-r.loads }()
	for _, u := range w.units {
		if u.encoded {
			continue
		}
		if held, raw := w.heldNow(); held > 0 && held+u.cost() > r.budget.room() {
			w.ratio = float64(held) / float64(max(raw, 1))
			return fmt.Errorf("read window back: %w", errTooLarge)
		}
		if err := r.load(ctx, u); err != nil {
			return fmt.Errorf("read window back: %w", err)
		}
		if err := r.stageUnit(ctx, w.encoder, u); err != nil {
			return err
		}
	}
	return nil
}

// load reads one cold unit back from the WAL.
func (r *Runtime) load(ctx context.Context, u *unit) error {
	if err := r.budget.acquire(ctx, share{data: u.cost()}, true); err != nil {
		return err
	}
	u.held = u.cost()
	seqs := make([]uint64, len(u.refs))
	for i, f := range u.refs {
		seqs[i] = f.seq
	}
	entries, err := r.opt.Queue.Reread(ctx, seqs)
	if err != nil {
		r.budget.release(u.cool())
		return err
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

// cold says that a part of the window has to be read back from the WAL.
func (w *sealedWindow) cold() bool {
	for _, u := range w.units {
		if !u.encoded && !u.hot() {
			return true
		}
	}
	return false
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
