// Package kuberneteslease is the lease extension on Lease objects of a
// Kubernetes API server. It is a module of its own because its client adds 20 MB
// to a collector.
//
// A register is a Lease of coordination.k8s.io whose record is an annotation;
// the spec shows the holder, for kubectl, and decides nothing. Leader election
// of other programs uses the spec of such objects; the two do not meet, for
// other programs' Leases have no such annotation and are left alone.
//
// A collector needs a Role in the namespace with get, list, create, update and
// delete on leases of coordination.k8s.io.
package kuberneteslease

import (
	"context"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension"

	"github.com/s3window/s3window/extension/leaseextension"
)

// NewFactory returns the factory of the extension kubernetes_lease.
func NewFactory() extension.Factory {
	return leaseextension.NewBackendFactory(leaseextension.Standalone[Config]{
		Type:     component.MustNewType("kubernetes_lease"),
		Defaults: DefaultConfig(),
		Open:     func(ctx context.Context, cfg Config) (leaseextension.ClosingStore, error) { return Open(ctx, cfg) },
	})
}
