package sealed

import (
	"context"
	"fmt"
	"time"

	"github.com/s3window/s3window/internal/encode"
	"github.com/s3window/s3window/internal/window/memory"
)

// maxTurns is how many partitions commit at once: each commit costs a handful
// of requests, and ten thousand partitions may come together.
const maxTurns = 64

// Options are what a Flusher is made of. All fields are required.
type Options struct {
	Queue    Queue
	Memory   *memory.Budget
	Encoders int // Stage calls that run at once
	// Life is the process's: a seal that is being written is not given up before.
	Life context.Context
	// Delay is the pause after the given number of attempts that went wrong.
	Delay func(tries int) time.Duration
	// Storage is told what the queue's storage says to a step that is repeated
	// until it goes through, and nil when it does. It is called in the goroutine
	// at work.
	Storage func(step Step, err error)
	Step    func(label string) // called with "window:upload" and "window:upload done"
}

// Flusher does the steps of flushes. It is safe for concurrent use.
type Flusher struct {
	Options
	slots chan struct{} // one per Stage call that may run
	loads chan struct{} // one: who reads a cold window back
	turns chan struct{} // one per partition that may commit at once
}

// NewFlusher returns a Flusher. It does no I/O.
func NewFlusher(o Options) *Flusher {
	return &Flusher{
		Options: o, slots: make(chan struct{}, o.Encoders), loads: make(chan struct{}, 1), turns: make(chan struct{}, maxTurns),
	}
}

// Seal makes the window's bounds durable, before anything of it is written to
// the bucket. An error says that the seal may exist or not: the same window is
// sealed again, or another that takes its place.
//
// Crash before this: the entries are in the queue, and may be cut into windows
// otherwise. Crash after it: the next process rebuilds this window and no other.
func (f *Flusher) Seal(w *Window) (*Durable, error) {
	b, err := w.Seal.Encode()
	if err != nil {
		return nil, at(PutSeal, err)
	}
	// Not the flush's own context: a seal whose write is given up may become
	// durable all the same, and nobody would know its number.
	id, err := f.Queue.PutSeal(f.Life, b)
	if err != nil {
		return nil, at(PutSeal, err)
	}
	return &Durable{Window: w, SealID: id}, nil
}

// Upload encodes the window and puts its objects. With probe it asks the lake
// before it reads a window back from the queue for it: an outage is no reason
// to read the queue over and over.
//
// Crash before this, or in its middle: the next process uploads what is
// missing. Crash after it: it finds the objects there and goes on.
func (f *Flusher) Upload(ctx context.Context, d *Durable, probe bool) (*Uploaded, error) {
	f.Step("window:upload")
	if probe && d.cold() {
		if _, err := d.To.Log.Read(ctx); err != nil {
			return nil, at(Upload, fmt.Errorf("ask the lake before the window is read back: %w", err))
		}
	}
	var r Result
	plan, err := f.encode(ctx, d.Window, &r)
	if err != nil {
		return nil, at(Encode, err)
	}
	if err := f.quarantine(ctx, d, &r); err != nil {
		return nil, at(Upload, err)
	}
	if err := f.put(ctx, d, plan, &r); err != nil {
		return nil, err
	}
	f.Step("window:upload done")
	for _, u := range d.Units {
		u.drop() // it is in the bucket
	}
	return &Uploaded{Durable: d, Result: r, At: time.Now()}, nil
}

// Persist repeats a call to the queue's storage until it goes through or ctx
// ends.
func (f *Flusher) Persist(ctx context.Context, step Step, call func() error) error {
	for tries := 0; ; tries++ {
		err := call()
		if err == nil && tries > 0 {
			f.Storage(step, nil)
		}
		if err == nil || ctx.Err() != nil {
			return err
		}
		f.Storage(step, err)
		if !Pause(ctx, f.Delay(tries)) {
			return err
		}
	}
}

// Pause waits for d; false if ctx ended.
func Pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// stage encodes a hot unit when a place for that is free.
func (f *Flusher) stage(ctx context.Context, enc *encode.Encoder, u *Unit) error {
	leave, err := enter(ctx, f.slots)
	if err != nil {
		return err
	}
	defer leave()
	return u.encode(enc)
}

// Measure returns the size of entries when they are encoded together, and keeps
// nothing of them.
func (f *Flusher) Measure(ctx context.Context, enc *encode.Encoder, entries []encode.Entry) (int64, error) {
	leave, err := enter(ctx, f.slots)
	if err != nil {
		return 0, err
	}
	defer leave()
	staged, err := enc.Stage(entries)
	return staged.Size, err
}

// Staging returns a job that encodes a hot unit in a goroutine, and then returns
// what is to be done in the caller's: done is told how it ended. Nobody touches
// the unit until then.
func (f *Flusher) Staging(enc *encode.Encoder, u *Unit, done func(err error)) func(ctx context.Context) func() {
	u.atStart, u.busy = u.Held(), true
	return func(ctx context.Context) func() {
		err := f.stage(ctx, enc, u)
		return func() {
			u.busy = false
			done(err)
		}
	}
}

// enter waits for one of the places that room has.
func enter(ctx context.Context, room chan struct{}) (leave func(), err error) {
	select {
	case room <- struct{}{}:
		return func() { <-room }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
