package verify

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/partition"
)

// ErrEmpty says that there is no lake: neither manifests nor data objects.
var ErrEmpty = errors.New("nothing of a lake is there: no _s3window/ and no tenant=…/")

// Options change how a lake is verified.
type Options struct {
	Workers   int  // reads at once; default 16
	SizesOnly bool // compare sizes and do not read objects

	// Heads were exported from a lease store before Lake is called.
	Heads []Head
	// ReadHead reads a head's state from a lease store; nil if there is none.
	ReadHead func(ctx context.Context, name string) ([]byte, error)
	// HeadBucket is the bucket in the names of heads. Empty = of any bucket;
	// ReadHead needs it.
	HeadBucket string

	// Resume keeps what was judged sound, and is not read again. nil = nothing.
	Resume *Resume

	// Duplicates asks for records that are in a tenant's data of one signal more
	// than once. It reads every object again.
	Duplicates bool
	TempDir    string // for hashes and large objects; empty = the system's
}

// Lake judges the lake. An error means that it could not be judged, because
// something could not be read or nothing is there; damage is in the Report.
// progress may be nil.
func Lake(ctx context.Context, l *lake.Lake, o Options, progress *Progress) (*Report, error) {
	if o.Workers <= 0 {
		o.Workers = 16
	}
	estimate := progress != nil
	if !estimate {
		progress = &Progress{}
	}
	v := &verifier{
		Options: o, bucket: l.Bucket(), prefix: l.Prefix(), progress: progress, estimate: estimate, slots: make(chan struct{}, o.Workers),
	}
	// Heads first: what they know is then in the manifests that are read later.
	var err error
	if v.heads, err = v.readHeads(ctx); err != nil {
		return nil, err
	}
	logs, strays, err := v.discover(ctx)
	if err != nil {
		return nil, err
	}
	if len(logs) == 0 && len(strays) == 0 {
		return nil, ErrEmpty
	}
	report := &Report{
		Lake: l.Ref().String(), Content: !o.SizesOnly, Partitions: []Partition{}, Damage: []Finding{}, Notes: strays,
	}
	if o.Duplicates {
		v.finder, report.Duplicates = newFinder(v), &Duplicates{}
	}
	sized := v.sizing(ctx)
	err = v.all(ctx, logs, report)
	sized()
	if err != nil {
		return nil, err
	}
	report.finish()
	return report, nil
}

// verifier is one run over a lake.
type verifier struct {
	Options
	bucket   lake.Bucket
	prefix   string
	progress *Progress
	estimate bool    // how much there is to do is worth a listing
	finder   *finder // nil if nobody wants duplicates
	heads    heads
	slots    chan struct{} // one for every read that may run at once
}

// all verifies the partitions, several at once.
func (v *verifier) all(ctx context.Context, logs map[table][]string, report *Report) error {
	var mu sync.Mutex // guards report
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(v.Workers)
	for t, sinks := range logs {
		g.Go(func() error {
			p, err := v.table(ctx, t, sinks)
			if err != nil {
				return err
			}
			v.progress.Partitions.Add(int64(max(len(sinks), 1)))
			mu.Lock()
			defer mu.Unlock()
			report.add(p)
			return nil
		})
	}
	return g.Wait()
}

// table is what shares one prefix of data objects: a tenant's records of one
// signal, of all sinks.
type table struct {
	tenant string
	signal partition.Signal
}

func (t table) id(sink string) partition.ID {
	return partition.ID{Sink: sink, Tenant: t.tenant, Signal: t.signal}
}

// partitionReport is the outcome for one table.
type partitionReport struct {
	logs   []*Partition
	damage []Finding
	notes  []Finding

	duplicates Duplicates
}

// table verifies the commit logs of a table, then says which of its objects
// no manifest names.
func (v *verifier) table(ctx context.Context, t table, sinks []string) (*partitionReport, error) {
	out := &partitionReport{}
	// Objects first: one that is committed between the two listings is then
	// named by a manifest, never called uncommitted.
	listed, err := v.listObjects(ctx, t)
	if err != nil {
		return nil, err
	}
	named := map[string]string{}
	logs, err := v.logs(ctx, t, sinks, tableFacts{listed: listed, named: named})
	if err != nil {
		return nil, err
	}
	ends, doubtful := map[string]int64{}, false
	for _, c := range logs {
		out.take(c)
		doubtful = doubtful || c.doubtful
		// A queue commits in the order of its stamps, whatever sink they go to.
		for writer, is := range c.folded {
			ends[writer] = max(ends[writer], is.End)
		}
	}
	for key, is := range listed {
		if _, ok := named[key]; !ok {
			out.notes = append(out.notes, unnamed{v.prefix, key, is.size, doubtful}.judge(ends))
		}
	}
	if v.finder == nil || len(named) == 0 {
		return out, nil
	}
	if err := v.finder.table(ctx, named, out.records(), out); err != nil {
		return nil, fmt.Errorf("find duplicates of tenant %q, %s: %w", t.tenant, t.signal, err)
	}
	return out, nil
}

// tableFacts are what the logs of a table share.
type tableFacts struct {
	listed map[string]listed // data objects of the table, by key
	named  map[string]string // objects that manifests of the table name: key -> manifest key
	spans  spans             // of the windows of the table
}

// logs verifies the commit logs of a table, one after the other.
func (v *verifier) logs(ctx context.Context, t table, sinks []string, facts tableFacts) ([]*commitLog, error) {
	if len(sinks) > 1 {
		facts.spans = spans{}
	}
	var logs []*commitLog
	for _, sink := range sinks {
		id := t.id(sink)
		c := &commitLog{
			verifier: v, id: id, tableFacts: facts, heads: v.heads[id], folded: map[string]committed{},
			out: &Partition{Sink: sink, Tenant: t.tenant, Signal: string(t.signal)},
		}
		if err := c.verify(ctx); err != nil {
			return nil, fmt.Errorf("verify %s: %w", id, err)
		}
		logs = append(logs, c)
	}
	facts.spans.overlaps()
	return logs, nil
}

// take adds the outcome of a log.
func (p *partitionReport) take(c *commitLog) {
	c.out.Writers, c.out.Damage = len(c.folded), len(c.damage)
	p.logs = append(p.logs, c.out)
	p.damage = append(p.damage, c.damage...)
	p.notes = append(p.notes, c.notes...)
}

func (p *partitionReport) records() (n int64) {
	for _, log := range p.logs {
		n += log.Records
	}
	return n
}
