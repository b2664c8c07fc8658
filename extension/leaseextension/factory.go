package leaseextension

//go:generate ../../.build/bin/mdatagen metadata.yaml

import (
	"context"
	"fmt"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension"

	"github.com/s3window/s3window/extension/leaseextension/internal/metadata"
)

// NewFactory returns the factory of the lease extension.
func NewFactory() extension.Factory {
	return extension.NewFactory(metadata.Type, createDefaultConfig, createExtension, metadata.ExtensionStability)
}

func createExtension(_ context.Context, set extension.Settings, cfg component.Config) (extension.Extension, error) {
	telemetry, err := metadata.NewTelemetryBuilder(set.TelemetrySettings)
	if err != nil {
		return nil, fmt.Errorf("make telemetry: %w", err)
	}
	return newExtension(set, cfg.(*Config), telemetry), nil
}
