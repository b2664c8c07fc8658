package encode

import (
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/s3window/s3window/internal/encode/otlp"
)

// panicError is a panic of the encoder over the entries that it was given.
type panicError struct {
	where string // the function and its line
	value any
}

func (p *panicError) Error() string {
	return fmt.Sprintf("the encoder panicked in %s: %v", p.where, p.value)
}

func panicked(err error) bool { return errors.As(err, new(*panicError)) }

// refused says that an error is about the entries: they are malformed, or the
// encoder panics over them.
func refused(err error) bool { return errors.Is(err, otlp.ErrMalformed) || panicked(err) }

// attempt encodes entries and files them, all of them or none.
func (e *Encoder) attempt(entries []Entry) (Staged, error) {
	return e.guarded(entries, func() (Staged, error) {
		for _, x := range entries {
			if len(x.Payload) > maxPayload {
				return Staged{}, fmt.Errorf("%w: the entry has %d bytes, more than %d", otlp.ErrMalformed, len(x.Payload), maxPayload)
			}
		}
		return e.format.Stage(entries)
	})
}

// check tells whether each record of entries can be encoded: it is the cheaper
// part of attempt, which may refuse them all the same.
func (e *Encoder) check(entries []Entry) error {
	_, err := e.guarded(entries, func() (Staged, error) {
		return Staged{}, e.base.Check(entries)
	})
	return err
}

// guarded turns a panic of f into an error. The memory that the encoder worked
// in is not used again then: f gives nothing back in a defer.
func (e *Encoder) guarded(entries []Entry, f func() (Staged, error)) (out Staged, err error) {
	defer func() {
		if p := recover(); p != nil {
			out, err = Staged{}, &panicError{panicOrigin(), p}
		}
	}()
	out, err = f()
	if e.onAttempt != nil {
		e.onAttempt(entries)
	}
	return out, err
}

// panicOrigin returns the function that panicked, and its line. It is called
// by the deferred function that recovers.
func panicOrigin() string {
	var pcs [32]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])])
	for {
		f, more := frames.Next()
		if !strings.HasPrefix(f.Function, "runtime.") {
			return fmt.Sprintf("%s:%d", f.Function[strings.LastIndexByte(f.Function, '/')+1:], f.Line)
		}
		if !more {
			return "the runtime"
		}
	}
}
