package s3windowexporter

import (
	"context"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/exporterhelper"

	"github.com/s3window/s3window/exporter/s3windowexporter/internal/metadata"
	"github.com/s3window/s3window/internal/partition"
)

// NewFactory gives the factory of the exporter. All signals of one exporter ID
// that are created by it share one queue, one memory limit and one set of
// windows.
func NewFactory() exporter.Factory {
	f := &factory{cores: map[component.ID]*core{}}
	return exporter.NewFactory(metadata.Type, createDefaultConfig,
		exporter.WithTraces(f.createTraces, metadata.TracesStability),
		exporter.WithMetrics(f.createMetrics, metadata.MetricsStability),
		exporter.WithLogs(f.createLogs, metadata.LogsStability))
}

func (f *factory) createTraces(ctx context.Context, set exporter.Settings, cfg component.Config) (exporter.Traces, error) {
	m, err := f.join(set, cfg.(*Config), partition.Traces)
	if err != nil {
		return nil, err
	}
	e, err := exporterhelper.NewTraces(ctx, set, cfg, m.core.consumeTraces, m.options()...)
	if err != nil {
		return nil, m.abandon(err)
	}
	return e, nil
}

func (f *factory) createMetrics(ctx context.Context, set exporter.Settings, cfg component.Config) (exporter.Metrics, error) {
	m, err := f.join(set, cfg.(*Config), partition.Metrics)
	if err != nil {
		return nil, err
	}
	e, err := exporterhelper.NewMetrics(ctx, set, cfg, m.core.consumeMetrics, m.options()...)
	if err != nil {
		return nil, m.abandon(err)
	}
	return e, nil
}

func (f *factory) createLogs(ctx context.Context, set exporter.Settings, cfg component.Config) (exporter.Logs, error) {
	m, err := f.join(set, cfg.(*Config), partition.Logs)
	if err != nil {
		return nil, err
	}
	e, err := exporterhelper.NewLogs(ctx, set, cfg, m.core.consumeLogs, m.options()...)
	if err != nil {
		return nil, m.abandon(err)
	}
	return e, nil
}

// options are what exporterhelper is used for: the shell of the component, its
// metrics and spans. It has no queue and no retry here, because a request is
// answered when it is in the exporter's own queue, and no timeout, because the
// caller's context says how long that may take.
func (m *member) options() []exporterhelper.Option {
	return []exporterhelper.Option{
		exporterhelper.WithStart(m.start),
		exporterhelper.WithShutdown(m.shutdown),
		exporterhelper.WithTimeout(exporterhelper.TimeoutConfig{}),
		// A request is read only: see partition.Splitter.
		exporterhelper.WithCapabilities(consumer.Capabilities{MutatesData: false}),
	}
}
