package encode

import (
	"math"
	"strings"
	"testing"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/s3window/s3window/internal/encode/encodetest"
)

// inputCase is a request that must come out of every reader as pdata has it.
type inputCase struct {
	name string
	fill func(plog.Logs)
}

// one returns a fill that makes a request with a single record.
func one(fill func(rl plog.ResourceLogs, sl plog.ScopeLogs, lr plog.LogRecord)) func(plog.Logs) {
	return func(l plog.Logs) {
		rl := l.ResourceLogs().AppendEmpty()
		sl := rl.ScopeLogs().AppendEmpty()
		fill(rl, sl, sl.LogRecords().AppendEmpty())
	}
}

// body returns a fill that makes a request with a single record with a body.
func body(fill func(pcommon.Value)) func(plog.Logs) {
	return one(func(_ plog.ResourceLogs, _ plog.ScopeLogs, lr plog.LogRecord) { fill(lr.Body()) })
}

func attributes(fill func(pcommon.Map)) func(plog.Logs) {
	return one(func(rl plog.ResourceLogs, sl plog.ScopeLogs, lr plog.LogRecord) {
		fill(rl.Resource().Attributes())
		fill(sl.Scope().Attributes())
		fill(lr.Attributes())
	})
}

func inputCases() []inputCase {
	return append([]inputCase{
		{"no resource", func(plog.Logs) {}},
		{"a resource without scopes", func(l plog.Logs) { l.ResourceLogs().AppendEmpty() }},
		{"a scope without records", func(l plog.Logs) { l.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty() }},
		{"an empty record", one(func(plog.ResourceLogs, plog.ScopeLogs, plog.LogRecord) {})},
		{"every field", one(everyField)},
		{"services out of order", func(l plog.Logs) {
			for _, s := range []string{"b", "", "a", "b", "ä", "a"} {
				rl := l.ResourceLogs().AppendEmpty()
				rl.Resource().Attributes().PutStr("service.name", s)
				for range 3 {
					rl.ScopeLogs().AppendEmpty().LogRecords().AppendEmpty().Body().SetInt(int64(l.LogRecordCount()))
				}
			}
		}},
		{"a service that is a number", attributes(func(m pcommon.Map) { m.PutInt("service.name", 7) })},
		{"one resource in three scopes", func(l plog.Logs) {
			rl := l.ResourceLogs().AppendEmpty()
			for _, s := range []string{"x", "y", "x"} {
				sl := rl.ScopeLogs().AppendEmpty()
				sl.Scope().SetName(s)
				sl.LogRecords().AppendEmpty()
			}
		}},
		{"times of 0", one(func(plog.ResourceLogs, plog.ScopeLogs, plog.LogRecord) {})},
		{"an observed time alone", one(func(_ plog.ResourceLogs, _ plog.ScopeLogs, lr plog.LogRecord) { lr.SetObservedTimestamp(1234567) })},
		{"the last nanosecond", one(func(_ plog.ResourceLogs, _ plog.ScopeLogs, lr plog.LogRecord) {
			lr.SetTimestamp(math.MaxUint64)
			lr.SetObservedTimestamp(math.MaxUint64)
		})},
		{"the year 2262", one(func(_ plog.ResourceLogs, _ plog.ScopeLogs, lr plog.LogRecord) {
			lr.SetTimestamp(math.MaxInt64)
			lr.SetObservedTimestamp(1 << 63)
		})},
		{"extreme numbers", one(func(_ plog.ResourceLogs, _ plog.ScopeLogs, lr plog.LogRecord) {
			lr.SetSeverityNumber(math.MinInt32)
			lr.SetFlags(math.MaxUint32)
			lr.SetDroppedAttributesCount(math.MaxUint32)
		})},
		{"generated", func(l plog.Logs) {
			for _, p := range encodetest.Logs(3, 700) {
				x, err := (&plog.ProtoUnmarshaler{}).UnmarshalLogs(p)
				if err != nil {
					panic(err)
				}
				x.ResourceLogs().MoveAndAppendTo(l.ResourceLogs())
			}
		}},
	}, valueCases()...)
}

func everyField(rl plog.ResourceLogs, sl plog.ScopeLogs, lr plog.LogRecord) {
	rl.SetSchemaUrl("https://resource")
	rl.Resource().SetDroppedAttributesCount(1)
	rl.Resource().Attributes().PutStr("service.name", "shop")
	sl.SetSchemaUrl("https://scope")
	sl.Scope().SetName("lib")
	sl.Scope().SetVersion("1.2")
	sl.Scope().SetDroppedAttributesCount(2)
	sl.Scope().Attributes().PutBool("a", true)
	lr.SetTimestamp(1789990000123456789)
	lr.SetObservedTimestamp(1789990000123456790)
	lr.SetSeverityNumber(9)
	lr.SetSeverityText("INFO")
	lr.SetEventName("event")
	lr.SetTraceID([16]byte{1, 15: 255})
	lr.SetSpanID([8]byte{2, 7: 254})
	lr.SetFlags(1)
	lr.SetDroppedAttributesCount(3)
	lr.Body().SetStr("hello")
	lr.Attributes().PutStr("k", "v")
}

func valueCases() []inputCase {
	const bad = "a\xff\xfeb\xc3"
	return []inputCase{
		{"invalid UTF-8 everywhere", one(func(rl plog.ResourceLogs, sl plog.ScopeLogs, lr plog.LogRecord) {
			everyField(rl, sl, lr)
			rl.SetSchemaUrl(bad)
			sl.SetSchemaUrl(bad)
			sl.Scope().SetName(bad)
			sl.Scope().SetVersion(bad)
			lr.SetSeverityText(bad)
			lr.SetEventName(bad)
			lr.Body().SetStr(bad)
			for _, m := range []pcommon.Map{rl.Resource().Attributes(), sl.Scope().Attributes(), lr.Attributes()} {
				m.PutStr(bad, bad)
				m.PutStr("service.name", bad)
				m.PutEmptySlice("list").AppendEmpty().SetStr(bad)
			}
		})},
		{"NUL bytes", attributes(func(m pcommon.Map) { m.PutStr("a\x00b", "\x00") })},
		{"control characters in JSON", body(func(v pcommon.Value) {
			s := v.SetEmptySlice()
			for c := range 0x30 {
				s.AppendEmpty().SetStr("12345678" + string(rune(c)) + "\\\"é\u2028")
			}
		})},
		{"numbers", attributes(func(m pcommon.Map) {
			for _, n := range []int64{math.MinInt64, math.MaxInt64, 0, -1, 127, 128, 200} {
				m.PutInt("int "+itoa(n), n)
			}
			for i, f := range []float64{
				math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 5e-324,
				math.MaxFloat64, 1.0 / 3, 3, 1e20, 1e21, 1e-6, 1e-7,
			} {
				m.PutDouble("double "+itoa(int64(i)), f)
			}
		})},
		{"values of every kind in lists and maps", body(func(v pcommon.Value) {
			m := v.SetEmptyMap()
			kinds(m)
			kinds(m.PutEmptyMap("map"))
			s := m.PutEmptySlice("slice")
			for _, x := range m.All() {
				if x.Type() != pcommon.ValueTypeSlice {
					x.CopyTo(s.AppendEmpty())
				}
			}
		})},
		{"attributes of every kind", attributes(kinds)},
		{"a body of bytes", body(func(v pcommon.Value) { v.SetEmptyBytes().FromRaw([]byte{0, 255}) })},
		{"an empty body of bytes", body(func(v pcommon.Value) { v.SetEmptyBytes() })},
		{"an empty string", body(func(v pcommon.Value) { v.SetStr("") })},
		{"a boolean body", body(func(v pcommon.Value) { v.SetBool(false) })},
		{"an empty map", body(func(v pcommon.Value) { v.SetEmptyMap() })},
		{"an empty list", body(func(v pcommon.Value) { v.SetEmptySlice() })},
		{"10 MiB strings", one(func(_ plog.ResourceLogs, _ plog.ScopeLogs, lr plog.LogRecord) {
			long := strings.Repeat("0123456789abcdef", 10<<20/16)
			lr.Body().SetStr(long)
			lr.SetSeverityText(long)
			lr.Attributes().PutStr(long[:1<<20], long)
			lr.Attributes().PutStr("promoted", long)
		})},
		{"long values cut in the middle of a character", one(func(_ plog.ResourceLogs, _ plog.ScopeLogs, lr plog.LogRecord) {
			lr.SetSeverityText(strings.Repeat("x", 63) + "ééé")
			lr.Attributes().PutStr("promoted", strings.Repeat("\U0010ffff", 40))
		})},
		{"10,000 attributes", attributes(func(m pcommon.Map) {
			for i := range 10000 {
				m.PutStr("key"+itoa(int64(i)), "value"+itoa(int64(i%100)))
			}
		})},
		{"a promoted attribute of every kind", attributes(func(m pcommon.Map) {
			for _, k := range []string{"promoted", "int", "double", "bool"} {
				m.PutStr(k, "text")
			}
		})},
		{"text that parses", attributes(func(m pcommon.Map) {
			m.PutStr("promoted", "7")
			m.PutStr("int", "-7")
			m.PutStr("double", "2.50")
			m.PutStr("bool", "true")
		})},
		{"an integer for a double", attributes(func(m pcommon.Map) {
			m.PutInt("promoted", 7)
			m.PutDouble("int", 7)
			m.PutInt("double", 7)
			m.PutInt("bool", 1)
		})},
		{"promoted attributes", attributes(func(m pcommon.Map) {
			m.PutStr("promoted", "text")
			m.PutInt("int", -5)
			m.PutDouble("double", math.NaN())
			m.PutBool("bool", true)
		})},
	}
}

func kinds(m pcommon.Map) {
	m.PutStr("s", "x")
	m.PutInt("i", 1)
	m.PutDouble("d", 1)
	m.PutDouble("nan", math.NaN())
	m.PutDouble("inf", math.Inf(-1))
	m.PutBool("b", true)
	m.PutEmptyBytes("y").FromRaw([]byte("bytes"))
	m.PutEmpty("n")
	m.PutEmptySlice("a").AppendEmpty()
	m.PutEmptyMap("o").PutStr(`q"`, "\n")
}

// testColumns promotes one attribute of each type from each place. Some move.
func testColumns() (out []Column) {
	for _, c := range [][2]string{{"promoted", "string"}, {"int", "int64"}, {"double", "double"}, {"bool", "bool"}} {
		out = append(out,
			Column{Attribute: c[0], As: c[0], Type: c[1], Move: c[0] == "bool"},
			Column{ResourceAttribute: c[0], As: "resource_" + c[0], Type: c[1], Move: c[0] == "double"},
			Column{ScopeAttribute: c[0], As: "scope_" + c[0], Type: c[1], Move: c[0] == "int"})
	}
	return out
}

func encodeCase(t testing.TB, c inputCase) []Entry {
	t.Helper()
	logs := plog.NewLogs()
	c.fill(logs)
	return []Entry{{Payload: marshal(t, logs), ReceivedAt: 1789990000654321}}
}
