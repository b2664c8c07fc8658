package decode

import (
	"bytes"
	"errors"
	"io"
	"math/rand"
	"strings"
	"testing"

	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/s3window/s3window/internal/encode"
	"github.com/s3window/s3window/internal/partition"
)

func TestMalformedLinesOfSignals(t *testing.T) {
	for name, c := range map[string]struct{ traces, metrics, want string }{
		"events that are an object":     {traces: `{"events":{}}`, want: "unexpected"},
		"an event that is a number":     {traces: `{"events":[1]}`, want: "unexpected"},
		"an event behind no comma":      {traces: `{"events":[{} {}]}`, want: "unexpected"},
		"events that end with a comma":  {traces: `{"events":[{},]}`, want: "unexpected"},
		"an event with a bad time":      {traces: `{"events":[{"time_unix_nano":"x"}]}`, want: `field "time_unix_nano" is no integer`},
		"an event without types":        {traces: `{"events":[{"attributes":{"a":1}}]}`, want: "more entries than types"},
		"a link with a short id":        {traces: `{"links":[{"trace_id":"ab"}]}`, want: "has 2 digits"},
		"a kind that is none":           {traces: `{"kind":"worker"}`, want: "neither a name nor a number"},
		"a status beyond 32 bits":       {traces: `{"status_code":"2147483648"}`, want: "neither a name nor a number"},
		"a type that is none":           {metrics: `{"metric_type":"counter"}`, want: "no type of a metric"},
		"no type":                       {metrics: `{}`, want: "no type of a metric"},
		"a double that is a string":     {metrics: `{"metric_type":"gauge","value":"x"}`, want: "stands for"},
		"a double that is true":         {metrics: `{"metric_type":"gauge","value":true}`, want: "is no double"},
		"two values":                    {metrics: `{"metric_type":"gauge","value":1.5,"value_int":1}`, want: "another double"},
		"an exemplar with two values":   {metrics: `{"metric_type":"sum","exemplars":[{"value":"NaN","value_int":1}]}`, want: "another double"},
		"an integer that is a double":   {metrics: `{"metric_type":"gauge","value_int":1.5}`, want: "no integer"},
		"buckets that are a number":     {metrics: `{"metric_type":"histogram","bucket_counts":1}`, want: "unexpected"},
		"buckets with a null":           {metrics: `{"metric_type":"histogram","bucket_counts":[1,null]}`, want: "no integer"},
		"bounds with a string":          {metrics: `{"metric_type":"histogram","explicit_bounds":["a"]}`, want: "stands for"},
		"bounds without an end":         {metrics: `{"metric_type":"histogram","explicit_bounds":[1`, want: "too early"},
		"a quantile that is an array":   {metrics: `{"metric_type":"summary","quantiles":[[]]}`, want: "unexpected"},
		"metadata without types":        {metrics: `{"metric_type":"gauge","metric_metadata":{"a":1}}`, want: "more entries than types"},
		"a temporality that is none":    {metrics: `{"metric_type":"sum","aggregation_temporality":"odd"}`, want: "neither a name nor a number"},
		"a count beyond 64 bits":        {metrics: `{"metric_type":"summary","count":18446744073709551615}`, want: "no integer"},
		"an event nested deeper":        {traces: `{"events":[` + strings.Repeat("[", 5000) + `]}`, want: "too early"},
		"many things that are not so":   {metrics: `{"metric_type":"histogram","bucket_counts":[` + strings.Repeat("1.5,", 5000) + `1]}`, want: "no integer"},
		"a monotonicity that is a word": {metrics: `{"metric_type":"sum","is_monotonic":"yes"}`, want: "no integer"},
	} {
		var err error
		if c.traces != "" {
			_, err = Traces(content([]byte(c.traces+"\n"), "jsonl"))
		} else {
			_, err = Metrics(content([]byte(c.metrics+"\n"), "jsonl"))
		}
		if !errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error is %v, want one with %q", name, err, c.want)
		} else if len(err.Error()) > 2000 {
			t.Errorf("%s: an error of %d bytes", name, len(err.Error()))
		}
	}
}

// Lines that another tool wrote anew are read all the same.
func TestLinesOfSignalsWithSpaceAndOtherOrder(t *testing.T) {
	got, err := Traces(content([]byte(` { "events" : [ { "attributes_types":"i", "x":[{}], "attributes" : { "a" : 1 } , "name":"e" } , { } ],`+
		` "kind":"2", "links" : [ ] }`+"\n"), "jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	want := ptrace.NewTraces()
	sp := want.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty()
	sp.SetKind(ptrace.SpanKindServer)
	e := sp.Events().AppendEmpty()
	e.SetName("e")
	e.Attributes().PutInt("a", 1)
	sp.Events().AppendEmpty()
	if !bytes.Equal(marshalTraces(got), marshalTraces(want)) {
		t.Errorf("got %v", got.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0).Events().Len())
	}
	points, err := Metrics(content([]byte(`{ "bucket_counts" : [ 1 , -1 ] , "explicit_bounds":[ 1 , "Infinity",  "NaN", 2e0],`+
		` "is_monotonic" : null, "metric_type":"histogram", "sum":1, "min": null , "count" : 3}`+"\n"), "jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	h := points.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0).Histogram().DataPoints().At(0)
	if h.BucketCounts().At(1) != 1<<64-1 || h.ExplicitBounds().Len() != 4 || h.ExplicitBounds().At(3) != 2 || h.Sum() != 1 || h.HasMin() || h.Count() != 3 {
		t.Errorf("got %v %v", h.BucketCounts().AsRaw(), h.ExplicitBounds().AsRaw())
	}
}

// Whatever bytes of an object are changed or missing, the answer is an error or
// some records, never a panic or a hang.
func TestDamagedObjectsOfSignals(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	for _, s := range signals() {
		var entries []encode.Entry
		for _, p := range s.generated(5, 200) {
			entries = append(entries, encode.Entry{Payload: p, ReceivedAt: 1})
		}
		_, all := s.encoders(t)
		for name, e := range all {
			o := objectOf(t, s.name, e, entries)
			whole := make([]byte, o.Size)
			if _, err := o.Content.ReadAt(whole, 0); err != nil && !errors.Is(err, io.EOF) {
				t.Fatal(err)
			}
			failed := 0
			for i := range 60 {
				b := bytes.Clone(whole)
				if i%3 == 0 {
					b = b[:r.Intn(len(b))]
				} else {
					// Most of the damage goes where the structure is.
					at := r.Intn(len(b))
					if i%3 == 1 {
						at = len(b) - 1 - r.Intn(min(len(b), 8000))
					}
					b[at] ^= byte(1 + r.Intn(255))
				}
				if _, err := s.again(content(b, o.Ext)); err != nil {
					failed++
				}
			}
			if failed < 20 {
				t.Errorf("%s, %s: only %d of 60 damaged objects were refused", s.name, name, failed)
			}
		}
	}
}

// An object is read as what it is of.
func TestObjectsOfAnotherSignal(t *testing.T) {
	for _, s := range signals() {
		e, err := encode.New(encode.Spec{Signal: s.name, Format: "parquet", Codec: "zstd"})
		if err != nil {
			t.Fatal(err)
		}
		o := objectOf(t, s.name, e, []encode.Entry{{Payload: s.generated(5, 10)[0]}})
		if _, err := Logs(o); err == nil || !strings.Contains(err.Error(), `of signal "`+string(s.name)+`", not "logs"`) {
			t.Errorf("%s as logs: %v", s.name, err)
		}
		// The footer lies: the columns do not.
		o = objectOf(t, partition.Logs, e, []encode.Entry{{Payload: s.generated(5, 10)[0]}})
		if _, err := Logs(o); err == nil || !strings.Contains(err.Error(), "is not known") {
			t.Errorf("%s as logs, said to be so: %v", s.name, err)
		}
	}
}

func FuzzLinesOfSignals(f *testing.F) {
	for _, s := range signals() {
		e, err := encode.New(encode.Spec{Signal: s.name, Format: "jsonl", Codec: "none"})
		if err != nil {
			f.Fatal(err)
		}
		for i := range int64(4) {
			o := objectOf(f, s.name, e, []encode.Entry{{Payload: s.generated(i, 1)[0]}})
			lines := make([]byte, o.Size)
			_, _ = o.Content.ReadAt(lines, 0)
			f.Add(lines[:bytes.IndexByte(lines, '\n')+1])
		}
	}
	f.Add([]byte(`{"events":[ {"time_unix_nano":1}, {}],"links":[{}],"kind":"server"}` + "\n"))
	f.Add([]byte(`{"metric_type":"histogram","bucket_counts":[1, 2],"explicit_bounds":["NaN",1],"exemplars":[{"value_int":1}]}` + "\n"))
	f.Add([]byte(`{"metric_type":"exponential_histogram","positive_bucket_counts":[1],"scale":-2}` + "\n"))
	f.Add([]byte(`{"metric_type":"summary","quantiles":[{"quantile":0.5,"value":1}]}` + "\n"))
	encoders := map[partition.Signal]*encode.Encoder{}
	for _, s := range signals() {
		e, err := encode.New(encode.Spec{Signal: s.name, Format: "jsonl", Codec: "none"})
		if err != nil {
			f.Fatal(err)
		}
		encoders[s.name] = e
	}
	f.Fuzz(func(t *testing.T, lines []byte) {
		for _, s := range signals() {
			got, err := s.again(content(lines, "jsonl"))
			if err != nil {
				if !errors.Is(err, ErrMalformed) {
					t.Fatal(err)
				}
				continue
			}
			// What was read can be written, and read again as the same.
			entries := []encode.Entry{{Payload: got}}
			again, err := s.again(objectOf(t, s.name, encoders[s.name], entries))
			if err != nil {
				t.Fatal(err)
			}
			s.same(t, again, s.want(t, encode.Spec{Format: "jsonl"}, entries))
		}
	})
}

func TestEmptyObjectsOfSignals(t *testing.T) {
	if x, err := Traces(content(nil, "jsonl")); err != nil || x.SpanCount() != 0 {
		t.Error(err)
	}
	if x, err := Metrics(content(nil, "jsonl")); err != nil || x.DataPointCount() != 0 {
		t.Error(err)
	}
	for _, each := range []func() error{
		func() error {
			return EachTraces(content([]byte("{}\n"), "jsonl"), 1, func(ptrace.Traces) error { return io.ErrClosedPipe })
		},
		func() error {
			return EachMetrics(content([]byte(`{"metric_type":"gauge"}`+"\n"), "jsonl"), 1, func(pmetric.Metrics) error { return io.ErrClosedPipe })
		},
	} {
		if err := each(); err != io.ErrClosedPipe {
			t.Errorf("the visit's error is %v", err)
		}
	}
}
