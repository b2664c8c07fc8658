package main

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/s3window/s3window/internal/encode/encodetest"
	"github.com/s3window/s3window/internal/partition"
)

// window is what one object holds: OTLP requests of one tenant and signal.
type window struct {
	tenant   string
	signal   partition.Signal
	start    time.Time
	level    *string // the directory below hour=, if there is one, without service=
	requests [][]byte
}

// received is the stamp of request i, microseconds.
func (w window) received(i int) int64 { return w.start.UnixMicro() + int64(i)*1000 }

func (w window) bytes() (n int64) {
	for _, r := range w.requests {
		n += int64(len(r))
	}
	return n
}

// ordinary is the tenant whose records are ordinary, about ordinaryRows of them
// in each window.
const (
	ordinary     = "acme"
	ordinaryRows = 900
)

// oddTenants are names that keys percent-encode, or that readers may take for
// something else than text.
func oddTenants() []string { return []string{"a/b c%", "", "ü😀", "007", "2026-01-01", ".."} }

// inputs are all windows, in the order in which they are committed.
func inputs(levels string) (out []window) {
	for _, s := range signals() {
		if levels != "" {
			out = append(out, levelWindows(s, levels == "mixed")...)
			continue
		}
		for i, at := range []string{"2026-09-21T09:05:00Z", "2026-09-21T11:26:40Z", "2026-09-22T00:00:00Z"} {
			out = append(out, window{tenant: ordinary, signal: s, start: clock(at), requests: generated(s, int64(i+1), ordinaryRows)})
		}
		odd := hostile(s)
		for i, t := range oddTenants() {
			w := window{tenant: t, signal: s, start: clock("2026-09-21T11:30:00Z").Add(time.Duration(i) * time.Minute)}
			for j, r := range odd {
				if i == 0 || j%len(oddTenants()) == i {
					w.requests = append(w.requests, r)
				}
			}
			out = append(out, w)
		}
	}
	return out
}

// levelWindows have a level service= below hour=; a mixed partition has a
// window without it too.
func levelWindows(s partition.Signal, mixed bool) (out []window) {
	level := func(v string) *string {
		_, dir, _ := strings.Cut(partition.Level("service", v), "=")
		return &dir
	}
	for i, l := range []*string{
		level("checkout"), level("a/b"), level("ü 😀"), level("007"), level(""), nil,
	} {
		if l == nil && !mixed {
			continue
		}
		out = append(out, window{
			tenant: ordinary, signal: s, start: clock("2026-09-21T11:26:40Z").Add(time.Duration(i) * time.Second), level: l,
			requests: generated(s, int64(10+i), 60)[:1],
		})
	}
	return out
}

func clock(s string) time.Time {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		panic(err) // a constant of this file
	}
	return t
}

func generated(s partition.Signal, seed int64, n int) [][]byte {
	switch s {
	case partition.Logs:
		return encodetest.Logs(seed, n)
	case partition.Traces:
		return encodetest.Traces(seed, n)
	}
	return encodetest.Metrics(seed, n)
}

func hostile(s partition.Signal) [][]byte {
	switch s {
	case partition.Logs:
		return hostileLogs()
	case partition.Traces:
		return hostileTraces()
	}
	return hostileMetrics()
}

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
