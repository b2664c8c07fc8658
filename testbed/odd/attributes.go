package odd

import (
	"bytes"
	"math"
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

const invalid = "a\xff\xfeb\xc3"

// attributeCases fill a map in one way each.
func attributeCases() []func(pcommon.Map) {
	return []func(pcommon.Map){
		func(pcommon.Map) {},
		kinds,
		func(m pcommon.Map) { // two keys that marshalled makes one
			m.PutStr("dup-A", "first")
			m.PutStr("between", "")
			m.PutInt("dup-B", 2)
		},
		numbers,
		func(m pcommon.Map) {
			m.PutStr("a\x00b", "\x00")
			m.PutStr("", "an empty key")
			m.PutStr("emoji 😀", "👩‍👩‍👧‍👦 \U0010ffff \u2028")
			m.PutStr("quote\"'\\`", "line\nbreak\ttab\r")
			m.PutStr(invalid, invalid)
			m.PutStr("ends", "with space ")
		},
		func(m pcommon.Map) {
			for _, k := range []string{"promoted", "int", "double", "bool", "http.route", "http.response.status_code", "service.namespace"} {
				m.PutStr(k, "text of "+k)
			}
		},
		func(m pcommon.Map) {
			m.PutStr("int", "-7")
			m.PutStr("double", "2.50")
			m.PutStr("http.response.status_code", "200")
		},
		func(m pcommon.Map) {
			m.PutStr("promoted", "ü😀\x00")
			m.PutInt("int", math.MinInt64)
			m.PutDouble("double", math.NaN())
			m.PutBool("bool", true)
			m.PutInt("http.response.status_code", math.MaxInt64)
			m.PutStr("rest", "stays")
		},
		func(m pcommon.Map) {
			m.PutStr("promoted", "")
			m.PutInt("int", math.MaxInt64)
			m.PutDouble("double", math.Inf(-1))
			m.PutBool("bool", false)
		},
		func(m pcommon.Map) {
			m.PutStr("promoted", strings.Repeat("\U0010ffff", 40))
			m.PutDouble("double", math.Copysign(0, -1))
			for i := range 3000 {
				m.PutStr("key"+strconv.Itoa(i), "value"+strconv.Itoa(i%100))
			}
		},
	}
}

func kinds(m pcommon.Map) {
	m.PutStr("s", "x")
	m.PutInt("i", 1)
	m.PutDouble("d", 1)
	m.PutDouble("nan", math.NaN())
	m.PutDouble("inf", math.Inf(-1))
	m.PutBool("b", true)
	m.PutEmptyBytes("y").FromRaw([]byte("bytes\xff"))
	m.PutEmpty("n")
	s := m.PutEmptySlice("a")
	s.AppendEmpty()
	s.AppendEmpty().SetDouble(math.Inf(1))
	s.AppendEmpty().SetEmptyBytes().FromRaw([]byte{0})
	s.AppendEmpty().SetInt(math.MaxInt64)
	o := m.PutEmptyMap("o")
	o.PutStr(`q"`, "\n")
	o.PutEmptyMap("deep").PutEmptySlice("er").AppendEmpty().SetBool(false)
}

func numbers(m pcommon.Map) {
	for _, n := range []int64{math.MinInt64, math.MaxInt64, 0, -1, 1<<53 + 1} {
		m.PutInt("int "+strconv.FormatInt(n, 10), n)
	}
	for i, f := range extremes() {
		m.PutDouble("double "+strconv.Itoa(i), f)
	}
}

func extremes() []float64 {
	return []float64{
		math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 5e-324, math.MaxFloat64, 1.0 / 3, 3, 1e20, 1e21, 1e-6, 1e-7,
	}
}

// marshalled returns b with the keys dup-A and dup-B made one: pdata's maps
// cannot be given a key twice, but OTLP can carry it.
func marshalled(b []byte, err error) []byte {
	if err != nil {
		panic(err) // the marshalers have no error to return
	}
	return bytes.ReplaceAll(b, []byte("dup-B"), []byte("dup-A"))
}
