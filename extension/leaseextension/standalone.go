package leaseextension

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension"

	"github.com/s3window/s3window/extension/leaseextension/internal/metadata"
	"github.com/s3window/s3window/extension/leaseextension/lease"
)

// ClosingStore is a lease.Store with connections. Close ends them after the last
// use.
type ClosingStore interface {
	lease.Store
	Close() error
}

// Standalone is a backend that is a lease extension of its own, in a module of
// its own, because its client is too heavy for every collector that has leases.
// T are its settings, which are in the extension's block beside ttl.
type Standalone[T any] struct {
	Type     component.Type
	Defaults T
	// Open makes the store. It connects nothing that can wait.
	Open func(context.Context, T) (ClosingStore, error)
}

// StandaloneConfig is the configuration of a standalone backend's extension.
type StandaloneConfig[T any, P checked[T]] struct {
	// TTL is for how long a lease must be seen unchanged before it is taken over.
	TTL     time.Duration `mapstructure:"ttl"`
	Backend T             `mapstructure:",squash"`
}

// Validate implements confmap.Validator.
func (c *StandaloneConfig[T, P]) Validate() error {
	return errors.Join(validateTTL(c.TTL), P(&c.Backend).Check())
}

// NewBackendFactory returns the factory of a standalone backend's extension. The
// extension is a lease.Leases as the extension lease is, with the same telemetry.
func NewBackendFactory[T any, P checked[T]](s Standalone[T]) extension.Factory {
	create := func(_ context.Context, set extension.Settings, cfg component.Config) (extension.Extension, error) {
		settings := cfg.(*StandaloneConfig[T, P])
		return newExtension(set, plan{backend: s.Type.String(), ttl: settings.TTL, open: func(ctx context.Context, _ component.Host) (opened, error) {
			return closing(s.Open(ctx, settings.Backend))
		}})
	}
	defaults := func() component.Config { return &StandaloneConfig[T, P]{TTL: lease.DefaultTTL, Backend: s.Defaults} }
	return extension.NewFactory(s.Type, defaults, create, metadata.ExtensionStability)
}
