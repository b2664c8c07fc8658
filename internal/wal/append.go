package wal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"
	"time"

	"go.opentelemetry.io/collector/extension/xextension/storage"
)

// request is one Append on its way through the committer.
type request struct {
	entries []Entry // payloads alias the frames
	frames  [][]byte
	weights weights
	done    chan error
}

// Append writes the records of one request: all of them or none. When it
// returns nil they are durable, in the order of recs, with nothing between.
//
// ErrTooLarge and ErrInvalid refuse the request for good; ErrFull,
// storage.ErrStorageFull, ErrClosed and an error of ctx before the storage was
// asked leave nothing behind. When the storage gave an error the request is
// removed again with the next write that succeeds: it is not delivered by this
// process, but may be replayed if the process dies before that. ErrUnknown
// is returned when ctx ends while the storage is at work: the request then
// counts if the storage succeeds.
func (w *WAL) Append(ctx context.Context, recs ...Record) error {
	if len(recs) == 0 {
		return nil
	}
	weights, err := weigh(recs)
	if err != nil {
		return fmt.Errorf("append: %w", err)
	}
	if err := w.room.take(ctx, w.opts.Sizer.of(weights)); err != nil {
		return fmt.Errorf("append %d bytes: %w", weights.bytes, err)
	}
	return w.submit(ctx, newRequest(recs, weights))
}

// Wait says whether Append waits for room from now on, as Options.BlockOnOverflow
// does at the start. Turned off it also refuses those who wait, with ErrFull.
func (w *WAL) Wait(on bool) { w.room.wait(on) }

// submit hands a request to the committer and awaits its outcome.
func (w *WAL) submit(ctx context.Context, req *request) error {
	if err := w.enqueue(req); err != nil {
		w.release(req)
		return fmt.Errorf("append %d bytes: %w", req.weights.bytes, err)
	}
	select {
	case err := <-req.done:
		return wrapAppend(req, err)
	case <-ctx.Done():
	}
	if w.withdraw(req) {
		w.release(req)
		return fmt.Errorf("append %d bytes: %w", req.weights.bytes, ctx.Err())
	}
	select {
	case err := <-req.done:
		return wrapAppend(req, err)
	default:
		return fmt.Errorf("append %d bytes: %w: %w", req.weights.bytes, ErrUnknown, ctx.Err())
	}
}

func wrapAppend(req *request, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("append %d bytes: %w", req.weights.bytes, err)
}

func weigh(recs []Record) (weights, error) {
	total := weights{requests: 1}
	for i := range recs {
		if err := recs[i].validate(); err != nil {
			return weights{}, err
		}
		total.bytes += frameSize(&recs[i])
		total.items += int64(recs[i].Items)
	}
	return total, nil
}

func newRequest(recs []Record, weights weights) *request {
	req := &request{
		entries: make([]Entry, len(recs)),
		frames:  make([][]byte, len(recs)),
		weights: weights,
		done:    make(chan error, 1),
	}
	for i := range recs {
		rec := &recs[i]
		f := newFrame(rec, i == 0)
		req.frames[i] = f
		req.entries[i] = Entry{
			Tenant: rec.Tenant, Signal: rec.Signal, Items: rec.Items,
			Payload: f[len(f)-len(rec.Payload) : len(f) : len(f)],
		}
	}
	return req
}

func (w *WAL) enqueue(req *request) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return ErrClosed
	}
	if err := w.fullLocked(); err != nil {
		return err
	}
	w.pending = append(w.pending, req)
	w.poke()
	return nil
}

// fullLocked refuses while the storage was full a moment ago: a write that is
// refused for want of space costs half a second on a large bbolt file.
func (w *WAL) fullLocked() error {
	if left := time.Until(w.fullUntil); left > 0 {
		return fmt.Errorf("%w (next try in %v)", storage.ErrStorageFull, left.Round(time.Millisecond))
	}
	return nil
}

// withdraw takes a request back that the committer has not taken yet.
func (w *WAL) withdraw(req *request) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.Index(w.pending, req)
	if i < 0 {
		return false
	}
	w.pending = slices.Delete(w.pending, i, i+1)
	return true
}

func (w *WAL) release(req *request) { w.room.give(w.opts.Sizer.of(req.weights)) }

// failPending fails what the committer will not come to any more.
func (w *WAL) failPending() {
	w.mu.Lock()
	reqs, ctls, tickets := w.pending, w.controls, w.trims.tickets
	w.pending, w.controls, w.trims.tickets = nil, nil, nil
	w.mu.Unlock()
	for _, r := range reqs {
		r.done <- ErrClosed
	}
	for _, c := range ctls {
		c.done <- ErrClosed
	}
	for _, t := range tickets {
		t.done <- ErrClosed
	}
}

func isFull(err error) bool {
	return errors.Is(err, storage.ErrStorageFull) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
