package window

import (
	"time"

	"github.com/s3window/s3window/internal/encode"
	"github.com/s3window/s3window/internal/flush"
	"github.com/s3window/s3window/internal/wal"
)

// target is what a new window of the partition is sealed to.
func (r *Runtime) target(p *part) Target {
	t := r.opt.Target(p.tenant, p.signal)
	if t.Limits == (flush.Limits{}) {
		t.Limits = r.opt.Limits
	}
	t.Limits.TargetSize = min(t.Limits.TargetSize, flush.MaxSize(r.budget.Limit()))
	// A unit that was dropped must fit the memory to be read back.
	t.Spec.RowGroupBytes = min(t.Spec.RowGroupBytes, r.budget.Limit()/8)
	t.Spec.Filing = r.filing(t.Spec.Filing)
	t.Spec = r.shared(t.Spec)
	return t
}

// filing is how a new window deals out its records. Where the queue's clock is
// far ahead of the wall clock, that is written down with it: the ages of records
// are told by the wall clock. Whole minutes, since windows share what they are
// sealed to.
func (r *Runtime) filing(f *encode.Filing) *encode.Filing {
	ahead := r.opt.Queue.Ahead()
	if f == nil || !f.EventTime || ahead <= wal.FarAhead {
		return f
	}
	of := *f
	of.Ahead = ahead.Truncate(time.Minute).Microseconds()
	return &of
}
