package encode

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"strings"
	"testing"

	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/s3window/s3window/internal/encode/encodetest"
	"github.com/s3window/s3window/internal/partition"
	"github.com/s3window/s3window/testbed/duckdbtest"
)

type metricsCase struct {
	name string
	fill func(pmetric.Metrics)
}

func oneMetric(fill func(pmetric.Metric)) func(pmetric.Metrics) {
	return func(x pmetric.Metrics) {
		fill(x.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty().Metrics().AppendEmpty())
	}
}

func metricsCases() []metricsCase {
	const bad = "a\xff\xfeb\xc3"
	return []metricsCase{
		{"nothing", func(pmetric.Metrics) {}},
		{"metrics without data or points", func(x pmetric.Metrics) {
			ms := x.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty().Metrics()
			ms.AppendEmpty().SetName("no data")
			ms.AppendEmpty().SetEmptyGauge()
			ms.AppendEmpty().SetEmptySummary()
			ms.AppendEmpty().SetEmptyGauge().DataPoints().AppendEmpty().SetIntValue(3)
		}},
		{"an empty point of each kind", func(x pmetric.Metrics) {
			ms := x.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty().Metrics()
			ms.AppendEmpty().SetEmptyGauge().DataPoints().AppendEmpty()
			ms.AppendEmpty().SetEmptySum().DataPoints().AppendEmpty()
			ms.AppendEmpty().SetEmptyHistogram().DataPoints().AppendEmpty()
			ms.AppendEmpty().SetEmptyExponentialHistogram().DataPoints().AppendEmpty()
			ms.AppendEmpty().SetEmptySummary().DataPoints().AppendEmpty()
		}},
		{"every field", everyMetric},
		{"extreme numbers", extremeMetrics},
		{"temporalities", func(x pmetric.Metrics) {
			ms := x.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty().Metrics()
			for i := range 5 {
				s := ms.AppendEmpty().SetEmptySum()
				s.SetAggregationTemporality(pmetric.AggregationTemporality(i))
				s.SetIsMonotonic(i%2 == 0)
				for range i + 1 {
					s.DataPoints().AppendEmpty()
				}
			}
		}},
		{"metrics that differ in one field", func(x pmetric.Metrics) {
			ms := x.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty().Metrics()
			for range 2 {
				for i := range 6 {
					m := ms.AppendEmpty()
					m.SetName("m")
					switch i {
					case 1:
						m.SetName("n")
					case 2:
						m.SetDescription("d")
					case 3:
						m.SetUnit("d")
					case 4:
						m.Metadata().PutStr("k", "v")
					case 5:
						m.Metadata().PutInt("k", 1)
					}
					m.SetEmptyGauge().DataPoints().AppendEmpty().SetDoubleValue(float64(i))
				}
			}
		}},
		{"lists of many lengths", func(x pmetric.Metrics) {
			ms := x.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty().Metrics()
			for i := range 60 {
				h := ms.AppendEmpty().SetEmptyHistogram().DataPoints().AppendEmpty()
				for j := range i % 7 {
					h.BucketCounts().Append(uint64(j))
					h.ExplicitBounds().Append(float64(j) / 8)
					e := h.Exemplars().AppendEmpty()
					if j%3 == 1 {
						e.SetIntValue(int64(j))
					} else if j%3 == 2 {
						e.SetDoubleValue(float64(j) / 2)
					}
					for range j % 3 {
						e.FilteredAttributes().PutStr("k"+itoa(int64(e.FilteredAttributes().Len())), "v")
					}
				}
			}
		}},
		{"invalid UTF-8 everywhere", oneMetric(func(m pmetric.Metric) {
			m.SetName(bad)
			m.SetDescription(bad)
			m.SetUnit(bad)
			m.Metadata().PutStr(bad, bad)
			p := m.SetEmptyGauge().DataPoints().AppendEmpty()
			p.Attributes().PutStr(bad, bad)
			p.Exemplars().AppendEmpty().FilteredAttributes().PutStr(bad, bad)
		})},
		{"promoted attributes", func(x pmetric.Metrics) {
			rm := x.ResourceMetrics().AppendEmpty()
			rm.Resource().Attributes().PutStr("promoted", "r")
			sm := rm.ScopeMetrics().AppendEmpty()
			sm.Scope().Attributes().PutInt("int", 4)
			p := sm.Metrics().AppendEmpty().SetEmptyGauge().DataPoints().AppendEmpty()
			p.Attributes().PutStr("promoted", "text")
			p.Attributes().PutInt("int", -5)
			p.Attributes().PutStr("double", "of another type")
			p.Attributes().PutBool("bool", true)
		}},
		{"attributes of every kind", oneMetric(func(m pmetric.Metric) {
			kinds(m.Metadata())
			p := m.SetEmptySummary().DataPoints().AppendEmpty()
			kinds(p.Attributes())
		})},
		{"generated", func(x pmetric.Metrics) {
			for _, p := range encodetest.Metrics(3, 3000) {
				y, err := (&pmetric.ProtoUnmarshaler{}).UnmarshalMetrics(p)
				if err != nil {
					panic(err)
				}
				y.ResourceMetrics().MoveAndAppendTo(x.ResourceMetrics())
			}
		}},
	}
}

func everyMetric(x pmetric.Metrics) {
	rm := x.ResourceMetrics().AppendEmpty()
	rm.SetSchemaUrl("https://resource")
	rm.Resource().SetDroppedAttributesCount(1)
	rm.Resource().Attributes().PutStr("service.name", "shop")
	sm := rm.ScopeMetrics().AppendEmpty()
	sm.SetSchemaUrl("https://scope")
	sm.Scope().SetName("lib")
	sm.Scope().SetVersion("1.2")
	sm.Scope().SetDroppedAttributesCount(2)
	sm.Scope().Attributes().PutBool("a", true)
	metric := func() pmetric.Metric {
		m := sm.Metrics().AppendEmpty()
		m.SetName("name" + itoa(int64(sm.Metrics().Len())))
		m.SetDescription("description")
		m.SetUnit("By")
		m.Metadata().PutStr("source", "statsd")
		return m
	}
	exemplar := func(s pmetric.ExemplarSlice) {
		e := s.AppendEmpty()
		e.SetTimestamp(1789990000123456111)
		e.SetDoubleValue(1.5)
		e.SetTraceID([16]byte{1, 15: 255})
		e.SetSpanID([8]byte{2, 7: 254})
		e.FilteredAttributes().PutStr("ek", "ev")
		s.AppendEmpty().SetIntValue(-7)
	}
	number := func(p pmetric.NumberDataPoint) {
		p.SetStartTimestamp(1789990000123456001)
		p.SetTimestamp(1789990000123456789)
		p.Attributes().PutStr("k", "v")
		p.SetFlags(1)
		exemplar(p.Exemplars())
	}
	g := metric().SetEmptyGauge().DataPoints()
	number(g.AppendEmpty())
	g.At(0).SetDoubleValue(2.5)
	s := metric().SetEmptySum()
	s.SetAggregationTemporality(pmetric.AggregationTemporalityCumulative)
	s.SetIsMonotonic(true)
	number(s.DataPoints().AppendEmpty())
	s.DataPoints().At(0).SetIntValue(42)
	h := metric().SetEmptyHistogram()
	h.SetAggregationTemporality(pmetric.AggregationTemporalityDelta)
	hp := h.DataPoints().AppendEmpty()
	hp.SetStartTimestamp(1)
	hp.SetTimestamp(1789990000123456790)
	hp.SetCount(6)
	hp.SetSum(7.5)
	hp.SetMin(.5)
	hp.SetMax(3.5)
	hp.BucketCounts().FromRaw([]uint64{1, 2, 3})
	hp.ExplicitBounds().FromRaw([]float64{1, 2.5})
	hp.Attributes().PutInt("k", 1)
	hp.SetFlags(1)
	exemplar(hp.Exemplars())
	e := metric().SetEmptyExponentialHistogram()
	e.SetAggregationTemporality(pmetric.AggregationTemporalityDelta)
	ep := e.DataPoints().AppendEmpty()
	ep.SetStartTimestamp(2)
	ep.SetTimestamp(1789990000123456791)
	ep.SetCount(10)
	ep.SetSum(-3.25)
	ep.SetScale(-2)
	ep.SetZeroCount(4)
	ep.SetZeroThreshold(.125)
	ep.Positive().SetOffset(-3)
	ep.Positive().BucketCounts().FromRaw([]uint64{1, 0, 300})
	ep.Negative().SetOffset(5)
	ep.Negative().BucketCounts().FromRaw([]uint64{9})
	ep.SetMin(-1.5)
	ep.SetMax(8.5)
	ep.Attributes().PutBool("k", true)
	ep.SetFlags(1)
	exemplar(ep.Exemplars())
	sp := metric().SetEmptySummary().DataPoints().AppendEmpty()
	sp.SetStartTimestamp(3)
	sp.SetTimestamp(1789990000123456792)
	sp.SetCount(11)
	sp.SetSum(12.5)
	sp.Attributes().PutDouble("k", 1)
	sp.SetFlags(1)
	for i := range 3 {
		q := sp.QuantileValues().AppendEmpty()
		q.SetQuantile(float64(i) / 2)
		q.SetValue(float64(i) + .25)
	}
}

func extremeMetrics(x pmetric.Metrics) {
	ms := x.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty().Metrics()
	for _, f := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 5e-324, math.MaxFloat64, 1.0 / 3, 1e21} {
		p := ms.AppendEmpty().SetEmptyGauge().DataPoints().AppendEmpty()
		p.SetDoubleValue(f)
		p.SetTimestamp(math.MaxUint64)
		p.SetStartTimestamp(1 << 63)
		p.SetFlags(math.MaxUint32)
		p.Exemplars().AppendEmpty().SetDoubleValue(f)
		h := ms.AppendEmpty().SetEmptyHistogram().DataPoints().AppendEmpty()
		h.SetCount(math.MaxUint64)
		h.SetSum(f)
		h.SetMin(f)
		h.SetMax(f)
		h.ExplicitBounds().Append(f)
		h.BucketCounts().Append(math.MaxUint64)
		e := ms.AppendEmpty().SetEmptyExponentialHistogram().DataPoints().AppendEmpty()
		e.SetScale(math.MinInt32)
		e.SetZeroCount(math.MaxUint64)
		e.SetZeroThreshold(f)
		e.Positive().SetOffset(math.MaxInt32)
		e.Negative().SetOffset(math.MinInt32)
		e.Negative().BucketCounts().Append(math.MaxUint64, 0, 1<<63)
		q := ms.AppendEmpty().SetEmptySummary().DataPoints().AppendEmpty().QuantileValues().AppendEmpty()
		q.SetQuantile(f)
		q.SetValue(f)
	}
	for _, n := range []int64{math.MinInt64, math.MaxInt64, 0, -1} {
		p := ms.AppendEmpty().SetEmptySum().DataPoints().AppendEmpty()
		p.SetIntValue(n)
		p.Exemplars().AppendEmpty().SetIntValue(n)
	}
}

func metricsSpec(columns ...Column) Spec {
	return Spec{Signal: partition.Metrics, Format: "parquet", Codec: "zstd", Columns: columns}
}

func metricsEntries(t testing.TB, fill func(pmetric.Metrics)) []Entry {
	t.Helper()
	m := pmetric.NewMetrics()
	fill(m)
	b, err := (&pmetric.ProtoMarshaler{}).MarshalMetrics(m)
	if err != nil {
		t.Fatal(err)
	}
	return []Entry{{Payload: b, ReceivedAt: 1789990000654321}}
}

func TestMetricsAsEveryReaderReadsThem(t *testing.T) {
	db := duckdbtest.Open(t)
	spec := metricsSpec(testColumns()...)
	e := newTestEncoder(t, spec)
	for _, c := range metricsCases() {
		t.Run(c.name, func(t *testing.T) {
			checkMetrics(t, e, metricsEntries(t, c.fill)[0].Payload, readers(db))
		})
	}
}

// checkMetrics checks a request that pdata accepts.
func checkMetrics(t *testing.T, e *Encoder, payload []byte, rs []reader) {
	t.Helper()
	entries := []Entry{{Payload: payload, ReceivedAt: 1789990000654321}}
	staged := stage(t, e, entries)
	if len(staged.Rejected) > 0 {
		t.Fatal(staged.Rejected)
	}
	want := metricsOracle(t, entries, e.spec.Columns)
	if n, err := CountItems(partition.Metrics, payload); err != nil || n != len(want.rows) || n != staged.Rows {
		t.Errorf("CountItems is %d, %v; %d are staged, want %d", n, err, staged.Rows, len(want.rows))
	}
	file := object(t, e, staged)
	for _, r := range rs {
		for _, d := range differences(r.read(t, file), want) {
			t.Errorf("%s: %s", r.name, d)
		}
	}
}

func TestGoldenMetrics(t *testing.T) {
	spec := metricsSpec(append(DefaultColumns(), testColumns()...)...)
	e := newTestEncoder(t, spec)
	var entries []Entry
	for i, c := range metricsCases()[:11] {
		entries = append(entries, metricsEntries(t, c.fill)...)
		entries[i].ReceivedAt += int64(i)
	}
	golden(t, "testdata/metrics-v1.parquet", object(t, e, stage(t, e, entries), stage(t, e, entries[3:4])))
	old, err := os.ReadFile("testdata/metrics-v1.parquet")
	if err != nil {
		t.Fatal(err)
	}
	want := metricsOracle(t, entries, spec.Columns)
	want.rows = append(want.rows, metricsOracle(t, entries[3:4], spec.Columns).rows...)
	for _, d := range differences(readParquetGo(t, old), want) {
		t.Error(d)
	}
	golden(t, "testdata/metrics-v1.txt", []byte(describe(t, old)))
}

func f64(f float64) []byte { return binary.LittleEndian.AppendUint64(nil, math.Float64bits(f)) }

// metric is a request with one metric.
func metric(parts ...[]byte) []byte { return record(parts...) }

func TestWireFormsOfMetrics(t *testing.T) {
	e := newTestEncoder(t, metricsSpec(testColumns()...))
	for name, payload := range map[string][]byte{
		"numbers that are not packed": metric(msg(9, msg(1, fixed64(6, 1), field(7, 1, f64(.5)), fixed64(6, 2)))),
		"buckets that are not packed": metric(msg(10, msg(1, msg(8, num(2, 1), num(2, 300), msg(2, []byte{4, 5}))))),
		"buckets in two parts":        metric(msg(10, msg(1, msg(8, num(1, 3), num(2, 1)), msg(8, num(2, 2))))),
		"kinds of data in turn":       metric(str(1, "m"), msg(5, msg(1, fixed64(6, 1))), msg(9, msg(1), msg(1)), num(2000, 1)),
		"one kind of data twice":      metric(msg(7, msg(1), num(3, 1)), msg(7, msg(1), msg(1), num(2, 2))),
		"values in turn":              metric(msg(5, msg(1, field(4, 1, f64(1)), fixed64(6, 7)), msg(1, fixed64(6, 7), field(4, 1, f64(1))))),
		"header behind its points":    metric(msg(7, msg(1, fixed64(6, 1)), num(3, 1), num(2, 2)), str(3, "u"), str(1, "n"), attr(12, "k", "v")),
		"scalars twice":               metric(msg(9, msg(1, fixed64(4, 1), fixed64(4, 2), field(5, 1, f64(1)), field(5, 1, f64(2))))),
		"unknown fields":              metric(num(99, 1), msg(11, num(77, 1), msg(1, num(66, 2), msg(6, num(55, 3))))),
	} {
		t.Run(name, func(t *testing.T) {
			checkMetrics(t, e, payload, []reader{{"parquet-go", readParquetGo}})
		})
	}
}

func malformedMetrics() map[string][]byte {
	point := func(kind int, parts ...[]byte) []byte { return metric(msg(kind, msg(1, parts...))) }
	return map[string][]byte{
		"metric as number":          request(msg(2, num(2, 1))),
		"name as number":            metric(num(1, 1), msg(5, msg(1))),
		"data as number":            metric(num(5, 1)),
		"data cut":                  metric(msg(5, []byte{0x0a, 9})),
		"points as number":          metric(msg(5, num(1, 1))),
		"temporality as string":     metric(msg(7, str(2, "x"), msg(1))),
		"monotonic as string":       metric(msg(7, str(3, "x"), msg(1))),
		"time as varint":            point(5, num(3, 1)),
		"value as varint":           point(5, num(4, 1)),
		"integer as varint":         point(5, num(6, 1)),
		"flags as string":           point(5, str(8, "x")),
		"attribute cut":             point(5, msg(7, []byte{0x0a, 9})),
		"attributes nested deep":    point(5, msg(7, str(1, "k"), msg(2, nested(3000)))),
		"exemplar trace id":         point(5, msg(5, str(5, "x"))),
		"exemplar span id":          point(5, msg(5, str(4, "x"))),
		"exemplar value as varint":  point(5, msg(5, num(3, 1))),
		"exemplar attribute":        point(5, msg(5, msg(7, num(1, 1)))),
		"histogram count as varint": point(9, num(4, 1)),
		"packed counts of 9 bytes":  point(9, msg(6, make([]byte, 9))),
		"packed bounds of 7 bytes":  point(9, msg(7, make([]byte, 7))),
		"counts as varint":          point(9, num(6, 1)),
		"scale as string":           point(10, str(6, "x")),
		"buckets cut":               point(10, msg(8, []byte{0x12, 9})),
		"bucket varint cut":         point(10, msg(8, msg(2, []byte{0x80}))),
		"offset as string":          point(10, msg(9, str(1, "x"))),
		"quantile as varint":        point(11, msg(6, num(1, 1))),
		"summary count as varint":   point(11, num(4, 1)),
		"metadata as number":        metric(num(12, 1), msg(5, msg(1))),
		"metadata value":            metric(msg(12, msg(2, num(1, 1))), msg(5, msg(1))),
		"a bad one behind lists":    point(9, msg(6, make([]byte, 16)), msg(8, attr(7, "k", "v")), num(5, 1)),
	}
}

func TestMalformedMetricsAreRejectedAlone(t *testing.T) {
	e := newTestEncoder(t, metricsSpec(testColumns()...))
	good := metricsEntries(t, everyMetric)[0]
	other := Entry{Payload: metric(str(1, "x"), msg(5, msg(1, attr(7, "promoted", "x")))), ReceivedAt: 3}
	want := object(t, e, stage(t, e, []Entry{good, other, good}))
	for name, payload := range malformedMetrics() {
		t.Run(name, func(t *testing.T) {
			if _, err := (&pmetric.ProtoUnmarshaler{}).UnmarshalMetrics(payload); err == nil {
				t.Error("pdata accepts it")
			}
			bad := Entry{Payload: append(bytes.Clone(good.Payload), payload...)}
			staged := stage(t, e, []Entry{good, bad, other, {Payload: payload}, good})
			if len(staged.Rejected) != 2 || staged.Rejected[0].Index != 1 || staged.Rejected[1].Index != 3 {
				t.Fatalf("rejected %v, want entries 1 and 3", staged.Rejected)
			}
			if err := staged.Rejected[1].Err; !strings.Contains(err.Error(), "malformed OTLP") {
				t.Errorf("error %v does not say that the request is malformed", err)
			}
			if got := object(t, e, staged); !bytes.Equal(got, want) {
				t.Error("the rejected entries left a trace in the object")
			}
		})
	}
}

func FuzzStageMetrics(f *testing.F) {
	for _, c := range metricsCases()[:11] {
		f.Add(metricsEntries(f, c.fill)[0].Payload)
	}
	for _, payload := range malformedMetrics() {
		if len(payload) < 1000 {
			f.Add(payload)
		}
	}
	e := newTestEncoder(f, metricsSpec(testColumns()...))
	f.Fuzz(func(t *testing.T, payload []byte) {
		staged := stage(t, e, []Entry{{Payload: payload, ReceivedAt: 1}})
		if len(staged.Rejected) > 0 {
			return
		}
		m, err := (&pmetric.ProtoUnmarshaler{}).UnmarshalMetrics(payload)
		if err != nil {
			return
		}
		// As pdata writes it: what it makes of a list that is packed in parts is
		// not what protobuf says.
		again, err := (&pmetric.ProtoMarshaler{}).MarshalMetrics(m)
		if err != nil {
			t.Fatal(err)
		}
		checkMetrics(t, e, again, []reader{{"parquet-go", readParquetGo}})
	})
}
