// Package postgreslease is the lease extension on a PostgreSQL table. It is a
// module of its own because its client adds 4 MB to a collector.
//
// A lease survives what a committed transaction survives: with
// synchronous_commit off, or a failover to a standby that is not synchronous,
// writes that were acknowledged can be taken back.
package postgreslease

import (
	"context"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension"

	"github.com/s3window/s3window/extension/leaseextension"
)

// NewFactory returns the factory of the extension postgres_lease.
func NewFactory() extension.Factory {
	return leaseextension.NewBackendFactory(leaseextension.Standalone[Config]{
		Type:     component.MustNewType("postgres_lease"),
		Defaults: DefaultConfig(),
		Open:     func(ctx context.Context, cfg Config) (leaseextension.ClosingStore, error) { return Open(ctx, cfg) },
	})
}
