package decode

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.uber.org/goleak"

	"github.com/s3window/s3window/internal/encode"
	"github.com/s3window/s3window/internal/encode/otlp"
	"github.com/s3window/s3window/internal/partition"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func testColumns(move bool) (out []encode.Column) {
	for _, c := range [][2]string{{"promoted", "string"}, {"int", "int64"}, {"double", "double"}, {"bool", "bool"}} {
		out = append(out,
			encode.Column{Attribute: c[0], As: c[0], Type: c[1], Move: move},
			encode.Column{ResourceAttribute: c[0], As: "resource_" + c[0], Type: c[1], Move: move},
			encode.Column{ScopeAttribute: c[0], As: "scope_" + c[0], Type: c[1], Move: move})
	}
	return out
}

// specs are the ways to write objects, by name.
func specs() map[string]encode.Spec {
	out := map[string]encode.Spec{}
	for name, s := range map[string]encode.Spec{
		"parquet zstd":   {Format: "parquet", Codec: "zstd"},
		"parquet snappy": {Format: "parquet", Codec: "snappy"},
		"jsonl zstd":     {Format: "jsonl", Codec: "zstd"},
		"jsonl gzip":     {Format: "jsonl", Codec: "gzip"},
		"jsonl none":     {Format: "jsonl", Codec: "none"},
	} {
		s.Signal = partition.Logs
		out[name] = s
		s.Columns = testColumns(false)
		out[name+", promoted"] = s
		if s.Format == "parquet" {
			s.Columns = testColumns(true)
			out[name+", moved"] = s
		}
	}
	return out
}

func encoders(t testing.TB) map[string]*encode.Encoder {
	out := map[string]*encode.Encoder{}
	for name, s := range specs() {
		e, err := encode.New(s)
		if err != nil {
			t.Fatal(err)
		}
		out[name] = e
	}
	return out
}

type failer interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

func marshal(t failer, l plog.Logs) []byte {
	t.Helper()
	b, err := (&plog.ProtoMarshaler{}).MarshalLogs(l)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// object encodes entries, each call of Stage on its own.
func object(t failer, e *encode.Encoder, calls ...[]encode.Entry) Object {
	t.Helper()
	return objectOf(t, partition.Logs, e, calls...)
}

func objectOf(t failer, signal partition.Signal, e *encode.Encoder, calls ...[]encode.Entry) Object {
	t.Helper()
	var staged []encode.Staged
	for _, entries := range calls {
		s, err := e.Stage(entries)
		if err != nil || len(s.Rejected) > 0 {
			t.Fatal(err, s.Rejected)
		}
		staged = append(staged, s)
	}
	o, err := e.Assemble(partition.ID{Sink: "default", Tenant: "acme", Signal: signal}, "q7m2q7m2q7m2q", staged)
	if err != nil {
		t.Fatal(err)
	}
	return content(bytes.Join(o.Segments, nil), o.Ext)
}

func content(b []byte, ext string) Object {
	return Object{Content: bytes.NewReader(b), Size: int64(len(b)), Ext: ext, Schema: 1}
}

// normal returns the normal form of what is in entries. It shares no code with
// the encoder or the decoder.
func normal(t failer, s encode.Spec, calls ...[]encode.Entry) plog.Logs {
	t.Helper()
	out := plog.NewLogs()
	for _, entries := range calls {
		var groups []plog.ResourceLogs
		for _, e := range entries {
			l, err := (&plog.ProtoUnmarshaler{}).UnmarshalLogs(e.Payload)
			if err != nil {
				t.Fatalf("pdata refuses the payload: %v", err)
			}
			for _, rl := range l.ResourceLogs().All() {
				groups = append(groups, rl)
			}
		}
		if s.Format == "parquet" {
			slices.SortStableFunc(groups, func(a, b plog.ResourceLogs) int { return strings.Compare(service(a), service(b)) })
		}
		for _, rl := range groups {
			normalGroup(s, rl, out)
		}
	}
	return out
}

// normalGroup appends the records of rl.
func normalGroup(s encode.Spec, rl plog.ResourceLogs, out plog.Logs) {
	for _, sl := range rl.ScopeLogs().All() {
		for _, lr := range sl.LogRecords().All() {
			head := plog.NewLogs()
			r := head.ResourceLogs().AppendEmpty()
			r.SetSchemaUrl(mended(rl.SchemaUrl()))
			rl.Resource().Attributes().CopyTo(r.Resource().Attributes()) // without entity references
			r.Resource().SetDroppedAttributesCount(rl.Resource().DroppedAttributesCount())
			normalMap(r.Resource().Attributes(), s, func(c encode.Column) string { return c.ResourceAttribute })
			c := r.ScopeLogs().AppendEmpty()
			c.SetSchemaUrl(mended(sl.SchemaUrl()))
			sl.Scope().CopyTo(c.Scope())
			c.Scope().SetName(mended(c.Scope().Name()))
			c.Scope().SetVersion(mended(c.Scope().Version()))
			normalMap(c.Scope().Attributes(), s, func(c encode.Column) string { return c.ScopeAttribute })
			x := plog.NewLogRecord()
			lr.CopyTo(x)
			x.SetSeverityText(mended(x.SeverityText()))
			x.SetEventName(mended(x.EventName()))
			normalValue(x.Body())
			normalMap(x.Attributes(), s, func(c encode.Column) string { return c.Attribute })
			x.MoveTo(place(out, r, c).LogRecords().AppendEmpty())
		}
	}
}

// place returns where a record of resource r and scope c comes behind what is
// in out.
func place(out plog.Logs, r plog.ResourceLogs, c plog.ScopeLogs) plog.ScopeLogs {
	all := out.ResourceLogs()
	if all.Len() == 0 || !sameResource(all.At(all.Len()-1), r) {
		last := all.AppendEmpty()
		r.Resource().CopyTo(last.Resource())
		last.SetSchemaUrl(r.SchemaUrl())
	}
	scopes := all.At(all.Len() - 1).ScopeLogs()
	if scopes.Len() == 0 || !sameScope(scopes.At(scopes.Len()-1), c) {
		last := scopes.AppendEmpty()
		c.Scope().CopyTo(last.Scope())
		last.SetSchemaUrl(c.SchemaUrl())
	}
	return scopes.At(scopes.Len() - 1)
}

func sameResource(a, b plog.ResourceLogs) bool {
	return string(bare(a.Resource(), pcommon.NewInstrumentationScope(), a.SchemaUrl())) ==
		string(bare(b.Resource(), pcommon.NewInstrumentationScope(), b.SchemaUrl()))
}

func sameScope(a, b plog.ScopeLogs) bool {
	return string(bare(pcommon.NewResource(), a.Scope(), a.SchemaUrl())) == string(bare(pcommon.NewResource(), b.Scope(), b.SchemaUrl()))
}

func bare(r pcommon.Resource, s pcommon.InstrumentationScope, schema string) []byte {
	l := plog.NewLogs()
	rl := l.ResourceLogs().AppendEmpty()
	r.CopyTo(rl.Resource())
	rl.SetSchemaUrl(schema)
	s.CopyTo(rl.ScopeLogs().AppendEmpty().Scope())
	b, _ := (&plog.ProtoMarshaler{}).MarshalLogs(l)
	return b
}

func mended(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

func service(rl plog.ResourceLogs) string {
	v, ok := rl.Resource().Attributes().Get("service.name")
	if !ok {
		return ""
	}
	switch v.Type() {
	case pcommon.ValueTypeStr:
		return mended(v.Str())
	case pcommon.ValueTypeInt, pcommon.ValueTypeBool:
		return v.AsString()
	}
	panic("the generator gives no such service")
}

// normalMap brings attributes that were moved to the front.
func normalMap(m pcommon.Map, s encode.Spec, source func(encode.Column) string) {
	kinds := map[string]otlp.Kind{"string": otlp.String, "int64": otlp.Int, "double": otlp.Double, "bool": otlp.Bool}
	type entry struct {
		key   string
		value pcommon.Value
	}
	var rest []entry
	for k, v := range m.All() {
		rest = append(rest, entry{k, v})
	}
	var all attributes
	for _, c := range s.Columns {
		kind := kinds[c.Type]
		can := func(e entry) bool {
			_, ok := as(e.value, kind)
			return ok && e.key == source(c)
		}
		i := slices.IndexFunc(rest, can)
		if source(c) == "" || !c.Move || s.Format != "parquet" || i < 0 || kindOf(rest[i].value) != kind {
			continue
		}
		moved := rest[i]
		rest = slices.Delete(rest, i, i+1)
		text, _ := as(moved.value, kind)
		looks := slices.IndexFunc(rest[i:], func(e entry) bool {
			t, _ := as(e.value, kind)
			return can(e) && kindOf(e.value) != kind && t == text
		})
		if looks >= 0 {
			rest = slices.Insert(rest, i+looks, moved)
			continue
		}
		x := all.AppendEmpty(source(c))
		moved.value.CopyTo(x)
		if x.Type() == pcommon.ValueTypeStr {
			x.SetStr(mended(x.Str()))
		}
	}
	for _, e := range rest {
		x := all.AppendEmpty(mended(e.key))
		e.value.CopyTo(x)
		normalValue(x)
	}
	all.into(m)
}

// as returns the text of a value as one of a kind, if it can be one.
func as(v pcommon.Value, kind otlp.Kind) (string, bool) {
	text := v.AsString()
	switch {
	case kindOf(v) == kind:
		if kind == otlp.Double {
			return fmt.Sprint(math.Float64bits(v.Double())), true
		}
		return text, true
	case kind == otlp.Double && kindOf(v) == otlp.Int:
		f, accuracy := new(big.Float).SetInt64(v.Int()).Float64()
		return fmt.Sprint(math.Float64bits(f)), accuracy == big.Exact
	case kindOf(v) != otlp.String || len(text) > 32:
		return "", false
	case kind == otlp.Int:
		n, err := strconv.ParseInt(text, 10, 64)
		return text, err == nil && strconv.FormatInt(n, 10) == text
	case kind == otlp.Double:
		f, err := strconv.ParseFloat(text, 64)
		return fmt.Sprint(math.Float64bits(f)), err == nil && json.Valid([]byte(text)) && strings.TrimSpace(text) == text
	case kind == otlp.Bool:
		return text, text == "true" || text == "false"
	}
	return "", false
}

func normalValue(v pcommon.Value) {
	switch v.Type() {
	case pcommon.ValueTypeStr:
		v.SetStr(mended(v.Str()))
	case pcommon.ValueTypeDouble:
		if math.IsNaN(v.Double()) {
			v.SetDouble(math.NaN())
		}
	case pcommon.ValueTypeSlice:
		for _, x := range v.Slice().All() {
			normalValue(x)
		}
	case pcommon.ValueTypeMap:
		normalMap(v.Map(), encode.Spec{}, nil)
	}
}

// equal fails t unless got is want to the byte.
func equal(t failer, got, want plog.Logs) {
	t.Helper()
	if bytes.Equal(marshal(t, got), marshal(t, want)) {
		return
	}
	g, _ := (&plog.JSONMarshaler{}).MarshalLogs(got)
	w, _ := (&plog.JSONMarshaler{}).MarshalLogs(want)
	t.Fatalf("got  %s\nwant %s", g, w)
}

// Logs returns the log records of an object.
func Logs(o Object) (plog.Logs, error) {
	all := plog.NewLogs()
	err := EachLogs(o, math.MaxInt, func(part plog.Logs) error {
		part.ResourceLogs().MoveAndAppendTo(all.ResourceLogs())
		return nil
	})
	return all, err
}

// Traces returns the spans of an object.
func Traces(o Object) (ptrace.Traces, error) {
	all := ptrace.NewTraces()
	err := EachTraces(o, math.MaxInt, func(part ptrace.Traces) error {
		part.ResourceSpans().MoveAndAppendTo(all.ResourceSpans())
		return nil
	})
	return all, err
}

// Metrics returns the data points of an object.
func Metrics(o Object) (pmetric.Metrics, error) {
	all := pmetric.NewMetrics()
	err := EachMetrics(o, math.MaxInt, func(part pmetric.Metrics) error {
		part.ResourceMetrics().MoveAndAppendTo(all.ResourceMetrics())
		return nil
	})
	return all, err
}
