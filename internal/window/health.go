package window

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/s3window/s3window/internal/commit"
	"github.com/s3window/s3window/internal/lake"
)

// failing says that a step of the partition did not go through when it was last
// tried.
func (p *part) failing() bool { return len(p.faults) > 0 }

// stuck says that the partition has not got on for a while: nothing of what it
// holds will come free soon.
func (p *part) stuck() bool {
	if (p.failing() || p.reading) && time.Since(p.since) >= patience {
		return true
	}
	return slices.ContainsFunc(p.queue, func(w *sealedWindow) bool {
		return w.flight != nil && time.Since(w.flight.since) >= 6*patience
	})
}

// fail notes that a step of the partition does not go through. It is logged
// when that begins and when the reason changes, not once per try.
func (r *Runtime) fail(p *part, op string, err error) {
	words := err.Error()
	if !errors.As(err, new(*commit.Blocked)) {
		words = lake.Reason(err)
	}
	if p.faults[op] == words {
		return
	}
	if p.faults == nil {
		p.faults = map[string]string{}
	}
	if len(p.faults) == 0 {
		p.since = time.Now()
	}
	p.faults[op] = words
	r.unhealthy[p] = struct{}{}
	r.logger.Warn("Windows of a tenant cannot be committed; they are kept and tried again",
		zap.String("tenant", p.tenant), zap.String("signal", string(p.signal)), zap.String("operation", op), zap.Error(err))
	r.health()
}

// mend notes that steps of the partition went through.
func (r *Runtime) mend(p *part, ops ...string) {
	if len(p.faults) == 0 {
		p.cold = false
		return
	}
	for _, op := range ops {
		delete(p.faults, op)
	}
	if len(p.faults) > 0 {
		return
	}
	p.cold = false
	delete(r.unhealthy, p)
	r.inLine = append(r.inLine, r.deferred...)
	r.deferred = nil
	r.logger.Info("Windows of a tenant can be committed again",
		zap.String("tenant", p.tenant), zap.String("signal", string(p.signal)))
	r.health()
}

// storageFault notes whether a kind of call to the WAL's storage goes through.
func (r *Runtime) storageFault(op string, err error) {
	old, ok := r.storage[op]
	switch {
	case err == nil && !ok, err != nil && old == err.Error():
		return
	case err == nil:
		delete(r.storage, op)
		if len(r.storage) == 0 {
			r.logger.Info("The WAL's storage answers again")
		}
	default:
		r.storage[op] = err.Error()
		r.logger.Error("The WAL's storage does not answer; what is sealed is still committed",
			zap.String("operation", op), zap.Error(err))
	}
	r.health()
}

// health tells the observer what cannot go on, when that changed.
func (r *Runtime) health() {
	var err error
	switch {
	case len(r.storage) > 0:
		op := slices.Min(slices.Collect(maps.Keys(r.storage)))
		err = fmt.Errorf("%s in the WAL's storage: %s", op, r.storage[op])
	case len(r.unhealthy) > 0:
		err = r.worst()
	}
	if text := errorText(err); text != r.told {
		r.told = text
		r.opt.Observer.Health(err)
	}
}

// worst describes one of the partitions that cannot go on, and counts them.
func (r *Runtime) worst() error {
	var pick *part
	for p := range r.unhealthy {
		if pick == nil || p.tenant < pick.tenant || p.tenant == pick.tenant && p.signal < pick.signal {
			pick = p
		}
	}
	for _, op := range []string{"open lake", "read head", "encode", "upload", "commit"} {
		if words, ok := pick.faults[op]; ok {
			return fmt.Errorf("%d partitions wait, tenant %q signal %s for %s: %s",
				len(r.unhealthy), pick.tenant, pick.signal, op, words)
		}
	}
	return errors.New("partitions wait")
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
