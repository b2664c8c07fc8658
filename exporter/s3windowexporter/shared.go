package s3windowexporter

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/exporter"

	"github.com/s3window/s3window/internal/partition"
)

// factory has the cores of the exporters that it created and that were not
// shut down yet.
type factory struct {
	mu    sync.Mutex // guards everything below
	cores map[component.ID]*core
}

// member is one signal of an exporter.
type member struct {
	factory *factory
	core    *core
	once    sync.Once
}

// join gives a member of the core under set.ID, which is made for the first.
func (f *factory) join(set exporter.Settings, cfg *Config, signal partition.Signal) (*member, error) {
	if err := cfg.encodes(signal); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	c, ok := f.cores[set.ID]
	if !ok {
		var err error
		if c, err = newCore(set, cfg); err != nil {
			return nil, err
		}
		f.cores[set.ID] = c
	}
	c.members++
	if !slices.Contains(c.signals, signal) {
		c.signals = append(c.signals, signal)
	}
	return &member{factory: f, core: c}, nil
}

// leave takes a member off its core and says whether it was the last one.
func (f *factory) leave(c *core) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	c.members--
	if c.members > 0 {
		return false
	}
	delete(f.cores, c.set.ID)
	return true
}

// start starts the core with its first member. The others share the outcome.
func (m *member) start(ctx context.Context, host component.Host) error {
	m.core.status.join(host)
	m.core.startOnce.Do(func() {
		if m.core.startErr = m.factory.claim(m.core); m.core.startErr == nil {
			m.core.startErr = m.core.start(ctx, host)
		}
	})
	return m.core.startErr
}

// claim refuses a core whose records another exporter of this process writes
// too: they would be in the lake twice. Exporters of different signals may share
// a lake, since nothing is written by both.
func (f *factory) claim(c *core) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for id, other := range f.cores {
		if other == c || !other.claimed || other.cfg.Sink != c.cfg.Sink || !slices.ContainsFunc(c.signals, func(s partition.Signal) bool {
			return slices.Contains(other.signals, s)
		}) {
			continue
		}
		if in, ok := c.tenants.shares(other.tenants); ok {
			return fmt.Errorf("exporters %q and %q both write to %q with `sink` (%q): records that both get would be there twice; give one of them another `s3::prefix`",
				c.set.ID, id, in, c.cfg.Sink)
		}
	}
	c.claimed = true
	return nil
}

// shutdown stops the core with its last member: the others' records are still
// on their way until then.
func (m *member) shutdown(ctx context.Context) (err error) {
	m.once.Do(func() {
		if m.factory.leave(m.core) {
			err = m.core.shutdown(ctx)
		}
	})
	return err
}

// abandon undoes join where the exporter around the member was refused.
func (m *member) abandon(cause error) error {
	return errors.Join(cause, m.shutdown(context.Background()))
}
