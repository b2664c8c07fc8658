package encode

import (
	"github.com/s3window/s3window/internal/encode/otlp"
	"github.com/s3window/s3window/internal/encode/parquet"
)

// put adds the row of a point whose attributes, exemplars and other lists, but
// for exponential buckets, are in their columns already.
func (x *metrics) put(s *stager, kind uint64, p *otlp.Point, received int64, size int) int {
	ts := received
	if p.Time != 0 {
		ts = int64(p.Time / 1000)
	}
	s.minTime, s.maxTime = min(s.minTime, ts), max(s.maxTime, ts)
	x.ts.Add(ts)
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
		if at := x.putExponential(p); at < 0 {
			return at
		}
		fallthrough
	case otlp.Histogram:
		x.count.Set(int64(p.Count))
		set(x.sum, p.Has&otlp.HasSum != 0, p.Sum)
		set(x.low, p.Has&otlp.HasMin != 0, p.Min)
		set(x.high, p.Has&otlp.HasMax != 0, p.Max)
	default:
		x.count.Set(int64(p.Count))
		x.sum.Set(int64(p.Sum))
	}
	x.bucketCounts.EndRow()
	x.bounds.EndRow()
	x.positiveBuckets.EndRow()
	x.negativeBuckets.EndRow()
	x.quantiles.EndRow()
	x.exemplars.list.EndRow()
	x.table.EndRow(size)
	return 0
}

func set(c *parquet.OptionalNumber, present bool, bits uint64) {
	if present {
		c.Set(int64(bits))
	}
}

func (x *metrics) putExponential(p *otlp.Point) int {
	x.scale.Set(int64(p.Scale))
	x.zeroCount.Set(int64(p.ZeroCount))
	x.zeroThreshold.Set(int64(p.Zero))
	if at := putBuckets(p.Positive, x.positiveOffset, x.positiveBuckets); at < 0 {
		return at
	}
	return putBuckets(p.Negative, x.negativeOffset, x.negativeBuckets)
}

// putBuckets puts a Buckets message of an exponential histogram.
func putBuckets(b []byte, offset *parquet.OptionalNumber, counts *parquet.NumberList) int {
	first := int32(0)
	for i := 0; i < len(b); {
		var tag, n uint64
		tag, i = otlp.Uvarint(b, i)
		switch {
		case i < 0:
		case tag == 1<<3|0:
			n, i = otlp.Uvarint(b, i)
			first = otlp.Zigzag32(n)
		case tag == 2<<3|0:
			if n, i = otlp.Uvarint(b, i); i >= 0 {
				counts.Add(int64(n))
			}
		case tag == 2<<3|2:
			i = message(b, i, func(packed []byte) int { return putVarints(packed, counts) })
		default:
			i = otlp.Skip(b, i, tag, 1<<1|1<<2)
		}
		if i < 0 {
			return i
		}
	}
	offset.Set(int64(first))
	return 0
}

func putVarints(packed []byte, to *parquet.NumberList) (i int) {
	for i < len(packed) {
		var n uint64
		if n, i = otlp.Uvarint(packed, i); i < 0 {
			return i
		}
		to.Add(int64(n))
	}
	return i
}

// putQuantile adds a ValueAtQuantile message to the list of the row under
// construction.
func (x *metrics) putQuantile(b []byte) int {
	var quantile, value uint64
	for i := 0; i < len(b); {
		var tag uint64
		tag, i = otlp.Uvarint(b, i)
		switch {
		case i < 0:
		case tag == 1<<3|1:
			quantile, i = otlp.Fixed64(b, i)
		case tag == 2<<3|1:
			value, i = otlp.Fixed64(b, i)
		default:
			i = otlp.Skip(b, i, tag, 1<<1|1<<2)
		}
		if i < 0 {
			return i
		}
	}
	x.quantile.Add(int64(quantile))
	x.quantileValue.Add(int64(value))
	x.quantiles.End()
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

func newExemplars(t *parquet.Table) (e exemplars) {
	e.list = t.List("exemplars")
	e.time = e.list.Int64("time_unix_nano")
	e.valueDouble = e.list.OptionalDouble("value_double")
	e.valueInt = e.list.OptionalInt64("value_int")
	e.traceID = e.list.ID("trace_id")
	e.spanID = e.list.ID("span_id")
	e.attributes = newElementAttributes(e.list)
	return e
}

const knownExemplarFields = 1<<8 - 1<<2

// put adds an Exemplar message to the list of the row under construction.
func (e *exemplars) put(b []byte) int {
	var time, value uint64
	var has uint8
	var traceID, spanID []byte
	for i := 0; i < len(b); {
		var tag uint64
		tag, i = otlp.Uvarint(b, i)
		switch {
		case i < 0:
		case tag == 2<<3|1:
			time, i = otlp.Fixed64(b, i)
		case tag == 3<<3|1:
			has = otlp.HasDouble
			value, i = otlp.Fixed64(b, i)
		case tag == 4<<3|2:
			spanID, i = otlp.Bytes(b, i)
		case tag == 5<<3|2:
			traceID, i = otlp.Bytes(b, i)
		case tag == 6<<3|1:
			has = otlp.HasInt
			value, i = otlp.Fixed64(b, i)
		case tag == 7<<3|2:
			i = message(b, i, e.attributes.put)
		default:
			i = otlp.Skip(b, i, tag, knownExemplarFields)
		}
		if i < 0 {
			return i
		}
	}
	if !validID(&traceID, 16) || !validID(&spanID, 8) {
		return otlp.BadID
	}
	e.time.Add(int64(time))
	switch has {
	case otlp.HasDouble:
		e.valueDouble.Set(int64(value))
	case otlp.HasInt:
		e.valueInt.Set(int64(value))
	}
	e.traceID.Add(traceID)
	e.spanID.Add(spanID)
	e.attributes.end()
	e.list.End()
	return 0
}
