package window

import (
	"sync"
	"time"

	"go.uber.org/zap"
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
	reserved := r.opt.reserved()
	held, peak := r.budget.usage()
	s.Held, s.Peak, s.Limit = held+reserved, peak+reserved, r.opt.Memory
	return s
}

// snapshot takes the counts for Stats.
func (r *Runtime) snapshot() {
	s := Stats{Open: r.policy.Len()}
	now := time.Now().UnixMicro()
	oldest := now
	if at := r.safe(); at.Time < oldest {
		oldest = at.Time
	}
	for _, p := range r.parts {
		for _, w := range p.queue {
			if w.progress != settling {
				s.Sealed++
			}
		}
		if t, ok := p.oldest(); ok {
			oldest = min(oldest, t)
		}
	}
	s.Lag = time.Duration(now-oldest) * time.Microsecond
	r.stats.mu.Lock()
	defer r.stats.mu.Unlock()
	r.stats.s = s
}

// observe tells of a committed window.
func (r *Runtime) observe(w *sealedWindow) {
	if w.empty() {
		return
	}
	entries, lost := 0, int64(0)
	for i, l := range w.result.lost {
		if i == 0 || l.Seq != w.result.lost[i-1].Seq {
			entries++
		}
		lost += l.Records
	}
	if entries > 0 {
		r.opt.Observer.Lost(entries, lost, w.Tenant, w.Signal)
		r.logger.Error("Records do not decode; their window names them as lost, and their bytes are in the quarantine",
			zap.String("tenant", w.Tenant), zap.String("signal", string(w.Signal)), zap.Int("entries", entries), zap.Int64("records", lost),
			zap.String("object_key", w.result.lost[0].Key), zap.String("reason", w.result.lost[0].Reason))
	}
	now := time.Now()
	r.opt.Observer.Committed(Committed{
		Tenant: w.Tenant, Signal: w.Signal, Reason: w.Reason, Records: w.result.records,
		Bytes: w.result.bytes, RawBytes: w.raw, Objects: len(w.result.objects),
		Replaced: w.result.replaced, Skewed: w.result.skewed, Refiled: w.result.refiled,
		Flush: w.uploadedAt.Sub(w.sealedAt), Commit: now.Sub(w.uploadedAt),
	})
	r.logger.Info("Window committed",
		zap.String("tenant", w.Tenant), zap.String("signal", string(w.Signal)), zap.String("reason", string(w.Reason)),
		zap.Int64("records", w.result.records), zap.Int64("bytes", w.result.bytes), zap.Int("objects", len(w.result.objects)),
		zap.Int64("start", w.Start), zap.Int64("end", w.End))
}
