package s3windowexporter

import (
	"context"
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/s3window/s3window/exporter/s3windowexporter/internal/metadatatest"
)

// counter is the value of a counter that has exactly these attributes; -1 if
// there is none.
func counter(t *testing.T, tel *componenttest.Telemetry, name string, attributes ...attribute.KeyValue) int64 {
	t.Helper()
	m, err := tel.GetMetric("otelcol_exporter_s3window_" + name)
	require.NoError(t, err)
	want := attribute.NewSet(attributes...)
	for _, p := range m.Data.(metricdata.Sum[int64]).DataPoints {
		if p.Attributes.Equals(&want) {
			return p.Value
		}
	}
	return -1
}

// attributesOf gives the attributes of every point of a metric.
func attributesOf(m metricdata.Metrics) (sets []attribute.Set) {
	switch data := m.Data.(type) {
	case metricdata.Sum[int64]:
		for _, p := range data.DataPoints {
			sets = append(sets, p.Attributes)
		}
	case metricdata.Gauge[int64]:
		for _, p := range data.DataPoints {
			sets = append(sets, p.Attributes)
		}
	case metricdata.Gauge[float64]:
		for _, p := range data.DataPoints {
			sets = append(sets, p.Attributes)
		}
	case metricdata.Histogram[float64]:
		for _, p := range data.DataPoints {
			sets = append(sets, p.Attributes)
		}
	}
	return sets
}

// Two exporters of one collector do not write over each other's values, and
// every counter and gauge is there before anything happens.
func TestMetricsAreOfTheirExporter(t *testing.T) {
	r := newOfflineRig(t, "http://127.0.0.1:1")
	tel := componenttest.NewTelemetry()
	set := metadatatest.NewSettings(tel)
	for _, name := range []string{"a", "b"} {
		r.cfg.Sink = name // they are two
		cfg := *r.cfg
		set.ID = component.MustNewIDWithName("s3window", name)
		e, err := r.factory.CreateLogs(t.Context(), set, &cfg)
		require.NoError(t, err)
		require.NoError(t, e.Start(t.Context(), r.host))
		defer r.shutdown(e)
	}
	yaml, err := os.ReadFile("metadata.yaml")
	require.NoError(t, err)
	for _, found := range regexp.MustCompile(`(?m)^    (exporter_\w+):$`).FindAllStringSubmatch(string(yaml), -1) {
		name := "otelcol_" + found[1]
		m, err := tel.GetMetric(name)
		if regexp.MustCompile(`_duration$`).MatchString(name) {
			continue // a histogram begins with its first value
		}
		if !assert.NoError(t, err, name) {
			continue
		}
		of := map[string]int{}
		for _, set := range attributesOf(m) {
			v, ok := set.Value("exporter")
			require.True(t, ok, name)
			of[v.AsString()]++
		}
		assert.Len(t, of, 2, name)
		assert.Equal(t, of["s3window/a"], of["s3window/b"], name)
	}
	require.NoError(t, tel.Shutdown(context.Background()))
}

// The counters of every signal of an exporter begin with it.
func TestCountersBeginAtZero(t *testing.T) {
	r := newOfflineRig(t, "http://127.0.0.1:1")
	tel := componenttest.NewTelemetry()
	set := metadatatest.NewSettings(tel)
	set.ID = settings().ID
	logs := r.create(set)
	traces, err := r.factory.CreateTraces(t.Context(), set, r.cfg)
	require.NoError(t, err)
	require.NoError(t, logs.Start(t.Context(), r.host))
	require.NoError(t, traces.Start(t.Context(), r.host))
	for _, signal := range []string{"logs", "traces"} {
		of := []attribute.KeyValue{attribute.String("exporter", "s3window/test"), attribute.String("signal", signal)}
		assert.Zero(t, counter(t, tel, "lost_records", of...))
		assert.Zero(t, counter(t, tel, "committed_records", of...))
		assert.Zero(t, counter(t, tel, "windows", append(of, attribute.String("reason", "memory"))...))
		assert.Zero(t, counter(t, tel, "retries", append(of, attribute.String("operation", "commit"))...))
		assert.Zero(t, counter(t, tel, "refused_records", append(of, attribute.String("reason", "too_large"))...))
	}
	assert.EqualValues(t, -1, counter(t, tel, "lost_records", attribute.String("exporter", "s3window/test"), attribute.String("signal", "metrics")))
	r.shutdown(logs)
	require.NoError(t, traces.Shutdown(context.Background()))
	require.NoError(t, tel.Shutdown(context.Background()))
}
