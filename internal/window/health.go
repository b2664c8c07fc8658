package window

import (
	"errors"
	"fmt"

	"go.uber.org/zap"

	"github.com/s3window/s3window/internal/lake"
)

// failing says that a step of the partition did not go through when it was last
// tried.
func (p *part) failing() bool { return len(p.faults) > 0 }

// fail notes that a step of the partition does not go through. It is logged
// when that begins and when the reason changes, not once per try.
func (r *Runtime) fail(p *part, op string, err error) {
	words := lake.Reason(err)
	if words == "" {
		words = err.Error()
	}
	if p.faults[op] == words {
		return
	}
	if p.faults == nil {
		p.faults = map[string]string{}
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
	r.logger.Info("Windows of a tenant can be committed again",
		zap.String("tenant", p.tenant), zap.String("signal", string(p.signal)))
	r.health()
}

// storageFault notes whether calls to the WAL's storage go through.
func (r *Runtime) storageFault(op string, err error) {
	if err == nil {
		if r.storage != "" {
			r.storage = ""
			r.logger.Info("The WAL's storage answers again")
			r.health()
		}
		return
	}
	if r.storage == err.Error() {
		return
	}
	r.storage = err.Error()
	r.logger.Error("The WAL's storage does not answer; what is in memory is still committed",
		zap.String("operation", op), zap.Error(err))
	r.health()
}

// health tells the observer what cannot go on, when that changed.
func (r *Runtime) health() {
	var err error
	switch {
	case r.storage != "":
		err = fmt.Errorf("storage of the WAL: %s", r.storage)
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
	for _, op := range []string{"open lake", "read head", "seal", "encode", "upload", "commit"} {
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
