package leaseextension

//go:generate ../../.build/bin/mdatagen metadata.yaml

import (
	"context"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension"

	"github.com/s3window/s3window/extension/leaseextension/internal/metadata"
)

// NewFactory returns the factory of the lease extension.
func NewFactory() extension.Factory {
	return extension.NewFactory(metadata.Type, createDefaultConfig, createExtension, metadata.ExtensionStability)
}

func createExtension(_ context.Context, set extension.Settings, cfg component.Config) (extension.Extension, error) {
	settings := cfg.(*Config)
	ext, err := newExtension(set, plan{backend: settings.Backend, ttl: settings.TTL, open: func(ctx context.Context, host component.Host) (opened, error) {
		return settings.open(ctx, environment{host: host, id: set.ID})
	}})
	if err != nil {
		return nil, err
	}
	if settings.Backend == "storage" && settings.Storage.HasValue() {
		return &dependent{leaseExtension: ext, on: []component.ID{settings.Storage.Get().Extension}}, nil
	}
	return ext, nil
}

// dependent is an extension that the collector starts after others.
type dependent struct {
	*leaseExtension
	on []component.ID
}

// Dependencies implements extensioncapabilities.Dependent.
func (d *dependent) Dependencies() []component.ID { return d.on }
