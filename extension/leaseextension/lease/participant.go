package lease

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"time"
	"unicode/utf8"
)

const (
	// DefaultTTL is the TTL of Options that name none.
	DefaultTTL = 30 * time.Second

	// maxName is the longest lease name, in bytes.
	maxName = 1024

	// shortestPoll is the first pause of a waiter between two reads.
	shortestPoll = 20 * time.Millisecond
)

// Options are the settings of one participant.
type Options struct {
	// Holder names this participant in the records; shown to operators, never
	// compared for safety. Unset: host name and process id.
	Holder string

	// TTL is for how long other participants must see a lease unchanged before
	// they take it over. Unset: DefaultTTL.
	TTL time.Duration

	// Observer is told what happens. Optional.
	Observer Observer

	// Jitter returns a random duration in [0, n) for the pauses between requests.
	// It is called concurrently. Unset: from the process's random source. A
	// simulation sets one that repeats itself.
	Jitter func(n time.Duration) time.Duration
}

// Observer is a set of callbacks, each optional. They are called from the
// goroutine at work and must not block.
type Observer struct {
	// Acquired: a lease was acquired after waiting. takeover says that another
	// holder's lease was replaced.
	Acquired func(waited time.Duration, takeover bool)
	// Lost: a held lease ended in another way than by Release.
	Lost func(cause error)
	// Request: one request to the store ended. op is get or put.
	Request func(op string, took time.Duration, err error)
}

// Participant takes part in the leases of one store. It implements Leases.
type Participant struct {
	store    Store
	holder   string
	ttl      time.Duration
	observer Observer
	jitter   func(n time.Duration) time.Duration
	life     context.Context // ends with Close
	end      context.CancelCauseFunc
	work     sync.WaitGroup // background renewals at work

	// mu guards everything declared below.
	mu     sync.Mutex
	closed bool
	names  map[string]*name
}

// NewParticipant returns a participant in the leases of store. It keeps a small
// entry for every name it ever met. Close ends it.
func NewParticipant(store Store, options Options) *Participant {
	p := &Participant{
		store:    store,
		holder:   options.Holder,
		ttl:      options.TTL,
		observer: options.Observer,
		jitter:   options.Jitter,
		names:    map[string]*name{},
	}
	if p.ttl <= 0 {
		p.ttl = DefaultTTL
	}
	p.ttl = max(p.ttl.Truncate(time.Millisecond), time.Millisecond)
	if p.holder == "" {
		p.holder = defaultHolder()
	}
	if p.jitter == nil {
		p.jitter = rand.N[time.Duration]
	}
	p.life, p.end = context.WithCancelCause(context.Background())
	return p
}

func defaultHolder() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s/%d", host, os.Getpid())
}

// Close ends the context of every lease still held, stops renewing them, waits
// for the requests of renewals under way, and makes every later call fail with
// ErrClosed. It releases nothing: the holder of a lease that was not released may
// still be at work, so other participants wait for the TTL.
func (p *Participant) Close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.end(ErrClosed)
	p.work.Wait()
}

// Read implements Leases.
func (p *Participant) Read(ctx context.Context, name string) ([]byte, error) {
	n, err := p.name(name)
	if err != nil {
		return nil, fmt.Errorf("read lease %q: %w", name, err)
	}
	ctx, cancel := p.bound(ctx)
	defer cancel()
	seen, err := p.look(ctx, n)
	if err != nil {
		return nil, fmt.Errorf("read lease %q: %w", name, err)
	}
	return seen.record.state, nil
}

// bound returns a context that ends with ctx or with the participant.
func (p *Participant) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	if p.life.Err() != nil { // at once: AfterFunc would do it a little later
		cancel(ErrClosed)
	}
	stop := context.AfterFunc(p.life, func() { cancel(ErrClosed) })
	return ctx, func() { stop(); cancel(nil) }
}

// name returns the entry of a lease name.
func (p *Participant) name(key string) (*name, error) {
	switch {
	case key == "":
		return nil, errors.New("name is empty")
	case len(key) > maxName:
		return nil, fmt.Errorf("name has %d bytes, the limit is %d", len(key), maxName)
	case !utf8.ValidString(key):
		return nil, errors.New("name is not valid UTF-8")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, ErrClosed
	}
	n := p.names[key]
	if n == nil {
		n = &name{key: key}
		p.names[key] = n
	}
	return n, nil
}

// startWork registers background work that Close waits for. It reports false
// when the participant is closed.
func (p *Participant) startWork() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.work.Add(1)
	return true
}

// request is how long one request to the store may take before its outcome
// counts as unknown.
func (p *Participant) request() time.Duration { return p.ttl / 3 }

// patience is for how long a store may return only errors before that is the
// caller's error: long enough for two requests that hang.
func (p *Participant) patience() time.Duration { return 2 * p.request() }

// good is for how long a write is good for its holder, counted from before it
// was sent. A waiter counts the whole TTL from after it has read the write; the
// tenth in between is for clocks that run at different rates.
func (p *Participant) good() time.Duration { return p.ttl - p.ttl/10 }

// longestPoll is the longest pause of a waiter between two reads.
func (p *Participant) longestPoll() time.Duration {
	return max(min(time.Second, p.ttl/10), time.Millisecond)
}
