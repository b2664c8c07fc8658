package window

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/s3window/s3window/internal/encode"
	"github.com/s3window/s3window/internal/flush"
)

// maxCalls is how many partitions talk to their commit logs at once: ten
// thousand connections would serve nobody.
const maxCalls = 64

// Runtime moves the records of one WAL into committed windows. Run runs it
// until Shutdown.
type Runtime struct {
	opt     Options
	logger  *zap.Logger
	budget  *budget
	slots   chan struct{} // one per Stage call that may run
	loads   chan struct{} // one: who reads a cold window back
	heads   chan struct{} // one per partition whose heads may be read at once
	turns   chan struct{} // one per partition that may commit at once
	events  chan func()   // to be done on the loop
	full    chan struct{} // somebody waits for memory
	stop    chan struct{} // closed by Shutdown
	done    chan struct{} // closed when Run returns
	once    sync.Once
	stats   statsBox
	transit transit
	ctx     context.Context // of the goroutines that the loop starts
	cancel  context.CancelFunc

	// Everything below is the loop's alone.
	workers   int
	policy    *flush.Policy[key]
	parts     map[key]*part
	specs     map[string]encode.Spec // by their JSON, as are encoders
	encoders  map[string]*encode.Encoder
	writers   map[string]Origins // earlier writers that left entries or seals
	pinned    []*part            // with windows that an earlier process sealed
	pinsDue   int64              // nothing is to be done for them before
	owing     []*part            // with sealed windows, see owed
	inLine    []*part            // whose windows wait for the pool, in turn
	deferred  []*part            // failing ones that wait for a place of their own
	flights   []*flight
	active    int // windows in the pool
	aside     int // windows that do not go through, beside it
	alarms    alarms
	touched   []*part  // by the group that is being taken
	discards  []uint64 // entries to trim: committed before they were read
	trimming  bool
	staging   int64             // raw bytes that are being encoded on behalf of the loop
	storage   map[string]string // what the WAL's storage says to calls that do not go through
	told      string            // the last Health
	unhealthy map[*part]struct{}
	draining  bool
}

// New makes a Runtime over what the queue holds. It does no I/O.
func New(opt Options) (*Runtime, error) {
	if err := opt.validate(); err != nil {
		return nil, err
	}
	r := &Runtime{
		opt: opt, logger: opt.Logger,
		slots: make(chan struct{}, opt.encoders()), loads: make(chan struct{}, 1),
		heads: make(chan struct{}, maxCalls), turns: make(chan struct{}, maxCalls),
		events: make(chan func()), full: make(chan struct{}, 1),
		stop: make(chan struct{}), done: make(chan struct{}),
		policy: flush.NewPolicy[key](opt.Policy), parts: map[key]*part{},
		specs: map[string]encode.Spec{}, encoders: map[string]*encode.Encoder{},
		writers: map[string]Origins{}, unhealthy: map[*part]struct{}{},
		storage: map[string]string{}, pinsDue: math.MinInt64, alarms: newAlarms(),
	}
	r.budget = newBudget(opt.Memory-opt.reserved(), func() {
		select {
		case r.full <- struct{}{}:
		default:
		}
	})
	r.ctx, r.cancel = context.WithCancel(context.Background())
	if r.opt.Damage == nil {
		r.opt.Damage = &Damage{}
	}
	if r.opt.Step == nil {
		r.opt.Step = func(string) {}
	}
	for writer, info := range opt.Queue.Writers() {
		if writer == opt.Queue.Writer() {
			continue
		}
		if info == nil { // lost: what the configuration says is the best guess
			r.writers[writer] = Origins{Sink: opt.Sink}
			continue
		}
		o, err := decodeOrigins(info)
		if err != nil {
			return nil, fmt.Errorf("read writer %q of the WAL: %w", writer, err)
		}
		r.writers[writer] = o
	}
	return r, r.restorePins()
}

// restorePins gives the seals of earlier processes to their partitions.
func (r *Runtime) restorePins() error {
	for _, s := range r.opt.Queue.Seals() {
		d, err := decodeSeal(s.Value)
		if err != nil {
			return fmt.Errorf("read seal %d of the WAL: %w", s.ID, err)
		}
		d.Spec = r.shared(d.Spec)
		p := r.part(key{d.Tenant, d.Signal})
		p.pins = append(p.pins, &pin{s.ID, d})
	}
	for _, p := range r.parts {
		p.dropTwins()
		p.sortPins()
		r.pinned = append(r.pinned, p)
	}
	slices.SortFunc(r.pinned, func(a, b *part) int {
		return cmp.Or(cmp.Compare(a.pins[0].Start, b.pins[0].Start), cmp.Compare(a.tenant, b.tenant), cmp.Compare(a.signal, b.signal))
	})
	return nil
}

// dropTwins drops seals that reach into a later one. Their write gave an error
// and took effect all the same; nothing was uploaded for them, and the process
// went on with the later one.
func (p *part) dropTwins() {
	slices.SortFunc(p.pins, func(a, b *pin) int { return cmp.Compare(b.id, a.id) })
	kept := p.pins[:0:0]
	for _, q := range p.pins {
		if slices.ContainsFunc(kept, func(k *pin) bool { return k.Writer == q.Writer && k.Start < q.End && q.Start < k.End }) {
			p.drop = append(p.drop, q.id)
			continue
		}
		kept = append(kept, q)
	}
	p.pins = kept
}

func (p *part) sortPins() {
	slices.SortFunc(p.pins, func(a, b *pin) int { return cmp.Compare(a.Start, b.Start) })
}

// part gives the partition under k, made if it is new.
func (r *Runtime) part(k key) *part {
	p, ok := r.parts[k]
	if !ok {
		p = &part{key: k, ratio: startRatio, dests: map[origin]*destination{}}
		r.parts[k] = p
	}
	p.lastUse = time.Now()
	return p
}

// shared gives spec with memory that all specs like it share: thousands of
// windows may wait, each with its own.
func (r *Runtime) shared(spec encode.Spec) encode.Spec {
	name, _ := json.Marshal(spec)
	if known, ok := r.specs[string(name)]; ok {
		return known
	}
	r.specs[string(name)] = spec
	return spec
}

// encoder gives the encoder of spec; windows of one spec share it. It is nil if
// this version cannot encode to spec.
func (r *Runtime) encoder(spec encode.Spec) *encode.Encoder {
	name, _ := json.Marshal(spec)
	if e, ok := r.encoders[string(name)]; ok {
		return e
	}
	e, err := encode.New(spec)
	if err != nil {
		return nil // the upload says why
	}
	r.encoders[string(name)] = e
	return e
}

// size is the object size to seal w at: what is asked for, as far as a window
// of that size fits the memory beside its successor.
func (r *Runtime) size(w *openWindow) int64 { return min(w.target.Limits.TargetSize, r.budget.limit/4) }

// post has f done on the loop. It blocks until the loop takes it.
func (r *Runtime) post(f func()) { r.events <- f }

// work runs job in a goroutine, and then what it returns on the loop. The loop
// does not end before all its workers have.
func (r *Runtime) work(job func(ctx context.Context) func()) {
	r.workers++
	ctx := r.ctx
	go func() {
		then := job(ctx)
		r.post(func() {
			r.workers--
			then()
		})
	}()
}
