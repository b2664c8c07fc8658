package decode

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"pgregory.net/rapid"

	"github.com/s3window/s3window/internal/encode"
	"github.com/s3window/s3window/internal/encode/encodetest"
)

// world draws OTLP logs of every shape.
type world struct{ *rapid.T }

func (w world) pick(label string, of ...string) string { return rapid.SampledFrom(of).Draw(w.T, label) }

func (w world) text(label string) string {
	return w.pick(label, "", "a", "INFO", "\x00", "\n\r\t\x01\x1f\x7f", `"quoted\"`, "é\u2028😀", "a\xff\xfeb\xc3", "\xed\xa0\x80", " \"x\"",
		"NaN", "null", "-0", "12345678\"", strings.Repeat("long ", 40), rapid.String().Draw(w.T, "any"))
}

func (w world) value(v pcommon.Value, depth int) {
	kinds := 8
	if depth > 3 {
		kinds = 6
	}
	switch rapid.IntRange(0, kinds-1).Draw(w.T, "kind") {
	case 0:
		v.SetStr(rapid.OneOf(rapid.Just(w.text("string")), rapid.SampledFrom([]string{"0", "1", "-1", "true", "false", "1.0", "1e0", "-0", "01"})).Draw(w.T, "text"))
	case 1:
		v.SetInt(rapid.OneOf(rapid.SampledFrom([]int64{0, 1, -1, 1<<53 + 1, math.MinInt64, math.MaxInt64}), rapid.Int64()).Draw(w.T, "int"))
	case 2:
		v.SetDouble(rapid.OneOf(rapid.SampledFrom([]float64{
			0, math.Copysign(0, -1), 1, 1e6, 1e21, 1e-7, 5e-324, math.MaxFloat64, math.NaN(), math.Float64frombits(0x7ff8000000000123),
			math.Inf(1), math.Inf(-1), 1 << 53,
		}), rapid.Float64()).Draw(w.T, "double"))
	case 3:
		v.SetBool(rapid.Bool().Draw(w.T, "bool"))
	case 4:
		v.SetEmptyBytes().FromRaw(rapid.SliceOfN(rapid.Byte(), 0, 5).Draw(w.T, "bytes"))
	case 5: // empty
	case 6:
		s := v.SetEmptySlice()
		for range rapid.IntRange(0, 3).Draw(w.T, "len") {
			w.value(s.AppendEmpty(), depth+1)
		}
	case 7:
		w.attributes(v.SetEmptyMap(), depth+1)
	}
}

func (w world) attributes(m pcommon.Map, depth int) {
	var kvs attributes
	for range rapid.IntRange(0, 5).Draw(w.T, "attributes") {
		key := w.pick("key", "a", "b", "", "promoted", "int", "double", "bool", "k\xff", "k\xfe", `q"\`, "http.route")
		w.value(kvs.AppendEmpty(key), depth)
	}
	kvs.into(m)
}

func (w world) logs() plog.Logs {
	l := plog.NewLogs()
	for range rapid.IntRange(0, 3).Draw(w.T, "resources") {
		rl := l.ResourceLogs().AppendEmpty()
		rl.SetSchemaUrl(w.pick("schema", "", "https://x", "\xff"))
		w.attributes(rl.Resource().Attributes(), 0)
		if s := w.pick("service", "", "shop", "api", "\xffbad", "7"); s == "7" {
			rl.Resource().Attributes().PutInt("service.name", 7)
		} else if s != "" {
			rl.Resource().Attributes().PutStr("service.name", s)
		}
		rl.Resource().SetDroppedAttributesCount(rapid.SampledFrom([]uint32{0, 1, math.MaxUint32}).Draw(w.T, "dropped"))
		for range rapid.IntRange(0, 2).Draw(w.T, "scopes") {
			w.scope(rl.ScopeLogs().AppendEmpty())
		}
	}
	return l
}

func (w world) scope(sl plog.ScopeLogs) {
	sl.SetSchemaUrl(w.pick("schema", "", "https://y"))
	sl.Scope().SetName(w.text("name"))
	sl.Scope().SetVersion(w.pick("version", "", "1", "\xff1"))
	w.attributes(sl.Scope().Attributes(), 0)
	sl.Scope().SetDroppedAttributesCount(rapid.SampledFrom([]uint32{0, 5}).Draw(w.T, "dropped"))
	for range rapid.IntRange(0, 3).Draw(w.T, "records") {
		lr := sl.LogRecords().AppendEmpty()
		times := rapid.SampledFrom([]uint64{0, 1, 999, 1789990000123456789, math.MaxInt64, 1 << 63, math.MaxUint64})
		lr.SetTimestamp(pcommon.Timestamp(times.Draw(w.T, "time")))
		lr.SetObservedTimestamp(pcommon.Timestamp(times.Draw(w.T, "observed")))
		lr.SetSeverityNumber(plog.SeverityNumber(rapid.SampledFrom([]int32{0, 9, -1, math.MinInt32, math.MaxInt32}).Draw(w.T, "severity")))
		lr.SetSeverityText(w.text("severity"))
		lr.SetEventName(w.text("event"))
		lr.SetFlags(plog.LogRecordFlags(rapid.SampledFrom([]uint32{0, 1, math.MaxUint32}).Draw(w.T, "flags")))
		lr.SetDroppedAttributesCount(rapid.SampledFrom([]uint32{0, math.MaxUint32}).Draw(w.T, "dropped"))
		if rapid.Bool().Draw(w.T, "ids") {
			lr.SetTraceID([16]byte{0: 1, 15: 0xff})
			lr.SetSpanID([8]byte{7: 0xab})
		}
		w.value(lr.Body(), 0)
		w.attributes(lr.Attributes(), 0)
	}
}

// What was sent comes back, whatever it is written in.
func TestRoundTrip(t *testing.T) {
	all := encoders(t)
	for name, s := range specs() {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				w := world{t}
				var calls [][]encode.Entry
				for range rapid.IntRange(0, 2).Draw(t, "calls") {
					var entries []encode.Entry
					for i := range rapid.IntRange(1, 2).Draw(t, "entries") {
						entries = append(entries, encode.Entry{Payload: marshal(t, w.logs()), ReceivedAt: int64(i)})
					}
					calls = append(calls, entries)
				}
				got, err := Logs(object(t, all[name], calls...))
				if err != nil {
					t.Fatal(err)
				}
				equal(t, got, normal(t, s, calls...))
			})
		})
	}
}

// Parts are as small as they must be, and make the whole.
func TestEachLogsKeepsToTheLimit(t *testing.T) {
	var entries []encode.Entry
	for _, p := range encodetest.Logs(5, 3000) {
		entries = append(entries, encode.Entry{Payload: p, ReceivedAt: 1})
	}
	for name, e := range encoders(t) {
		o := object(t, e, entries)
		for _, limit := range []int{1, 5000, 100_000, 1 << 30} {
			whole, records, parts := plog.NewLogs(), 0, 0
			err := EachLogs(o, limit, func(l plog.Logs) error {
				if n := len(marshal(t, l)); n > limit && l.LogRecordCount() > 1 {
					t.Fatalf("%s: a part of %d records has %d bytes, more than %d", name, l.LogRecordCount(), n, limit)
				}
				records, parts = records+l.LogRecordCount(), parts+1
				l.ResourceLogs().MoveAndAppendTo(whole.ResourceLogs())
				return nil
			})
			if err != nil || records != 3000 {
				t.Fatalf("%s: %d records, %v", name, records, err)
			}
			if least := len(marshal(t, whole)) * 2 / limit; parts > max(least+2, 1) && limit > 1 {
				t.Errorf("%s: %d parts of at most %d bytes, where %d would do", name, parts, limit, least)
			}
		}
	}
}

func TestVisitEndsIt(t *testing.T) {
	stop := fmt.Errorf("stop")
	for name, e := range encoders(t) {
		o := object(t, e, []encode.Entry{{Payload: encodetest.Logs(5, 100)[0]}})
		if err := EachLogs(o, 1, func(plog.Logs) error { return stop }); err != stop {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzRoundTrip(f *testing.F) {
	for i := range 20 {
		l := rapid.Custom(func(t *rapid.T) plog.Logs { return world{t}.logs() }).Example(i)
		f.Add(marshal(f, l))
	}
	all, by := encoders(f), specs()
	f.Fuzz(func(t *testing.T, payload []byte) {
		l, err := (&plog.ProtoUnmarshaler{}).UnmarshalLogs(payload)
		if err != nil {
			return
		}
		for _, rl := range l.ResourceLogs().All() {
			if v, ok := rl.Resource().Attributes().Get("service.name"); ok && v.Type() != pcommon.ValueTypeStr {
				return // normal knows no order for those
			}
		}
		entries := []encode.Entry{{Payload: payload}}
		for name, e := range all {
			s, err := e.Stage(entries)
			if err != nil {
				t.Fatal(err)
			}
			if len(s.Rejected) > 0 {
				continue
			}
			got, err := Logs(object(t, e, entries))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			equal(t, got, normal(t, by[name], entries))
		}
	})
}
