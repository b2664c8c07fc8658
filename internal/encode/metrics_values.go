package encode

import (
	"github.com/s3window/s3window/internal/encode/otlp"
	"github.com/s3window/s3window/internal/encode/parquet"
)

// put adds the row of a data point. It returns a fault if the point is
// malformed; the row group is then lost.
func (x *metrics) put(s *stager, kind uint64, b []byte, received int64) int {
	p := &x.record
	if at := p.Parse(kind, b, x); at < 0 {
		return at
	}
	x.ts.Add(s.time(p.Nanos(), received))
	x.start.Add(int64(p.Start))
	x.time.Add(int64(p.Time))
	x.received.Add(received)
	x.attributes.endRow()
	x.flags.Add(int64(p.Flags))
	switch kind {
	case otlp.Gauge, otlp.Sum:
		set(x.valueDouble, p.Has&otlp.HasDouble != 0, p.Number)
		set(x.valueInt, p.Has&otlp.HasInt != 0, p.Number)
	case otlp.ExponentialHistogram:
		x.scale.Set(int64(p.Scale))
		x.zeroCount.Set(int64(p.ZeroCount))
		x.zeroThreshold.Set(int64(p.Zero))
		x.positiveOffset.Set(int64(p.Positive.Offset))
		x.negativeOffset.Set(int64(p.Negative.Offset))
		fallthrough
	default:
		x.count.Set(int64(p.Count))
		set(x.sum, p.Has&otlp.HasSum != 0, p.Sum)
		set(x.low, p.Has&otlp.HasMin != 0, p.Min)
		set(x.high, p.Has&otlp.HasMax != 0, p.Max)
	}
	putFixed(x.bucketCounts, p.BucketCounts)
	putFixed(x.bounds, p.Bounds)
	putVarints(x.positiveBuckets, p.Positive.Counts)
	putVarints(x.negativeBuckets, p.Negative.Counts)
	x.quantiles.list.EndRow()
	x.exemplars.list.EndRow()
	x.table.EndRow(len(b))
	return 0
}

// These implement otlp.PointSink.
func (x *metrics) Attribute(kv []byte) int     { return x.attributes.Attribute(kv) }
func (x *metrics) Exemplar(message []byte) int { return x.exemplars.put(message) }
func (x *metrics) Quantile(message []byte) int { return x.quantiles.put(message) }

func set(c *parquet.OptionalNumber, present bool, bits uint64) {
	if present {
		c.Set(int64(bits))
	}
}

func putFixed(c *parquet.NumberList, numbers otlp.Fixed64s) {
	for n := range numbers.All() {
		c.Add(int64(n))
	}
	c.EndRow()
}

func putVarints(c *parquet.NumberList, numbers otlp.Varints) {
	for n := range numbers.All() {
		c.Add(int64(n))
	}
	c.EndRow()
}

// quantiles is the column of the quantiles of summaries.
type quantiles struct {
	list            *parquet.List
	quantile, value *parquet.ListNumber
}

func newQuantiles(t *parquet.Table) (q quantiles) {
	q.list = t.List("quantiles")
	q.quantile = q.list.Double("quantile")
	q.value = q.list.Double("value")
	return q
}

// put adds a ValueAtQuantile message to the list of the row under construction.
func (q *quantiles) put(message []byte) int {
	var x otlp.Quantile
	if at := x.Parse(message); at < 0 {
		return at
	}
	q.quantile.Add(int64(x.Quantile))
	q.value.Add(int64(x.Value))
	q.list.End()
	return 0
}

// exemplars is the column of the exemplars of data points.
type exemplars struct {
	list                  *parquet.List
	time                  *parquet.ListInt64
	valueDouble, valueInt *parquet.ListOptionalNumber
	traceID, spanID       *parquet.ListID
	attributes            elementAttributes
}

func newExemplars(t *parquet.Table) *exemplars {
	e := &exemplars{}
	e.list = t.List("exemplars")
	e.time = e.list.Int64("time_unix_nano")
	e.valueDouble = e.list.OptionalDouble("value_double")
	e.valueInt = e.list.OptionalInt64("value_int")
	e.traceID = e.list.ID("trace_id")
	e.spanID = e.list.ID("span_id")
	e.attributes = newElementAttributes(e.list)
	return e
}

// put adds an Exemplar message to the list of the row under construction.
func (e *exemplars) put(message []byte) int {
	var x otlp.Exemplar
	if at := x.Parse(message, &e.attributes); at < 0 {
		return at
	}
	e.time.Add(int64(x.Time))
	switch x.Has {
	case otlp.HasDouble:
		e.valueDouble.Set(int64(x.Number))
	case otlp.HasInt:
		e.valueInt.Set(int64(x.Number))
	}
	e.traceID.Add(x.TraceID)
	e.spanID.Add(x.SpanID)
	e.attributes.end()
	e.list.End()
	return 0
}
