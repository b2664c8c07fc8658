package sealed

import (
	"context"
	"errors"
	"fmt"

	"github.com/s3window/s3window/internal/encode"
	"github.com/s3window/s3window/internal/partition"
	"github.com/s3window/s3window/internal/window/memory"
)

// TooLarge says that a window does not fit the memory when it is read back. Its
// bounds are decided again, with the ratio that was seen.
type TooLarge struct {
	Ratio float64 // of encoded to raw size, as far as the flush came
}

func (e *TooLarge) Error() string { return "window does not fit the memory limit" }

// encode encodes the window and says which objects its rows go to. Units that
// are not encoded yet are, those that are not held are read back first, one at
// a time.
func (f *Flusher) encode(ctx context.Context, w *Window, r *Result) (*encode.Plan, error) {
	if w.Encoder == nil {
		_, err := encode.New(w.Spec)
		return nil, err
	}
	for _, u := range w.Units {
		if !u.Hot() {
			continue
		}
		if err := f.stage(ctx, w.Encoder, u); err != nil {
			return nil, err
		}
	}
	if err := f.reload(ctx, w); err != nil {
		return nil, err
	}
	staged := make([]encode.Staged, 0, len(w.Units))
	for _, u := range w.Units {
		r.Replaced += int64(u.rows.Replaced)
		r.Skewed += u.rows.Skewed
		if u.rows.Rows > 0 {
			staged = append(staged, u.rows.Staged)
		}
	}
	plan := w.Encoder.Plan(partition.Place{Time: w.Start, Align: w.Align}, staged)
	r.Refiled, r.Small = plan.Refiled, plan.Small
	return plan, nil
}

// reload reads the window's cold units back from the queue and encodes them.
// One window at a time does from its first cold unit to its last, and is served
// memory before the reader, so that it always comes to an end: two that hold a
// half each would wait for each other.
func (f *Flusher) reload(ctx context.Context, w *Window) error {
	if !w.cold() {
		return nil
	}
	select {
	case f.loads <- struct{}{}:
	default:
		// Who waits for its turn holds nothing: whose turn it is may need it all.
		for _, u := range w.Units {
			u.drop()
		}
		select {
		case f.loads <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	defer func() { <-f.loads }()
	for _, u := range w.Units {
		if u.rows != nil {
			continue
		}
		if held, raw := w.Held(); held > 0 && held+u.cost() > f.Memory.Room() {
			return fmt.Errorf("read window back: %w", &TooLarge{Ratio: float64(held) / float64(max(raw, 1))})
		}
		if err := f.load(ctx, u); err != nil {
			return fmt.Errorf("read window back: %w", err)
		}
		if err := f.stage(ctx, w.Encoder, u); err != nil {
			return err
		}
	}
	return nil
}

// load reads one cold unit back from the queue.
func (f *Flusher) load(ctx context.Context, u *Unit) (err error) {
	if u.data, err = f.Memory.Acquire(ctx, u.cost(), 0, memory.Load); err != nil {
		return err
	}
	seqs := make([]uint64, len(u.refs))
	for i, r := range u.refs {
		seqs[i] = r.Seq
	}
	entries, err := f.Queue.Reread(ctx, seqs)
	if err != nil {
		u.drop()
		return err
	}
	u.payloads = make([][]byte, len(u.refs))
	i := 0
	for _, e := range entries {
		for u.refs[i].Seq != e.Seq {
			i++
		}
		u.payloads[i] = e.Payload
		if e.Payload == nil {
			u.payloads[i] = []byte{}
		}
	}
	return nil
}

// IsTooLarge returns the ratio that a TooLarge in err carries.
func IsTooLarge(err error) (ratio float64, ok bool) {
	var large *TooLarge
	if !errors.As(err, &large) {
		return 0, false
	}
	return large.Ratio, true
}
