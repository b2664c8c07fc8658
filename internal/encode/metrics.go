package encode

import (
	"encoding/binary"

	"github.com/s3window/s3window/internal/encode/dict"
	"github.com/s3window/s3window/internal/encode/otlp"
	"github.com/s3window/s3window/internal/encode/parquet"
)

// metrics has the columns of data points, one row per point of any kind.
type metrics struct {
	runs
	metric metricColumns
	record otlp.Point

	ts, start, time, received        *parquet.Int64
	attributes                       rowAttributes
	flags                            *parquet.Number
	valueDouble, valueInt            *parquet.OptionalNumber
	count, sum, low, high            *parquet.OptionalNumber
	bucketCounts, bounds             *parquet.NumberList
	scale, zeroCount, zeroThreshold  *parquet.OptionalNumber
	positiveOffset, negativeOffset   *parquet.OptionalNumber
	positiveBuckets, negativeBuckets *parquet.NumberList
	quantiles                        quantiles
	exemplars                        *exemplars
}

// metricColumnNames are the columns of the schema before the promoted ones, in
// order.
var metricColumnNames = [...]string{
	"ts", "start_time_unix_nano", "time_unix_nano", "received_at",
	"metric_name", "metric_description", "metric_unit", "metric_metadata", "metric_metadata_types",
	"metric_type", "aggregation_temporality", "is_monotonic", "service_name",
	"attributes", "attributes_types", "flags", "value_double", "value_int", "count", "sum", "min", "max",
	"bucket_counts", "explicit_bounds", "scale", "zero_count", "zero_threshold",
	"positive_offset", "positive_bucket_counts", "negative_offset", "negative_bucket_counts",
	"quantiles", "exemplars",
	"scope_name", "scope_version", "scope_attributes", "scope_attributes_types",
	"scope_dropped_attributes_count", "scope_schema_url",
	"resource_attributes", "resource_attributes_types", "resource_dropped_attributes_count", "resource_schema_url",
}

func newMetrics(t *parquet.Table, columns []Column) *metrics {
	x := &metrics{runs: newRuns(t)}
	x.item = x.points
	x.ts = t.Timestamp("ts")
	x.start = t.Int64("start_time_unix_nano", false)
	x.time = t.Int64("time_unix_nano", false)
	x.received = t.Timestamp("received_at")
	x.metric = newMetricColumns(t)
	x.resources.service = x.resources.set.Label("service_name", true)
	x.attributes.columns(t)
	x.flags = t.Count("flags")
	x.valueDouble = t.OptionalDouble("value_double")
	x.valueInt = t.OptionalInt64("value_int")
	x.count = t.OptionalInt64("count")
	x.sum = t.OptionalDouble("sum")
	x.low = t.OptionalDouble("min")
	x.high = t.OptionalDouble("max")
	x.bucketCounts = t.Int64List("bucket_counts")
	x.bounds = t.DoubleList("explicit_bounds")
	x.scale = t.OptionalInt32("scale")
	x.zeroCount = t.OptionalInt64("zero_count")
	x.zeroThreshold = t.OptionalDouble("zero_threshold")
	x.positiveOffset = t.OptionalInt32("positive_offset")
	x.positiveBuckets = t.Int64List("positive_bucket_counts")
	x.negativeOffset = t.OptionalInt32("negative_offset")
	x.negativeBuckets = t.Int64List("negative_bucket_counts")
	x.quantiles = newQuantiles(t)
	x.exemplars = newExemplars(t)
	x.attributes.promoted = x.columns(columns)
	return x
}

func (x *metrics) held() int {
	return x.runs.held() + x.metric.known.Held() + x.record.Held() + x.attributes.held() + x.exemplars.attributes.held()
}

func (x *metrics) reset() {
	x.runs.reset()
	x.metric.known.Reset()
	x.record.Release()
	x.attributes.reset()
	x.exemplars.attributes.reset()
}

// points adds the rows of a Metric message. A metric without data points has
// none, as it has none in OTLP's own counts.
func (x *metrics) points(s *stager, b []byte, received int64) error {
	m, at := otlp.ParseMetric(b)
	if at < 0 {
		return otlp.Fault(at)
	}
	from := x.table.Rows()
	points := m.Points()
	for points.Next() {
		if x.full() {
			if err := x.metric.repeat(&m, b, x.table.Rows()-from); err != nil {
				return err
			}
			if err := x.cut(s); err != nil {
				return err
			}
			from = 0
		}
		if at := x.put(s, m.Kind, points.Point, received); at < 0 {
			return otlp.Fault(at)
		}
	}
	if err := points.Err(); err != nil {
		return err
	}
	return x.metric.repeat(&m, b, x.table.Rows()-from)
}

// metricColumns are what a metric's points have in common. An entry is a
// distinct metric: its name, description, unit, metadata, kind, temporality
// and monotonicity.
type metricColumns struct {
	set                     *parquet.RunSet
	known                   *dict.Strings
	key                     []byte
	text                    []byte
	name, description, unit *parquet.RunLabel
	metadata                runAttributes
	kind, temporality       *parquet.RunLabel
	monotonic               *parquet.RunBool
}

func newMetricColumns(t *parquet.Table) metricColumns {
	c := metricColumns{set: t.RunSet(), known: dict.NewStrings(), metadata: runAttributes{field: otlp.MetricMetadata}}
	c.name = c.set.Label("metric_name", true)
	c.description = c.set.Label("metric_description", false)
	c.unit = c.set.Label("metric_unit", false)
	c.metadata.entries = c.set.Map("metric_metadata")
	c.metadata.types = c.set.Label("metric_metadata_types", false)
	c.kind = c.set.Label("metric_type", true)
	c.temporality = c.set.Label("aggregation_temporality", false)
	c.monotonic = c.set.OptionalBool("is_monotonic")
	return c
}

// repeat puts the columns of the metric m, whose message is b, for n rows.
func (c *metricColumns) repeat(m *otlp.Metric, b []byte, n int) error {
	if n == 0 {
		return nil
	}
	if err := c.makeKey(m, b); err != nil {
		return err
	}
	entry, added := c.known.Put(c.key)
	if added {
		if err := c.put(m, b); err != nil {
			return err
		}
		entry = c.set.Commit()
	}
	c.set.Repeat(entry, n)
	return nil
}

// makeKey tells apart what must not share an entry.
func (c *metricColumns) makeKey(m *otlp.Metric, b []byte) error {
	k := append(c.key[:0], byte(m.Kind), 0)
	if m.Monotonic {
		k[1] = 1
	}
	k = binary.AppendUvarint(k, uint64(uint32(m.Temporality)))
	for _, s := range [...][]byte{m.Name, m.Description, m.Unit} {
		k = append(binary.AppendUvarint(k, uint64(len(s))), s...)
	}
	if m.Metadata {
		kvs := otlp.NewAttributes(b, otlp.MetricMetadata)
		for kvs.Next() {
			k = append(binary.AppendUvarint(k, uint64(len(kvs.Key))), kvs.Key...)
			k = append(binary.AppendUvarint(k, uint64(len(kvs.Value))), kvs.Value...)
		}
		if err := kvs.Err(); err != nil {
			return err
		}
	}
	c.key = k
	return nil
}

func (c *metricColumns) put(m *otlp.Metric, b []byte) error {
	if err := c.metadata.put(b); err != nil {
		return err
	}
	c.name.Add(m.Name)
	c.description.Add(m.Description)
	c.unit.Add(m.Unit)
	c.text = append(c.text[:0], otlp.MetricType(m.Kind)...)
	c.kind.Add(c.text)
	c.text = c.text[:0]
	if m.Kind != otlp.Gauge && m.Kind != otlp.Summary {
		c.text = otlp.Temporalities().Append(c.text, m.Temporality)
	}
	c.temporality.Add(c.text)
	if m.Kind == otlp.Sum {
		c.monotonic.Add(m.Monotonic)
	} else {
		c.monotonic.Null()
	}
	return nil
}
