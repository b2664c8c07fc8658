// Package redislease is the lease extension on a Redis or Valkey server. It is a
// module of its own because its client adds 8 MB to a collector.
//
// Redis replicates after it has answered: a failover, to a replica of a Sentinel
// or Cluster set-up, can take back writes that were acknowledged, and with them
// a lease and its state. Two holders can then be at work, which no lease can
// rule out anyway, and the state goes back to an older one. Who keeps what must
// not go back in a lease needs another backend, or, as the s3window exporter
// does, a truth elsewhere that the state is checked against.
package redislease

import (
	"context"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension"

	"github.com/s3window/s3window/extension/leaseextension"
)

// NewFactory returns the factory of the extension redis_lease.
func NewFactory() extension.Factory {
	return leaseextension.NewBackendFactory(leaseextension.Standalone[Config]{
		Type:     component.MustNewType("redis_lease"),
		Defaults: DefaultConfig(),
		Open:     func(ctx context.Context, cfg Config) (leaseextension.ClosingStore, error) { return Open(ctx, cfg) },
	})
}
