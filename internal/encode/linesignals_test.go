package encode

import (
	"slices"
	"strings"
	"testing"

	"github.com/s3window/s3window/internal/encode/encodetest"
	"github.com/s3window/s3window/internal/encode/schema"
	"github.com/s3window/s3window/internal/partition"
)

// lineSignal is a signal as lines have it, with what its tests are made of.
type lineSignal struct {
	signal    partition.Signal
	columns   []string
	beside    []string // of the columns, those that no oracle's cell is compared with: objects and lists
	golden    int      // how many of the cases are in the goldens
	cases     []lineCase
	oracle    func(t testing.TB, entries []Entry, columns []Column) grid
	good      Entry
	other     []byte // a request that is well-formed too
	malformed map[string][]byte
	generated func(seed int64, n int) [][]byte
}

type lineCase struct {
	name    string
	entries []Entry
}

func lineSignals(t testing.TB) []lineSignal {
	logs := lineSignal{
		signal: partition.Logs, columns: lineNames(partition.Logs), beside: []string{"body"}, golden: 25, oracle: oracle,
		good: encodeCase(t, inputCase{fill: one(everyField)})[0], malformed: malformed(), generated: encodetest.Logs,
		other: record(attr(6, "promoted", "x"), attr(6, "other", "y")),
	}
	for _, c := range append(inputCases()[:13], valueCases()[:12]...) {
		logs.cases = append(logs.cases, lineCase{c.name, encodeCase(t, c)})
	}
	for _, c := range inputCases()[13:] {
		logs.cases = append(logs.cases, lineCase{c.name, encodeCase(t, c)})
	}
	traces := lineSignal{
		signal: partition.Traces, columns: lineNames(partition.Traces), beside: []string{"events", "links"}, golden: 11, oracle: tracesOracle,
		good: tracesEntries(t, oneSpan(everySpanField))[0], malformed: malformedTraces(), generated: encodetest.Traces,
		other: spanMessage(msg(11, str(2, "x")), attr(9, "promoted", "x")),
	}
	for _, c := range tracesCases() {
		traces.cases = append(traces.cases, lineCase{c.name, tracesEntries(t, c.fill)})
	}
	metrics := lineSignal{
		signal: partition.Metrics, columns: lineNames(partition.Metrics), golden: 11, oracle: metricsOracle,
		beside: []string{
			"bucket_counts", "explicit_bounds", "positive_bucket_counts", "negative_bucket_counts", "quantiles", "exemplars", "metric_metadata",
		},
		good: metricsEntries(t, everyMetric)[0], malformed: malformedMetrics(), generated: encodetest.Metrics,
		other: metric(str(1, "x"), msg(5, msg(1, attr(7, "promoted", "x")))),
	}
	for _, c := range metricsCases() {
		metrics.cases = append(metrics.cases, lineCase{c.name, metricsEntries(t, c.fill)})
	}
	return []lineSignal{logs, traces, metrics}
}

// lineNames are the columns that lines have too: their path names the tenant.
func lineNames(signal partition.Signal) []string {
	s, _ := schema.Of(signal)
	return slices.DeleteFunc(s.Names(), func(name string) bool { return name == "tenant_id" })
}

func (s lineSignal) spec(codec string, columns ...Column) Spec {
	return Spec{Signal: s.signal, Format: "jsonl", Codec: codec, Columns: columns}
}

// codecs are those that a test tries which decides nothing by the signal.
func (s lineSignal) codecs() []string {
	if s.signal == partition.Logs {
		return lineCodecs
	}
	return lineCodecs[2:]
}

// scalars are the columns that are compared with the oracle's.
func (s lineSignal) scalars() (out []string) {
	objects := append([]string{"attributes", "scope_attributes", "resource_attributes"}, s.beside...)
	for _, n := range s.columns {
		if !slices.Contains(objects, n) {
			out = append(out, n)
		}
	}
	return out
}

// Every line is JSON with the fields of the schema in their order, and its
// scalars are what pdata says.
func TestLinesOfEveryInput(t *testing.T) {
	for _, s := range lineSignals(t) {
		names := slices.Clone(s.columns)
		for _, place := range []string{"", "scope_", "resource_"} {
			for _, n := range []string{"promoted", "int", "double", "bool"} {
				names = append(names, place+n)
			}
		}
		for _, codec := range s.codecs() {
			plain, wide := newTestEncoder(t, s.spec(codec)), newTestEncoder(t, s.spec(codec, testColumns()...))
			for _, c := range s.cases {
				t.Run(string(s.signal)+"/"+codec+"/"+c.name, func(t *testing.T) {
					for _, line := range splitLines(t, unpacked(t, codec, object(t, wide, stage(t, wide, c.entries)))) {
						if f := parseLine(t, line); !slices.Equal(f.names, names) {
							t.Fatalf("fields are %v", f.names)
						}
					}
					s.compare(t, splitLines(t, unpacked(t, codec, object(t, plain, stage(t, plain, c.entries)))), s.oracle(t, c.entries, nil))
				})
			}
		}
	}
}

// compare compares the scalars of lines with the oracle's.
func (s lineSignal) compare(t *testing.T, lines [][]byte, want grid) {
	t.Helper()
	var got, say []string
	for _, line := range lines {
		f, row := parseLine(t, line), ""
		for _, n := range s.scalars() {
			row += pair(n, f.cell(t, n))
		}
		got = append(got, row)
	}
	for _, r := range want.rows {
		row := ""
		for _, n := range s.scalars() {
			row += pair(n, r[slices.Index(want.columns, n)])
		}
		say = append(say, row)
	}
	slices.Sort(got) // the oracle's rows are clustered by service
	slices.Sort(say)
	for i := range max(len(got), len(say)) {
		if i >= len(got) || i >= len(say) || got[i] != say[i] {
			t.Fatalf("%d lines, want %d; line %d differs:\n%v\n%v", len(got), len(say), i, got[min(i, len(got)-1)], say[min(i, len(say)-1)])
		}
	}
}

// Lines by the letter, with a value of every kind.
func TestGoldenLines(t *testing.T) {
	for _, s := range lineSignals(t) {
		name := "testdata/" + map[partition.Signal]string{
			partition.Logs: "lines-v1", partition.Traces: "traces-lines-v1", partition.Metrics: "metrics-lines-v1",
		}[s.signal]
		var entries []Entry
		for _, c := range s.cases[:s.golden] {
			if !strings.Contains(c.name, "many lengths") {
				entries = append(entries, c.entries...)
			}
		}
		e := newTestEncoder(t, s.spec("none"))
		golden(t, name+".jsonl", object(t, e, stage(t, e, entries)))
		e = newTestEncoder(t, s.spec("none", testColumns()...))
		golden(t, name+"-promoted.jsonl", object(t, e, stage(t, e, entries)))
	}
}
