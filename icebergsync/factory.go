package icebergsync

//go:generate ../.build/bin/mdatagen metadata.yaml

import (
	"context"
	"fmt"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension"

	"github.com/s3window/s3window/icebergsync/internal/metadata"
	"github.com/s3window/s3window/icebergsync/internal/run"
)

// NewFactory returns the factory of the extension.
func NewFactory() extension.Factory {
	return extension.NewFactory(metadata.Type, createDefaultConfig, createExtension, metadata.ExtensionStability)
}

func createDefaultConfig() component.Config { return run.Default() }

func createExtension(_ context.Context, set extension.Settings, cfg component.Config) (extension.Extension, error) {
	telemetry, err := metadata.NewTelemetryBuilder(set.TelemetrySettings)
	if err != nil {
		return nil, fmt.Errorf("make telemetry: %w", err)
	}
	e := &icebergExtension{config: cfg.(*run.Config), logger: set.Logger, telemetry: telemetry}
	if e.config.Lease != nil {
		return &dependent{icebergExtension: e, on: []component.ID{*e.config.Lease}}, nil
	}
	return e, nil
}

// dependent is an extension that the collector starts after others.
type dependent struct {
	*icebergExtension
	on []component.ID
}

// Dependencies implements extensioncapabilities.Dependent.
func (d *dependent) Dependencies() []component.ID { return d.on }
