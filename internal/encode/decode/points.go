package decode

import (
	"math"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
)

// point is what data points of every kind have.
type point interface {
	SetStartTimestamp(pcommon.Timestamp)
	SetTimestamp(pcommon.Timestamp)
	SetFlags(pmetric.DataPointFlags)
	Attributes() pcommon.Map
}

func readPoint(r row, p point) {
	p.SetStartTimestamp(readTime(r, pointStartTimeUnixNano))
	p.SetTimestamp(readTime(r, pointTimeUnixNano))
	p.SetFlags(pmetric.DataPointFlags(r.number(pointFlags)))
	r.attributes(pointAttributes, p.Attributes())
}

// readDouble calls set with a double, unless it is null.
func readDouble(r row, f int, set func(float64)) {
	if bits, ok := r.optional(f); ok {
		set(math.Float64frombits(uint64(bits)))
	}
}

// single is what has one value, of one of two types.
type single interface {
	SetDoubleValue(float64)
	SetIntValue(int64)
}

// readSingle reads a value: the integer where there is one, of which the double
// is then a copy.
func readSingle(r row, asDouble, asInt int, to single) {
	readDouble(r, asDouble, to.SetDoubleValue)
	n, ok := r.optional(asInt)
	if !ok {
		return
	}
	to.SetIntValue(n)
	if bits, both := r.optional(asDouble); both && math.Float64frombits(uint64(bits)) != float64(n) {
		r.fail(malformed("a value is the integer %d and another double", n))
	}
}

func readNumber(r row, p pmetric.NumberDataPoint) {
	readPoint(r, p)
	readSingle(r, pointValue, pointValueInt, p)
	readExemplars(r, p.Exemplars())
}

func readExemplars(r row, to pmetric.ExemplarSlice) {
	r.each(pointExemplars, func(r row) {
		e := to.AppendEmpty()
		e.SetTimestamp(readTime(r, exemplarTimeUnixNano))
		readSingle(r, exemplarValue, exemplarValueInt, e)
		e.SetTraceID(readTraceID(r, exemplarTraceID))
		e.SetSpanID(readSpanID(r, exemplarSpanID))
		r.attributes(exemplarAttributes, e.FilteredAttributes())
	})
}

// count reads a number that is null where the point is of another kind.
func count(r row, f int) uint64 {
	n, _ := r.optional(f)
	return uint64(n)
}

func readCounts(r row, f int, to pcommon.UInt64Slice) {
	r.numbers(f, func(n int64) { to.Append(uint64(n)) })
}

func readHistogram(r row, p pmetric.HistogramDataPoint) {
	readPoint(r, p)
	p.SetCount(count(r, pointCount))
	readDouble(r, pointSum, p.SetSum)
	readDouble(r, pointMin, p.SetMin)
	readDouble(r, pointMax, p.SetMax)
	readCounts(r, pointBucketCounts, p.BucketCounts())
	r.numbers(pointExplicitBounds, func(bits int64) { p.ExplicitBounds().Append(math.Float64frombits(uint64(bits))) })
	readExemplars(r, p.Exemplars())
}

func readExponential(r row, p pmetric.ExponentialHistogramDataPoint) {
	readPoint(r, p)
	p.SetCount(count(r, pointCount))
	readDouble(r, pointSum, p.SetSum)
	readDouble(r, pointMin, p.SetMin)
	readDouble(r, pointMax, p.SetMax)
	p.SetScale(int32(count(r, pointScale)))
	p.SetZeroCount(count(r, pointZeroCount))
	readDouble(r, pointZeroThreshold, p.SetZeroThreshold)
	p.Positive().SetOffset(int32(count(r, pointPositiveOffset)))
	readCounts(r, pointPositiveBucketCounts, p.Positive().BucketCounts())
	p.Negative().SetOffset(int32(count(r, pointNegativeOffset)))
	readCounts(r, pointNegativeBucketCounts, p.Negative().BucketCounts())
	readExemplars(r, p.Exemplars())
}

func readSummary(r row, p pmetric.SummaryDataPoint) {
	readPoint(r, p)
	p.SetCount(count(r, pointCount))
	readDouble(r, pointSum, p.SetSum)
	r.each(pointQuantiles, func(r row) {
		q := p.QuantileValues().AppendEmpty()
		readDouble(r, quantileQuantile, q.SetQuantile)
		readDouble(r, quantileValue, q.SetValue)
	})
}
