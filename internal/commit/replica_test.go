package commit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/s3window/s3window/extension/leaseextension/lease"
	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/lake/laketest"
	"github.com/s3window/s3window/internal/partition"
)

var errFault = errors.New("injected fault")

// The ways in which an operation goes wrong.
const (
	failBefore = "error before its effect"
	failAfter  = "error after its effect"
	delay      = "delay past the lease"
	crashAt    = "crash at the label"
)

// tape numbers the durable operations and the labels of one replica, and lets
// one of them go wrong.
type tape struct {
	mu     sync.Mutex
	labels []string
	target int    // number of the one that goes wrong; -1 = none
	kind   string // how
	stall  func() // what happens meanwhile
	off    bool   // another replica is at work
}

// next records an operation or a label and returns its fault.
func (t *tape) next(label string) laketest.Fault {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.off {
		return laketest.Fault{}
	}
	t.labels = append(t.labels, label)
	if len(t.labels)-1 != t.target {
		return laketest.Fault{}
	}
	switch t.kind {
	case failBefore:
		return laketest.Fault{Before: errFault}
	case failAfter:
		return laketest.Fault{After: errFault}
	case delay:
		return laketest.Fault{Pause: func(context.Context) { t.stall() }}
	}
	return laketest.Fault{}
}

// crashes says whether the replica dies at this label.
func (t *tape) crashes() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.off && t.kind == crashAt && len(t.labels)-1 == t.target
}

// replica is the window side without concurrency: it replays, seals, uploads,
// commits and trims until its WAL is empty, and stops at the first error.
type replica struct {
	rig    *rig
	wal    *wal
	tape   *tape
	leases *lease.Participant
	log    *Log
	still  atomic.Bool // the process stands still
}

// stillStore lets the store see nothing of a replica that stands still.
type stillStore struct {
	lease.Store
	*replica
}

func (s stillStore) Put(ctx context.Context, key string, value []byte, rev string) (string, error) {
	for s.still.Load() {
		time.Sleep(time.Second)
	}
	return s.Store.Put(ctx, key, value, rev)
}

// newReplica starts a process on a WAL, under a fresh writer.
func newReplica(r *rig, d *wal, name string, tp *tape) *replica {
	x := &replica{rig: r, wal: d, tape: tp}
	earlier := slices.Clone(d.writers)
	d.writers = append(d.writers, fmt.Sprintf("%s%c%s", name, 'a'+len(d.writers), "aaaaaaaaaaaaa")[:13])
	holder := d.writers[len(d.writers)-1]
	x.leases = lease.NewParticipant(stillStore{r.kv, x}, lease.Options{Holder: holder})
	x.log = New(r.lake, x.leases, testID, Options{
		Turns:        r.turns,
		Holder:       holder,
		Predecessors: func(h string) bool { return slices.Contains(earlier, h) },
		Step: func(label string) {
			if f := tp.next("step " + label); f.Pause != nil {
				f.Pause(context.Background())
			}
			if tp.crashes() {
				runtime.Goexit()
			}
		},
	})
	return x
}

// live runs the replica in a goroutine of its own until it is done or dies.
func (x *replica) live(ctx context.Context) error {
	err := errors.New("it died")
	var done sync.WaitGroup
	done.Go(func() { err = x.run(ctx) })
	done.Wait()
	x.leases.Close()
	return err
}

// disk is one durable operation on the WAL.
func (x *replica) disk(label string, f func(d *wal)) error {
	fault := x.tape.next("disk " + label)
	if fault.Pause != nil {
		fault.Pause(context.Background())
	}
	if fault.Before != nil {
		return fault.Before
	}
	f(x.wal)
	return fault.After
}

func (x *replica) run(ctx context.Context) error {
	ends, err := x.replay(ctx)
	if err != nil {
		return err
	}
	for open := x.wal.open(); len(open) > 0; open = x.wal.open() {
		n := 1
		for n < len(open) && open[n].writer == open[0].writer && (open[n].stamp == open[0].stamp || open[0].stamp > 10) {
			n++
		}
		s := walSeal{open[0].writer, open[0].stamp, open[n-1].stamp + 1, min(n, 2)}
		if err := x.disk("seal", func(d *wal) { d.seals = append(d.seals, s) }); err != nil {
			return err
		}
	}
	seals := slices.Clone(x.wal.seals)
	slices.SortStableFunc(seals, func(a, b walSeal) int {
		return cmp.Or(cmp.Compare(a.writer, b.writer), cmp.Compare(a.start, b.start))
	})
	var ws []Window
	for _, s := range seals {
		w, err := x.upload(ctx, s, ends[s.writer])
		if err != nil {
			return err
		}
		ends[s.writer] = s.end
		ws = append(ws, w)
	}
	n, err := x.log.Commit(ctx, ws)
	for _, s := range seals[:n] {
		if err := x.trim(s); err != nil {
			return err
		}
	}
	return err
}

// replay drops what is committed and gives each writer's end.
func (x *replica) replay(ctx context.Context) (map[string]int64, error) {
	if _, err := x.log.Read(ctx); err != nil {
		return nil, err
	}
	ends := map[string]int64{}
	for _, writer := range x.wal.writers {
		end, err := x.log.Resolve(ctx, writer, 10)
		if err != nil {
			return nil, err
		}
		ends[writer] = end
	}
	for _, e := range slices.Clone(x.wal.entries) {
		if e.stamp >= ends[e.writer] {
			continue
		}
		if err := x.drop(e); err != nil {
			return nil, err
		}
	}
	for _, s := range slices.Clone(x.wal.seals) {
		if s.end <= ends[s.writer] {
			if err := x.trim(s); err != nil {
				return nil, err
			}
		}
	}
	return ends, nil
}

func (x *replica) upload(ctx context.Context, s walSeal, after int64) (Window, error) {
	rows := x.wal.in(s)
	w := Window{
		ID: testID, Writer: s.writer, After: after, Start: s.start, End: s.end,
		Reason: "age", Format: "jsonl", Compression: "none", Schema: 1, Records: int64(len(rows)),
	}
	for i := range s.parts {
		part := rows[len(rows)*i/s.parts : len(rows)*(i+1)/s.parts]
		var content []byte
		for _, e := range part {
			content = fmt.Appendf(content, "%d %d\n", e.record, e.stamp)
		}
		name := partition.ObjectName{Start: s.start, End: s.end, Writer: s.writer, Part: i + 1, Ext: "jsonl"}
		key := laketest.ObjectKey(testRef.Prefix, testID, name)
		o, err := x.rig.lake.PutObject(ctx, key, lake.NewBody("text/plain", content), lake.ObjectMeta{Records: int64(len(part)), Encoder: "test/1"})
		if err != nil {
			return w, err
		}
		w.Objects = append(w.Objects, o)
		w.Bytes += o.Bytes
	}
	return w, nil
}

// trim takes a committed window out of the WAL: its entries one by one, then
// its seal.
func (x *replica) trim(s walSeal) error {
	for _, e := range x.wal.in(s) {
		if err := x.drop(e); err != nil {
			return err
		}
	}
	return x.disk("delete-seal", func(d *wal) {
		d.seals = slices.DeleteFunc(d.seals, func(o walSeal) bool { return o == s })
	})
}

func (x *replica) drop(e walEntry) error {
	return x.disk("trim", func(d *wal) {
		d.entries = slices.DeleteFunc(d.entries, func(o walEntry) bool { return o == e })
	})
}

// standStill is a stop of the whole process for much longer than the TTL.
func (x *replica) standStill(meanwhile func()) {
	x.still.Store(true)
	defer x.still.Store(false)
	meanwhile()
	time.Sleep(4 * lease.DefaultTTL)
}
