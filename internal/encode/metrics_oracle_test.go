package encode

import (
	"slices"
	"strings"
	"testing"

	"github.com/s3window/s3window/internal/partition"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pmetric/pmetricotlp"
)

// metricsOracle is oracle for data points.
func metricsOracle(t testing.TB, entries []Entry, columns []Column) grid {
	t.Helper()
	var groups []serviceRows
	for _, e := range entries {
		req := pmetricotlp.NewExportRequest()
		if err := req.UnmarshalProto(e.Payload); err != nil {
			t.Fatalf("pdata refuses the payload: %v", err)
		}
		for _, rm := range req.Metrics().ResourceMetrics().All() {
			g := serviceRows{service: service(rm.Resource())}
			for _, sm := range rm.ScopeMetrics().All() {
				for _, m := range sm.Metrics().All() {
					for _, cells := range oraclePoints(m, columns) {
						p := cells.promotion
						cells.set("service_name", g.service)
						cells.set("received_at", itoa(e.ReceivedAt))
						if cells.get("time_unix_nano") == "0" {
							cells.set("ts", itoa(e.ReceivedAt))
						}
						row := append(cells.row(), p.scope(sm.Scope(), sm.SchemaUrl())...)
						row = append(row, p.resource(rm.Resource(), rm.SchemaUrl())...)
						g.rows = append(g.rows, append(row, p.cells()...))
					}
				}
			}
			groups = append(groups, g)
		}
	}
	return clustered(ColumnNames(partition.Metrics), columns, groups)
}

// pointCells are the cells of a row by column.
type pointCells struct {
	cells     map[string]string
	promotion *promotion
}

func (c pointCells) set(column, cell string)  { c.cells[column] = cell }
func (c pointCells) get(column string) string { return c.cells[column] }

func (c pointCells) row() (out []string) {
	lists := []string{"bucket_counts", "explicit_bounds", "positive_bucket_counts", "negative_bucket_counts", "quantiles", "exemplars", "aggregation_temporality"}
	for _, name := range ColumnNames(partition.Metrics)[:slices.Index(ColumnNames(partition.Metrics), "scope_name")] {
		cell, ok := c.cells[name]
		if !ok && !slices.Contains(lists, name) {
			cell = nullCell
		}
		out = append(out, cell)
	}
	return out
}

func oraclePoints(m pmetric.Metric, columns []Column) (out []pointCells) {
	start := func(kind string, at, from pcommon.Timestamp, attributes pcommon.Map, flags pmetric.DataPointFlags) pointCells {
		p := newPromotion(columns)
		c := pointCells{map[string]string{}, p}
		pairs, types := oracleMap(attributes, p.row, p.found)
		metadata, metadataTypes := oracleMap(m.Metadata(), nil, nil)
		for column, cell := range map[string]string{
			"tenant_id": testTenant, "ts": itoa(int64(uint64(at) / 1000)), "time_unix_nano": itoa(int64(at)), "start_time_unix_nano": itoa(int64(from)),
			"metric_name": mended(m.Name()), "metric_description": mended(m.Description()), "metric_unit": mended(m.Unit()),
			"metric_metadata": metadata, "metric_metadata_types": metadataTypes, "metric_type": kind,
			"attributes": pairs, "attributes_types": types, "flags": itoa(int64(uint32(flags))),
		} {
			c.set(column, cell)
		}
		out = append(out, c)
		return c
	}
	switch m.Type() {
	case pmetric.MetricTypeGauge:
		for _, p := range m.Gauge().DataPoints().All() {
			start("gauge", p.Timestamp(), p.StartTimestamp(), p.Attributes(), p.Flags()).number(p)
		}
	case pmetric.MetricTypeSum:
		for _, p := range m.Sum().DataPoints().All() {
			c := start("sum", p.Timestamp(), p.StartTimestamp(), p.Attributes(), p.Flags())
			c.number(p)
			c.temporality(m.Sum().AggregationTemporality())
			c.set("is_monotonic", map[bool]string{true: "true", false: "false"}[m.Sum().IsMonotonic()])
		}
	case pmetric.MetricTypeHistogram:
		for _, p := range m.Histogram().DataPoints().All() {
			c := start("histogram", p.Timestamp(), p.StartTimestamp(), p.Attributes(), p.Flags())
			c.temporality(m.Histogram().AggregationTemporality())
			c.totals(p.Count(), p.HasSum(), p.Sum(), p.HasMin(), p.Min(), p.HasMax(), p.Max())
			c.set("bucket_counts", oracleInts(p.BucketCounts()))
			c.set("explicit_bounds", oracleDoubles(p.ExplicitBounds()))
			c.set("exemplars", oracleExemplars(p.Exemplars()))
		}
	case pmetric.MetricTypeExponentialHistogram:
		for _, p := range m.ExponentialHistogram().DataPoints().All() {
			c := start("exponential_histogram", p.Timestamp(), p.StartTimestamp(), p.Attributes(), p.Flags())
			c.temporality(m.ExponentialHistogram().AggregationTemporality())
			c.totals(p.Count(), p.HasSum(), p.Sum(), p.HasMin(), p.Min(), p.HasMax(), p.Max())
			c.exponential(p)
		}
	case pmetric.MetricTypeSummary:
		for _, p := range m.Summary().DataPoints().All() {
			c := start("summary", p.Timestamp(), p.StartTimestamp(), p.Attributes(), p.Flags())
			c.totals(p.Count(), true, p.Sum(), false, 0, false, 0)
			s := ""
			for _, q := range p.QuantileValues().All() {
				s += element(structCell(map[string]string{"quantile": oracleDouble(q.Quantile()), "value": oracleDouble(q.Value())}))
			}
			c.set("quantiles", s)
		}
	}
	return out
}

func (c pointCells) temporality(t pmetric.AggregationTemporality) {
	name, ok := map[pmetric.AggregationTemporality]string{0: "unspecified", 1: "delta", 2: "cumulative"}[t]
	if !ok {
		name = itoa(int64(t))
	}
	c.set("aggregation_temporality", name)
}

func (c pointCells) number(p pmetric.NumberDataPoint) {
	switch p.ValueType() {
	case pmetric.NumberDataPointValueTypeDouble:
		c.set("value", oracleDouble(p.DoubleValue()))
	case pmetric.NumberDataPointValueTypeInt:
		c.set("value", oracleDouble(float64(p.IntValue())))
		c.set("value_int", itoa(p.IntValue()))
	}
	c.set("exemplars", oracleExemplars(p.Exemplars()))
}

func (c pointCells) totals(count uint64, hasSum bool, sum float64, hasMin bool, low float64, hasMax bool, high float64) {
	c.set("count", itoa(int64(count)))
	for _, x := range []struct {
		column string
		has    bool
		value  float64
	}{{"sum", hasSum, sum}, {"min", hasMin, low}, {"max", hasMax, high}} {
		if x.has {
			c.set(x.column, oracleDouble(x.value))
		}
	}
}

func (c pointCells) exponential(p pmetric.ExponentialHistogramDataPoint) {
	for column, cell := range map[string]string{
		"scale": itoa(int64(p.Scale())), "zero_count": itoa(int64(p.ZeroCount())), "zero_threshold": oracleDouble(p.ZeroThreshold()),
		"positive_offset": itoa(int64(p.Positive().Offset())), "positive_bucket_counts": oracleInts(p.Positive().BucketCounts()),
		"negative_offset": itoa(int64(p.Negative().Offset())), "negative_bucket_counts": oracleInts(p.Negative().BucketCounts()),
		"exemplars": oracleExemplars(p.Exemplars()),
	} {
		c.set(column, cell)
	}
}

func oracleInts(s pcommon.UInt64Slice) string {
	var b strings.Builder
	for _, n := range s.All() {
		b.WriteString(element(itoa(int64(n))))
	}
	return b.String()
}

func oracleDoubles(s pcommon.Float64Slice) string {
	var b strings.Builder
	for _, n := range s.All() {
		b.WriteString(element(oracleDouble(n)))
	}
	return b.String()
}

func oracleExemplars(s pmetric.ExemplarSlice) string {
	var b strings.Builder
	for _, e := range s.All() {
		attributes, types := oracleMap(e.FilteredAttributes(), nil, nil)
		fields := map[string]string{
			"time_unix_nano": itoa(int64(e.Timestamp())), "value": nullCell, "value_int": nullCell,
			"trace_id": traceID(e.TraceID()), "span_id": spanID(e.SpanID()), "attributes": attributes, "attributes_types": types,
		}
		switch e.ValueType() {
		case pmetric.ExemplarValueTypeDouble:
			fields["value"] = oracleDouble(e.DoubleValue())
		case pmetric.ExemplarValueTypeInt:
			fields["value"] = oracleDouble(float64(e.IntValue()))
			fields["value_int"] = itoa(e.IntValue())
		}
		b.WriteString(element(structCell(fields)))
	}
	return b.String()
}
