package commit

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/s3window/s3window/extension/leaseextension/lease"
	"github.com/s3window/s3window/internal/lake/laketest"
)

// The model's scales, in simulated time. Those that a process waits for are odd:
// no sum of them is another one, so that no two events of a run coincide whose
// order the scheduler would decide.
const (
	modelTTL     = 30 * time.Second
	modelTimeout = 13_011_017 * time.Microsecond
	bucketLimit  = 12_007_013 * time.Microsecond // of a request
	kvLimit      = 6_101_003 * time.Microsecond

	modelFault = 600 * time.Second  // until then the world is hostile
	modelCalm  = 850 * time.Second  // from then on every late message has arrived
	modelEnd   = 4000 * time.Second // whoever owes anything now is stuck
)

var (
	errDead     = errors.New("the process is dead")
	errNoAnswer = errors.New("no answer")
)

// scenario says what goes wrong in a run, and which rule is broken on purpose.
type scenario struct {
	crash, pause, loss, late             bool // processes die and stall; messages are lost, doubled, late
	never                                bool // some crashed replicas do not come back
	copyWAL, restoreWAL                  bool
	deleteHead, rollHead, reuseRevisions bool
	clock, encoder, prune, group         bool
	blindKV                              bool   // the lease store overwrites without comparing
	bucketBack                           bool   // the bucket is set back to an older copy, while nobody runs
	kind                                 kind   // of the fleet: who takes turns
	broken                               string // a mutation of mutations_test.go
}

// kind says which replicas of a fleet take turns on a lease store beside the
// bucket. The others keep the head in the bucket.
type kind int

const (
	anyKind kind = iota // the seed decides
	takesTurns
	takesNone
	mixed
)

func (k kind) String() string {
	return [...]string{"any", "takes turns", "takes none", "mixed"}[k]
}

// register holds what one lease store has.
type register struct {
	records  map[string]lease.Record
	revision int
}

// world is one run: a bucket, a lease store, replicas, and a seed that decides
// everything that happens.
type world struct {
	scenario
	seed    uint64
	born    time.Time
	bucket  *laketest.Memory
	running sync.WaitGroup

	// mu guards everything declared below, and the state of every proc, wal
	// and life. It is never held over a pause.
	mu      sync.Mutex
	stores  map[bool]*register // by whether those who use it take turns
	procs   []*proc
	records int
	acked   map[int]bool
	mayLose map[int]bool
	trimmed map[int]bool
	bad     []string
	stats   modelStats
	trace   []string
	tracing bool
	stopped bool // nobody may start
	skew    time.Duration
}

// modelStats shows that a run was no idle one.
type modelStats struct {
	Windows, Records, Overlaps, Crashes, Lists, Swept, Scans, Takeovers, Turns, Leaps int
}

func (s *modelStats) add(o modelStats) {
	s.Windows += o.Windows
	s.Records += o.Records
	s.Overlaps += o.Overlaps
	s.Crashes += o.Crashes
	s.Lists += o.Lists
	s.Turns += o.Turns
	s.Leaps += o.Leaps
	s.Swept += o.Swept
	s.Scans += o.Scans
	s.Takeovers += o.Takeovers
}

// rng gives a source that depends on the seed and the labels alone, so that
// the order in which goroutines ask for it decides nothing.
func (w *world) rng(labels ...any) *rand.Rand {
	h := fnv.New64a()
	fmt.Fprint(h, labels...)
	return rand.New(rand.NewPCG(w.seed, h.Sum64()))
}

func (w *world) now() time.Duration { return time.Since(w.born) }
func (w *world) hostile() bool      { return w.now() < modelFault }

func (w *world) logf(format string, args ...any) {
	if !w.tracing {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.trace = append(w.trace, fmt.Sprintf("%8.3f ", w.now().Seconds())+fmt.Sprintf(format, args...))
}

func (w *world) complain(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if s := fmt.Sprintf(format, args...); !slices.Contains(w.bad, s) {
		w.bad = append(w.bad, s)
	}
}

func between(r *rand.Rand, a, b time.Duration) time.Duration {
	return a + time.Duration(r.Int64N(int64(b-a)))
}

// answer is what a server says.
type answer[T any] struct {
	value T
	err   error
}

// fate is what the network does with one call.
type fate struct {
	request, reply      time.Duration
	lostCall, lostReply bool
	again               time.Duration // a second copy arrives that much later; 0 = none
}

func (w *world) fate(r *rand.Rand) fate {
	f := fate{request: between(r, time.Millisecond, 200*time.Millisecond), reply: between(r, time.Millisecond, 200*time.Millisecond)}
	if !w.hostile() {
		return f
	}
	slow := func(max time.Duration) time.Duration { return between(r, 0, max*time.Second) }
	if r.Float64() < 0.12 {
		f.request += slow(6)
	}
	if r.Float64() < 0.12 {
		f.reply += slow(6)
	}
	late := r.Float64() < 0.05
	if w.late && late {
		f.request += 30*time.Second + slow(150)
	}
	lost := [3]bool{r.Float64() < 0.05, r.Float64() < 0.06, r.Float64() < 0.05}
	if w.loss {
		f.lostCall, f.lostReply = lost[0], lost[1]
		if lost[2] {
			f.again = 3*time.Second + slow(10)
		}
	}
	return f
}

// call sends one request of a life to a server and waits for the answer. The
// server may act on it long after the caller gave up or died.
func call[T any](ctx context.Context, x *life, kind, key string, limit time.Duration, serve func() (T, error)) (T, error) {
	var zero T
	w := x.world
	x.gate(kind + key)
	if x.isDead() {
		return zero, errDead
	}
	if ctx.Err() != nil { // nothing is sent, as clients do
		return zero, context.Cause(ctx)
	}
	f := w.fate(x.rng(kind, key))
	answers := make(chan answer[T], 1)
	w.running.Go(func() {
		if f.lostCall {
			return
		}
		time.Sleep(f.request)
		v, err := serve()
		w.logf("%s %s %s -> %v", x.name, kind, key, err)
		if f.again > 0 {
			w.running.Go(func() {
				time.Sleep(f.again)
				_, err := serve()
				w.logf("%s %s %s again -> %v", x.name, kind, key, err)
			})
		}
		if f.lostReply {
			return
		}
		time.Sleep(f.reply)
		answers <- answer[T]{v, err}
	})
	timer := time.NewTimer(limit)
	defer timer.Stop()
	var a answer[T]
	select {
	case a = <-answers:
	case <-ctx.Done():
		a.err = context.Cause(ctx)
	case <-timer.C:
		a.err = errNoAnswer
	}
	x.gate(kind + key)
	if x.isDead() {
		return zero, errDead
	}
	return a.value, a.err
}
