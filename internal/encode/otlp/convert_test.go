package otlp

import (
	"math"
	"testing"
)

func TestValuesAsOtherKinds(t *testing.T) {
	text := func(s string) Value { return Value{Kind: String, Raw: []byte(s)} }
	integer := func(n int64) Value { return Value{Kind: Int, bits: uint64(n)} }
	for _, c := range []struct {
		v    Value
		kind Kind
		want string // as text; empty = it cannot be one
	}{
		{text("200"), Int, "200"}, {text("0"), Int, "0"}, {text("-7"), Int, "-7"},
		{text("9223372036854775807"), Int, "9223372036854775807"}, {text("-9223372036854775808"), Int, "-9223372036854775808"},
		{text("9223372036854775808"), Int, ""}, {text("-0"), Int, ""}, {text("+5"), Int, ""}, {text("0200"), Int, ""},
		{text(" 200"), Int, ""}, {text("200 "), Int, ""}, {text("2e2"), Int, ""}, {text("200.0"), Int, ""}, {text(""), Int, ""},
		{text("-"), Int, ""}, {text("0x10"), Int, ""}, {text("1_0"), Int, ""}, {text("٣"), Int, ""},
		{text("200"), Double, "200"}, {text("0.10"), Double, "0.1"}, {text("-1.5e-3"), Double, "-0.0015"}, {text("1E3"), Double, "1000"},
		{text("-0"), Double, "-0"}, {text("1e999"), Double, ""}, {text(".5"), Double, ""}, {text("5."), Double, ""}, {text("1e"), Double, ""},
		{text("NaN"), Double, ""}, {text("Infinity"), Double, ""}, {text("00"), Double, ""}, {text("1.5 "), Double, ""},
		{text("123456789012345678901234567890123"), Double, ""},
		{text("true"), Bool, "true"}, {text("false"), Bool, "false"}, {text("True"), Bool, ""}, {text("1"), Bool, ""}, {text(""), Bool, ""},
		{integer(200), Double, "200"}, {integer(1 << 53), Double, "9007199254740992"}, {integer(1<<53 + 1), Double, ""},
		{integer(math.MaxInt64), Double, ""}, {integer(math.MinInt64), Double, "-9223372036854776000"},
		{integer(1), Bool, ""}, {integer(1), String, ""}, {Value{Kind: Double}, Int, ""}, {Value{Kind: Null}, Int, ""},
		{Value{Kind: Binary, Raw: []byte("200")}, Int, ""},
		{text("x"), String, "x"}, {integer(5), Int, "5"},
	} {
		got, ok := c.v.As(c.kind)
		if !ok {
			if c.want != "" {
				t.Errorf("%q (%c) is no %c", c.v.Raw, c.v.Kind, c.kind)
			}
			continue
		}
		if s, err := got.Text(nil); err != nil || string(s) != c.want || got.Kind != c.kind {
			t.Errorf("%q (%c) as %c is %q, want %q", c.v.Raw, c.v.Kind, c.kind, s, c.want)
		}
	}
}
