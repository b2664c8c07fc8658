package window

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/s3window/s3window/internal/encode"
	"github.com/s3window/s3window/internal/flush"
	"github.com/s3window/s3window/internal/window/memory"
	"github.com/s3window/s3window/internal/window/sealed"
)

// maxHeads is how many partitions have their heads read at once: ten thousand
// connections would serve nobody.
const maxHeads = 64

// Runtime moves the records of one queue into committed windows. Run runs it
// until Shutdown.
type Runtime struct {
	opt     Options
	logger  *zap.Logger
	budget  *memory.Budget
	flusher *sealed.Flusher
	heads   chan struct{} // one per partition whose heads may be read at once
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
	workers  int
	policy   *flush.Policy[key]
	parts    map[key]*part
	backlog  map[key]owed // of partitions that earlier processes left entries of
	writers  []earlier    // that left entries or seals, oldest first
	specs    map[string]encode.Spec
	encoders map[string]*encode.Encoder
	seen     uint64      // highest sequence number that the reader has handed over
	clock    flush.Clock // as of the event that is being handled

	rebuilding []*part // with windows that an earlier process sealed
	passDue    int64   // nothing is to be done for them before
	behind     []*part // with entries that are in the queue only, see laggards
	scanning   *scan   // that is on its way; nil for none
	scans      backoff // of scans that went wrong
	owing      []*part // with sealed windows, see owed

	lines     lines // for the pool
	alarms    alarms
	touched   []*part  // by the stamp that is being taken
	discards  []uint64 // entries to trim: committed before they were read, or dropped
	trimming  bool
	staging   int64 // raw bytes that are being encoded on behalf of the loop
	samples   int   // parts of windows that are being encoded to know their size
	storage   map[sealed.Step]string
	told      string // the last Health
	unhealthy map[*part]struct{}
	draining  bool
}

// New makes a Runtime over what the queue holds. It does no I/O.
func New(opt Options) (*Runtime, error) {
	if err := opt.validate(); err != nil {
		return nil, err
	}
	opt = opt.withDefaults()
	r := &Runtime{
		opt: opt, logger: opt.Logger, heads: make(chan struct{}, maxHeads),
		events: make(chan func()), full: make(chan struct{}, 1),
		stop: make(chan struct{}), done: make(chan struct{}),
		policy: flush.NewPolicy[key](), parts: map[key]*part{}, backlog: map[key]owed{},
		specs: map[string]encode.Spec{}, encoders: map[string]*encode.Encoder{},
		unhealthy: map[*part]struct{}{}, storage: map[sealed.Step]string{},
		passDue: math.MinInt64, alarms: newAlarms(),
	}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	r.flusher = sealed.NewFlusher(sealed.Options{
		Queue: opt.Queue, Encoders: opt.Encoders, Life: r.ctx, Delay: opt.Retry.delay,
		Storage: r.storageAnswered,
		Step:    opt.Step,
	})
	r.share(opt.Memory - reserved(opt.Encoders))
	var err error
	if r.writers, err = readEarlier(opt.Queue, opt.Sink); err != nil {
		return nil, err
	}
	r.takeBacklog()
	return r, r.takeSeals()
}

// storageAnswered implements sealed.Options.Storage.
func (r *Runtime) storageAnswered(step sealed.Step, err error) {
	r.post(func() {
		if err != nil {
			r.storageRetried(step, err)
			return
		}
		r.storageFault(step, nil)
	})
}

// shared returns spec with memory that all specs like it share: thousands of
// windows may wait, each with its own.
func (r *Runtime) shared(spec encode.Spec) encode.Spec {
	name, _ := json.Marshal(spec)
	if known, ok := r.specs[string(name)]; ok {
		return known
	}
	r.specs[string(name)] = spec
	return spec
}

// encoder returns the encoder of spec; windows of one spec share it. It is nil
// if this version cannot encode to spec.
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

// share sets the memory that windows share, bytes.
func (r *Runtime) share(data int64) {
	r.budget = memory.New(data, r.tellFull)
	r.flusher.Memory = r.budget
	// Small windows grow when they are encoded, each by its footer.
	slack := data - r.budget.Usable()
	r.opt.Uploads = int(min(int64(r.opt.Uploads), max(2, slack/growth)))
}

// tellFull wakes the loop because somebody waits for memory.
func (r *Runtime) tellFull() {
	select {
	case r.full <- struct{}{}:
	default:
	}
}

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

// Shutdown seals and commits what is worth it within the grace, gives up the
// rest, which stays in the queue, and returns when Run has. No record may be
// appended to the queue any more, and Run must have been called. If ctx ends
// first the rest is given up at once.
func (r *Runtime) Shutdown(ctx context.Context) error {
	r.once.Do(func() { close(r.stop) })
	select {
	case <-r.done:
		return nil
	case <-ctx.Done():
	}
	r.cancel()
	<-r.done
	return fmt.Errorf("commit open windows: %w: what is left is in the queue and committed by the next start", ctx.Err())
}

// owed is what earlier processes left of a partition.
type owed struct {
	first   int    // its oldest writer, an index of Runtime.writers
	stamp   int64  // of its oldest entry
	last    uint64 // sequence number of its newest entry
	entries int64
}

// takeBacklog notes whose entries earlier processes left, without those that
// the operator wants dropped.
func (r *Runtime) takeBacklog() {
	number := map[string]int{}
	for i, w := range r.writers {
		number[w.id] = i
	}
	for _, b := range r.opt.Queue.Backlog() {
		k := keyOf(b.Tenant, b.Signal)
		i, ok := number[b.Writer]
		if !ok || b.LastStamp < r.opt.Backlog(b.Tenant).DropBefore {
			continue
		}
		o, ok := r.backlog[k]
		if !ok {
			o = owed{first: i, stamp: b.FirstStamp}
		}
		o.first, o.stamp, o.last = min(o.first, i), min(o.stamp, b.FirstStamp), max(o.last, b.Last)
		o.entries += b.Entries
		r.backlog[k] = o
	}
}

// read says that nothing of a partition's backlog is unread.
func (r *Runtime) read(o owed) bool { return r.seen >= o.last }

// now is the time on the queue's clock and how far it is read.
func (r *Runtime) now() flush.Clock {
	return r.at(r.safe())
}

// at is the clock when the queue is read up to safe.
func (r *Runtime) at(safe flush.Point) flush.Clock {
	return flush.Clock{Safe: safe, Now: r.opt.Queue.Now(), Room: r.room()}
}

func (r *Runtime) tickEvery() time.Duration {
	every := r.opt.Tick
	if every == 0 {
		every = r.opt.Limits.MaxAge / 10
	}
	return min(max(every, 20*time.Millisecond), time.Second)
}
