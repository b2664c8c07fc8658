package window

import (
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/s3window/s3window/internal/window/sealed"
)

type statsBox struct {
	mu sync.Mutex // guards everything below
	s  Stats
}

// Stats says how the Runtime is. It may be called at any time; counts are those
// of the loop's last tick.
func (r *Runtime) Stats() Stats {
	r.stats.mu.Lock()
	defer r.stats.mu.Unlock()
	s := r.stats.s
	reserved := reserved(r.opt.Encoders)
	held, _, peak := r.budget.Usage()
	s.Held, s.Peak, s.Limit = held+reserved, peak+reserved, r.opt.Memory
	return s
}

// snapshot takes the counts for Stats.
func (r *Runtime) snapshot() {
	s := Stats{Open: r.policy.Len(), Behind: len(r.laggards())}
	now := time.Now().UnixMicro()
	oldest := min(now, r.safe().Time)
	for _, p := range r.parts {
		s.Sealed += len(p.queue) - p.settling
		if first, ok := p.oldest(); ok {
			oldest = min(oldest, first.Time)
		}
	}
	s.Lag = time.Duration(now-oldest) * time.Microsecond
	r.stats.mu.Lock()
	defer r.stats.mu.Unlock()
	r.stats.s = s
}

// observe tells of a committed window.
func (r *Runtime) observe(c *sealed.Committed) {
	if c.Empty() {
		return
	}
	tenant, signal := zap.String("tenant", c.Tenant), zap.String("signal", string(c.Signal))
	if len(c.Lost) > 0 {
		entries, records := 0, int64(0)
		for i, l := range c.Lost {
			if i == 0 || l.Seq != c.Lost[i-1].Seq {
				entries++
			}
			records += l.Records
		}
		r.opt.Observer.Lost(entries, records, c.Tenant, c.Signal)
		r.logger.Error("Records do not decode; their window names them as lost, and their bytes are in the quarantine", tenant, signal,
			zap.Int("entries", entries), zap.Int64("records", records), zap.String("object_key", c.Lost[0].Key), zap.String("reason", c.Lost[0].Reason))
	}
	now := time.Now()
	r.opt.Observer.Committed(Committed{
		Tenant: c.Tenant, Signal: c.Signal, Reason: c.Reason, Records: c.Records,
		Bytes: c.Bytes, RawBytes: c.Raw, Objects: len(c.Objects),
		Replaced: c.Replaced, Skewed: c.Skewed, Refiled: c.Refiled, Small: c.Small,
		Flush: c.At.Sub(c.SealedAt), Commit: now.Sub(c.At),
	})
	r.logger.Info("Window committed", tenant, signal, zap.String("reason", string(c.Reason)),
		zap.Int64("records", c.Records), zap.Int64("bytes", c.Bytes), zap.Int("objects", len(c.Objects)),
		zap.Int64("start", c.Start), zap.Int64("end", c.End))
}
