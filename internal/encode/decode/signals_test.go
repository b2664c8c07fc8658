package decode

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"pgregory.net/rapid"

	"github.com/s3window/s3window/internal/encode"
	"github.com/s3window/s3window/internal/encode/encodetest"
	"github.com/s3window/s3window/internal/partition"
)

// signal is a signal other than logs, as its tests see it: requests of records
// that stand alone, each with all that it stands in.
type signal struct {
	name      partition.Signal
	world     func(w world) []byte
	generated func(seed int64, n int) [][]byte
	// alone takes a request apart into groups (one for each resource) of requests
	// of one record, in OTLP.
	alone func(t failer, payload []byte) []group
	// normal returns the normal form of such a request.
	normal func(s encode.Spec, one []byte) []byte
	// again returns a request as it is decoded from an object.
	again func(o Object) ([]byte, error)
	each  func(o Object, limit int, visit func(part []byte, records int) error) error
	heads func(one []byte) [][]byte // what the record stands in, by level
}

type group struct {
	service string
	records [][]byte
}

func signals() []signal {
	return []signal{
		{
			name: partition.Traces, generated: encodetest.Traces, alone: aloneSpans, normal: normalSpan, heads: spanHeads,
			world: func(w world) []byte { return marshalTraces(w.traces()) },
			again: func(o Object) ([]byte, error) {
				x, err := Traces(o)
				return marshalTraces(x), err
			},
			each: func(o Object, limit int, visit func([]byte, int) error) error {
				return EachTraces(o, limit, func(x ptrace.Traces) error { return visit(marshalTraces(x), x.SpanCount()) })
			},
		},
		{
			name: partition.Metrics, generated: encodetest.Metrics, alone: alonePoints, normal: normalPoint, heads: pointHeads,
			world: func(w world) []byte { return marshalMetrics(w.metrics()) },
			again: func(o Object) ([]byte, error) {
				x, err := Metrics(o)
				return marshalMetrics(x), err
			},
			each: func(o Object, limit int, visit func([]byte, int) error) error {
				return EachMetrics(o, limit, func(x pmetric.Metrics) error { return visit(marshalMetrics(x), x.DataPointCount()) })
			},
		},
	}
}

func (s signal) encoders(t testing.TB) (map[string]encode.Spec, map[string]*encode.Encoder) {
	by, out := map[string]encode.Spec{}, map[string]*encode.Encoder{}
	for name, spec := range specs() {
		spec.Signal = s.name
		e, err := encode.New(spec)
		if err != nil {
			t.Fatal(err)
		}
		by[name], out[name] = spec, e
	}
	return by, out
}

// want is the normal form of what is in entries, a record at a time.
func (s signal) want(t failer, spec encode.Spec, calls ...[]encode.Entry) (out [][]byte) {
	for _, entries := range calls {
		var groups []group
		for _, e := range entries {
			groups = append(groups, s.alone(t, e.Payload)...)
		}
		if spec.Format == "parquet" {
			slices.SortStableFunc(groups, func(a, b group) int { return strings.Compare(a.service, b.service) })
		}
		for _, g := range groups {
			for _, one := range g.records {
				out = append(out, s.normal(spec, one))
			}
		}
	}
	return out
}

// same fails t unless the request got has the records want and no more, and
// none of them stands in a head of its own that the one before it stands in too.
func (s signal) same(t failer, got []byte, want [][]byte) {
	t.Helper()
	var records [][]byte
	for _, g := range s.alone(t, got) {
		records = append(records, g.records...)
	}
	if len(records) != len(want) {
		t.Fatalf("%d records came back, want %d", len(records), len(want))
	}
	for i := range records {
		if !bytes.Equal(records[i], want[i]) {
			t.Fatalf("record %d is\n%q\nwant\n%q", i, records[i], want[i])
		}
	}
	changes := 0
	var last [][]byte
	for _, r := range records {
		heads := s.heads(r)
		for l := range heads {
			if last == nil || !bytes.Equal(heads[l], last[l]) {
				changes += len(heads) - l
				break
			}
		}
		last = heads
	}
	if n := headCount(s.name, got); n != changes {
		t.Fatalf("the records stand in %d heads, where %d would do", n, changes)
	}
}

func TestRoundTripOfSignals(t *testing.T) {
	for _, s := range signals() {
		by, all := s.encoders(t)
		for name, spec := range by {
			t.Run(string(s.name)+"/"+name, func(t *testing.T) {
				rapid.Check(t, func(t *rapid.T) {
					var calls [][]encode.Entry
					for range rapid.IntRange(0, 2).Draw(t, "calls") {
						var entries []encode.Entry
						for i := range rapid.IntRange(1, 2).Draw(t, "entries") {
							entries = append(entries, encode.Entry{Payload: s.world(world{t}), ReceivedAt: int64(i)})
						}
						calls = append(calls, entries)
					}
					got, err := s.again(objectOf(t, s.name, all[name], calls...))
					if err != nil {
						t.Fatal(err)
					}
					s.same(t, got, s.want(t, spec, calls...))
				})
			})
		}
	}
}

func TestRoundTripOfGeneratedSignals(t *testing.T) {
	for _, s := range signals() {
		by, all := s.encoders(t)
		var entries []encode.Entry
		for _, p := range s.generated(5, 2000) {
			entries = append(entries, encode.Entry{Payload: p, ReceivedAt: 1})
		}
		for name, spec := range by {
			got, err := s.again(objectOf(t, s.name, all[name], entries))
			if err != nil {
				t.Fatalf("%s, %s: %v", s.name, name, err)
			}
			s.same(t, got, s.want(t, spec, entries))
		}
	}
}

func TestEachKeepsToTheLimit(t *testing.T) {
	for _, s := range signals() {
		_, all := s.encoders(t)
		var entries []encode.Entry
		size := 0
		for _, p := range s.generated(5, 1500) {
			entries, size = append(entries, encode.Entry{Payload: p, ReceivedAt: 1}), size+len(p)
		}
		for _, name := range []string{"parquet zstd", "jsonl none"} {
			o := objectOf(t, s.name, all[name], entries)
			for _, limit := range []int{1, 5000, 100_000, 1 << 30} {
				records, parts := 0, 0
				err := s.each(o, limit, func(part []byte, n int) error {
					if len(part) > limit && n > 1 {
						t.Fatalf("%s: a part of %d records has %d bytes, more than %d", name, n, len(part), limit)
					}
					records, parts = records+n, parts+1
					return nil
				})
				if err != nil || records < 1500 {
					t.Fatalf("%s: %d records, %v", name, records, err)
				}
				if least := size * 2 / limit; parts > max(least+2, 1) && limit > 1 {
					t.Errorf("%s, %s: %d parts of at most %d bytes, where %d would do", s.name, name, parts, limit, least)
				}
			}
		}
	}
}

func FuzzRoundTripOfSignals(f *testing.F) {
	type coder struct {
		by  map[string]encode.Spec
		all map[string]*encode.Encoder
	}
	coders := map[partition.Signal]coder{}
	for _, s := range signals() {
		by, all := s.encoders(f)
		for name := range all { // each costs as much as another, and these have all that there is
			if name != "parquet snappy, moved" && name != "jsonl none" {
				delete(all, name)
			}
		}
		coders[s.name] = coder{by, all}
		for i := range 20 {
			f.Add(rapid.Custom(func(t *rapid.T) []byte { return s.world(world{t}) }).Example(i))
		}
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		for _, s := range signals() {
			s.fuzz(t, payload, coders[s.name].by, coders[s.name].all)
		}
	})
}

// fuzz sends whatever pdata makes of payload.
func (s signal) fuzz(t *testing.T, payload []byte, by map[string]encode.Spec, all map[string]*encode.Encoder) {
	if s.name == partition.Traces {
		x, err := (&ptrace.ProtoUnmarshaler{}).UnmarshalTraces(payload)
		if err != nil {
			return
		}
		payload = marshalTraces(x)
	} else {
		x, err := (&pmetric.ProtoUnmarshaler{}).UnmarshalMetrics(payload)
		if err != nil {
			return
		}
		payload = marshalMetrics(x)
	}
	if bytes.Contains(payload, []byte("service.name")) {
		return // want knows no order for those that are no strings
	}
	entries := []encode.Entry{{Payload: payload}}
	for name, e := range all {
		staged, err := e.Stage(entries)
		if err != nil {
			t.Fatal(err)
		}
		if len(staged.Rejected) > 0 {
			continue
		}
		got, err := s.again(objectOf(t, s.name, e, entries))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		s.same(t, got, s.want(t, by[name], entries))
	}
}
