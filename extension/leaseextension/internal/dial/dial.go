// Package dial is about reaching servers: connections that are made when they
// are first needed, and the addresses in backends' configurations.
package dial

import (
	"context"
	"errors"
	"sync"
)

// ErrClosed says that the connection was closed.
var ErrClosed = errors.New("connection is closed")

// Lazy is a connection that is made in the background when it is first needed.
// It is safe for concurrent use.
type Lazy[T any] struct {
	open  func(context.Context) (T, error)
	close func(T) error
	life  context.Context // ends with Close
	end   context.CancelFunc

	// mu guards everything declared below.
	mu      sync.Mutex
	closed  bool
	attempt *attempt[T]
}

type attempt[T any] struct {
	done chan struct{} // closed when the fields below are set
	conn T
	err  error
}

// NewLazy returns a connection that open makes and close ends. open's context
// ends with Close.
func NewLazy[T any](open func(context.Context) (T, error), close func(T) error) *Lazy[T] {
	l := &Lazy[T]{open: open, close: close}
	l.life, l.end = context.WithCancel(context.Background())
	return l
}

// Get returns the connection. Calls that wait for the same attempt return its error; a
// later call makes a new attempt. It returns when ctx ends, and the attempt goes
// on.
func (l *Lazy[T]) Get(ctx context.Context) (conn T, err error) {
	if err := ctx.Err(); err != nil {
		return conn, err
	}
	a, err := l.current()
	if err != nil {
		return conn, err
	}
	select {
	case <-a.done:
		return a.conn, a.err
	case <-ctx.Done():
		return conn, ctx.Err()
	}
}

// current returns the attempt that succeeded or is under way, or starts one.
func (l *Lazy[T]) current() (*attempt[T], error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, ErrClosed
	}
	if l.attempt != nil && !l.attempt.failed() {
		return l.attempt, nil
	}
	a := &attempt[T]{done: make(chan struct{})}
	l.attempt = a
	go func() {
		defer close(a.done)
		a.conn, a.err = l.open(l.life)
	}()
	return a, nil
}

func (a *attempt[T]) failed() bool {
	select {
	case <-a.done:
		return a.err != nil
	default:
		return false
	}
}

// Close ends the connection, and an attempt that is under way, and waits for
// them. Every later Get fails.
func (l *Lazy[T]) Close() error {
	l.mu.Lock()
	a, closed := l.attempt, l.closed
	l.closed = true
	l.mu.Unlock()
	l.end()
	if a == nil || closed {
		return nil
	}
	<-a.done
	if a.err != nil {
		return nil
	}
	return l.close(a.conn)
}
