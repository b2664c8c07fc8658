package encodetest

import (
	"fmt"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"
)

// Metrics returns export requests with n data points in all, or a few more.
func Metrics(seed int64, n int) [][]byte {
	w := NewWorld(seed)
	var out [][]byte
	var m pmetric.ProtoMarshaler
	for done := 0; done < n; {
		metrics := pmetric.NewMetrics()
		at := Start + int64(float64(window)*float64(done)/float64(n))
		for range 1 + w.r.Intn(6) {
			w.metrics(metrics.ResourceMetrics().AppendEmpty(), at)
		}
		done += metrics.DataPointCount()
		b, err := m.MarshalMetrics(metrics)
		if err != nil {
			panic(err) // the marshaler has no error to return
		}
		out = append(out, b)
	}
	return out
}

func (w *World) metrics(rm pmetric.ResourceMetrics, at int64) {
	in, r := w.instance(), w.r
	rm.SetSchemaUrl("https://opentelemetry.io/schemas/1.37.0")
	in.fill(rm.Resource().Attributes())
	sm := rm.ScopeMetrics().AppendEmpty()
	sm.Scope().SetName("github.com/example/otel-" + in.language + "-meter")
	sm.Scope().SetVersion("0.14.2")
	start, now := pcommon.Timestamp(Start-3600e9), pcommon.Timestamp(at)
	for i := range 12 {
		m := sm.Metrics().AppendEmpty()
		m.SetName("process.gauge." + words()[i])
		m.SetUnit("By")
		m.SetDescription("How much of it there is at " + words()[i])
		w.number(m.SetEmptyGauge().DataPoints().AppendEmpty(), i%2 == 0, 0, now)
	}
	requests := sm.Metrics().AppendEmpty()
	requests.SetName("http.server.requests")
	sum := requests.SetEmptySum()
	sum.SetIsMonotonic(true)
	sum.SetAggregationTemporality(pmetric.AggregationTemporalityCumulative)
	latency := sm.Metrics().AppendEmpty()
	latency.SetName("http.server.request.duration")
	latency.SetUnit("s")
	latency.SetEmptyHistogram().SetAggregationTemporality(pmetric.AggregationTemporalityCumulative)
	for _, route := range in.routes {
		p := sum.DataPoints().AppendEmpty()
		w.number(p, true, start, now)
		p.Attributes().PutStr("http.route", route)
		p.Attributes().PutInt("http.response.status_code", 200)
		h := latency.Histogram().DataPoints().AppendEmpty()
		h.SetStartTimestamp(start)
		h.SetTimestamp(now)
		h.Attributes().PutStr("http.route", route)
		w.histogram(h)
	}
	exp := sm.Metrics().AppendEmpty()
	exp.SetName("rpc.server.duration")
	exp.SetEmptyExponentialHistogram().SetAggregationTemporality(pmetric.AggregationTemporalityDelta)
	e := exp.ExponentialHistogram().DataPoints().AppendEmpty()
	e.SetTimestamp(now)
	e.SetScale(3)
	e.SetCount(100)
	e.SetSum(r.Float64() * 100)
	e.Positive().SetOffset(int32(r.Intn(40) - 20))
	for range 20 {
		e.Positive().BucketCounts().Append(uint64(r.Intn(12)))
	}
}

func (w *World) number(p pmetric.NumberDataPoint, integer bool, start, at pcommon.Timestamp) {
	p.SetStartTimestamp(start)
	p.SetTimestamp(at)
	if integer {
		p.SetIntValue(int64(w.r.Intn(1_000_000)))
	} else {
		p.SetDoubleValue(w.r.Float64())
	}
	if w.r.Intn(30) == 0 {
		x := p.Exemplars().AppendEmpty()
		x.SetTimestamp(at)
		x.SetDoubleValue(w.r.Float64())
		var id [16]byte
		w.r.Read(id[:])
		x.SetTraceID(id)
		x.SetSpanID([8]byte(id[:8]))
		x.FilteredAttributes().PutStr("thread.name", fmt.Sprint("worker-", w.r.Intn(8)))
	}
}

func (w *World) histogram(h pmetric.HistogramDataPoint) {
	h.ExplicitBounds().FromRaw([]float64{.005, .01, .025, .05, .075, .1, .25, .5, .75, 1, 2.5, 5, 7.5, 10})
	total := uint64(0)
	for range 15 {
		n := uint64(w.r.Intn(200))
		total += n
		h.BucketCounts().Append(n)
	}
	h.SetCount(total)
	h.SetSum(float64(total) * .2)
	h.SetMin(.001)
	h.SetMax(w.r.Float64() * 10)
}
