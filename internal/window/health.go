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
	"github.com/s3window/s3window/internal/window/sealed"
)

// failing says that a step of the partition did not go through when it was last
// tried.
func (p *part) failing() bool { return len(p.faults) > 0 }

// stuck says that the partition has not got on for a while: nothing of what it
// holds will come free soon.
func (p *part) stuck() bool {
	if (p.failing() || p.state == reading) && time.Since(p.since) >= patience {
		return true
	}
	return slices.ContainsFunc(p.queue, func(f *flushing) bool {
		return f.flying() && time.Since(f.flight.since) >= 6*patience
	})
}

// fail notes that a step of the partition does not go through. It is logged
// when that begins and when the reason changes, not once per try.
func (r *Runtime) fail(p *part, step sealed.Step, err error) {
	words := err.Error()
	if !errors.As(err, new(*commit.Blocked)) {
		words = lake.Reason(err)
	}
	if p.faults[step] == words {
		return
	}
	if p.faults == nil {
		p.faults = map[sealed.Step]string{}
	}
	if len(p.faults) == 0 {
		p.since = time.Now()
	}
	p.faults[step] = words
	r.unhealthy[p] = struct{}{}
	r.logger.Warn("Windows of a tenant cannot be committed; they are kept and tried again",
		zap.String("tenant", p.tenant), zap.String("signal", string(p.signal)), zap.String("operation", string(step)), zap.Error(err))
	r.health()
}

// mend notes that steps of the partition went through.
func (r *Runtime) mend(p *part, steps ...sealed.Step) {
	if len(p.faults) == 0 {
		return
	}
	for _, step := range steps {
		delete(p.faults, step)
	}
	if len(p.faults) > 0 {
		return
	}
	delete(r.unhealthy, p)
	r.lines.ready = append(r.lines.ready, r.lines.failing...)
	r.lines.failing = nil
	r.logger.Info("Windows of a tenant can be committed again",
		zap.String("tenant", p.tenant), zap.String("signal", string(p.signal)))
	r.health()
}

// storageFault notes whether a kind of call to the queue's storage goes through.
func (r *Runtime) storageFault(step sealed.Step, err error) {
	old, ok := r.storage[step]
	switch {
	case err == nil && !ok, err != nil && old == err.Error():
		return
	case err == nil:
		delete(r.storage, step)
		if len(r.storage) == 0 {
			r.logger.Info("The queue's storage answers again")
		}
	default:
		r.storage[step] = err.Error()
		r.logger.Error("The queue's storage does not answer; what is sealed is still committed",
			zap.String("operation", string(step)), zap.Error(err))
	}
	r.health()
}

// storageRetried notes that a call to the queue's storage went wrong and is made
// again.
func (r *Runtime) storageRetried(step sealed.Step, err error) {
	r.storageFault(step, err)
	r.opt.Observer.Retried(step, "", "")
}

// health tells the observer what cannot go on, when that changed.
func (r *Runtime) health() {
	var err error
	switch {
	case len(r.storage) > 0:
		step := slices.Min(slices.Collect(maps.Keys(r.storage)))
		err = fmt.Errorf("%s in the queue's storage: %s", step, r.storage[step])
	case len(r.unhealthy) > 0:
		err = r.worst()
	}
	text := ""
	if err != nil {
		text = err.Error()
	}
	if text != r.told {
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
	for _, step := range []sealed.Step{sealed.OpenLake, sealed.ReadHead, sealed.Encode, sealed.Upload, sealed.Commit, sealed.Trim} {
		if words, ok := pick.faults[step]; ok {
			return fmt.Errorf("%d partitions wait, tenant %q signal %s for %s: %s",
				len(r.unhealthy), pick.tenant, pick.signal, step, words)
		}
	}
	return errors.New("partitions wait")
}
