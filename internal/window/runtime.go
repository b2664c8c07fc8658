package window

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/s3window/s3window/internal/encode"
	"github.com/s3window/s3window/internal/flush"
	"github.com/s3window/s3window/internal/lake"
)

// Runtime moves the records of one WAL into committed windows. Run runs it
// until Shutdown.
type Runtime struct {
	opt     Options
	logger  *zap.Logger
	budget  *budget
	slots   chan struct{} // one per Stage call that may run
	loads   chan struct{} // one: who reads a cold window back
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
	lakes     map[lake.Ref]*lake.Lake
	encoders  map[string]*encode.Encoder
	writers   map[string]Origins // earlier writers that left entries or seals
	pinned    []*part            // with windows that an earlier process sealed
	inLine    []*part            // whose windows wait for the pool, in turn
	deferred  []*part            // failing ones that wait for a slot of their own
	active    int                // windows in the pool
	failing   int                // of them, those of failing partitions
	touched   []*part            // by the group that is being taken
	discards  []uint64           // entries to trim: committed before they were read
	trimming  bool
	staging   int64  // raw bytes that are being encoded on behalf of the loop
	storage   string // what the WAL's storage says if it does not answer
	told      string // the last Health
	unhealthy map[*part]struct{}
	succeeded time.Time // of the last commit
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
		events: make(chan func()), full: make(chan struct{}, 1),
		stop: make(chan struct{}), done: make(chan struct{}),
		policy: flush.NewPolicy[key](opt.Policy), parts: map[key]*part{},
		lakes: map[lake.Ref]*lake.Lake{}, encoders: map[string]*encode.Encoder{},
		writers: map[string]Origins{}, unhealthy: map[*part]struct{}{}, succeeded: time.Now(),
	}
	r.budget = newBudget(opt.Memory-opt.reserved(), func() {
		select {
		case r.full <- struct{}{}:
		default:
		}
	})
	r.ctx, r.cancel = context.WithCancel(context.Background())
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
		p := r.part(key{d.Tenant, d.Signal})
		p.pins = append(p.pins, &pin{s.ID, d})
	}
	for _, p := range r.parts {
		p.sortPins()
		r.pinned = append(r.pinned, p)
	}
	slices.SortFunc(r.pinned, func(a, b *part) int { return cmp.Compare(a.pins[0].Start, b.pins[0].Start) })
	return nil
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

// target is the object size to seal at: what is asked for, as far as a window
// of that size fits the memory beside its successor.
func (r *Runtime) target() int64 { return min(r.opt.Policy.TargetSize, r.budget.limit/4) }

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
