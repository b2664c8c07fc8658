package main

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/s3window/s3window/internal/partition"
)

// row is what a reader must see: numbers as numbers, doubles and times as text
// (JSON has no NaN), a map as its entries.
type row map[string]any

// entry is one entry of a map: key, text, type letter, and the column that it
// was moved to, or "".
type entry [4]string

// expected are the rows of a window, in no particular order.
func expected(w window) ([]row, error) {
	var out []row
	for i, b := range w.requests {
		var rows []row
		var err error
		switch w.signal {
		case partition.Logs:
			rows, err = logRows(b, w.received(i))
		case partition.Traces:
			rows, err = traceRows(b, w.received(i))
		case partition.Metrics:
			rows, err = metricRows(b, w.received(i))
		}
		if err != nil {
			return nil, fmt.Errorf("pdata refuses request %d of tenant %q: %w", i, w.tenant, err)
		}
		for _, r := range rows {
			r["tenant_id"] = w.tenant
		}
		out = append(out, rows...)
	}
	return out, nil
}

// newRow is a row with no promoted value.
func newRow() row {
	r := row{}
	for _, c := range columns() {
		r[c.As] = nil
	}
	return r
}

// origin says whose attributes a map has.
type origin int

const (
	ofItem origin = iota
	ofScope
	ofResource
	ofNobody // not promoted from
)

// entries returns the entries of m, and gives r the promoted ones.
func (r row) entries(m pcommon.Map, of origin) []entry {
	out := []entry{}
	for k, v := range m.All() {
		s, letter := text(v)
		out = append(out, entry{mended(k), s, letter, r.promote(k, v, letter, of)})
	}
	return out
}

func (r row) promote(key string, v pcommon.Value, letter string, of origin) string {
	for _, c := range columns() {
		if named := [...]string{c.Attribute, c.ScopeAttribute, c.ResourceAttribute, ""}[of]; named == "" || key != named {
			continue
		}
		if r[c.As] != nil {
			return ""
		}
		r[c.As] = promoted(v, c.Type)
		if c.Move && letter == map[string]string{"string": "s", "int64": "i", "double": "d", "bool": "b"}[c.Type] {
			return c.As
		}
		return ""
	}
	return ""
}

// promoted is a value as a column of a type has it, or nil. Of text it knows what
// the inputs have.
func promoted(v pcommon.Value, kind string) any {
	switch {
	case kind == "string" && v.Type() == pcommon.ValueTypeStr:
		return mended(v.Str())
	case kind == "int64" && v.Type() == pcommon.ValueTypeInt:
		return v.Int()
	case kind == "int64" && v.Type() == pcommon.ValueTypeStr:
		if n, err := strconv.ParseInt(v.Str(), 10, 64); err == nil {
			return n
		}
	case kind == "double" && v.Type() == pcommon.ValueTypeDouble:
		return double(v.Double())
	case kind == "double" && v.Type() == pcommon.ValueTypeStr:
		if f, err := strconv.ParseFloat(v.Str(), 64); err == nil {
			return double(f)
		}
	case kind == "bool" && v.Type() == pcommon.ValueTypeBool:
		return v.Bool()
	}
	return nil
}

func (r row) resource(x pcommon.Resource, url string) {
	r["service_name"] = ""
	if v, ok := x.Attributes().Get("service.name"); ok {
		r["service_name"], _ = text(v)
	}
	r["resource_attributes"] = r.entries(x.Attributes(), ofResource)
	r["resource_dropped_attributes_count"] = int64(x.DroppedAttributesCount())
	r["resource_schema_url"] = mended(url)
}

func (r row) scope(x pcommon.InstrumentationScope, url string) {
	r["scope_name"], r["scope_version"], r["scope_schema_url"] = mended(x.Name()), mended(x.Version()), mended(url)
	r["scope_attributes"] = r.entries(x.Attributes(), ofScope)
	r["scope_dropped_attributes_count"] = int64(x.DroppedAttributesCount())
}

// time sets ts and ts_nano, which JSON lines have, to the first of times that
// is known, nanoseconds, or to the stamp received.
func (r row) time(received int64, times ...pcommon.Timestamp) {
	r["received_at"] = received
	r["ts"], r["ts_nano"] = received, uint64(received)*1000
	for _, t := range slices.Backward(times) {
		if t != 0 {
			r["ts"], r["ts_nano"] = int64(uint64(t)/1000), uint64(t)
		}
	}
}

func mended(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

func id(b []byte) string {
	if strings.Trim(string(b), "\x00") == "" {
		return ""
	}
	return hex.EncodeToString(b)
}

func traceID(x pcommon.TraceID) string { return id(x[:]) }
func spanID(x pcommon.SpanID) string   { return id(x[:]) }

// named is the name of number n, or n in decimal.
func named(n int32, names ...string) string {
	if n >= 0 && int(n) < len(names) {
		return names[n]
	}
	return strconv.Itoa(int(n))
}

// text is a value as text, and its letter.
func text(v pcommon.Value) (string, string) {
	switch v.Type() {
	case pcommon.ValueTypeStr:
		return mended(v.Str()), "s"
	case pcommon.ValueTypeInt:
		return strconv.FormatInt(v.Int(), 10), "i"
	case pcommon.ValueTypeDouble:
		return double(v.Double()), "d"
	case pcommon.ValueTypeBool:
		return strconv.FormatBool(v.Bool()), "b"
	case pcommon.ValueTypeBytes:
		return base64.StdEncoding.EncodeToString(v.Bytes().AsRaw()), "y"
	case pcommon.ValueTypeSlice:
		return asJSON(v), "a"
	case pcommon.ValueTypeMap:
		return asJSON(v), "o"
	}
	return "", "n"
}

func double(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	case f != 0 && (math.Abs(f) < 1e-6 || math.Abs(f) >= 1e21):
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}

// asJSON is the text of a value inside a list or an object.
func asJSON(v pcommon.Value) string {
	var parts []string
	switch v.Type() {
	case pcommon.ValueTypeSlice:
		for _, x := range v.Slice().All() {
			parts = append(parts, asJSON(x))
		}
		return "[" + strings.Join(parts, ",") + "]"
	case pcommon.ValueTypeMap:
		for k, x := range v.Map().All() {
			parts = append(parts, quoted(mended(k))+":"+asJSON(x))
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
	s, letter := text(v)
	switch letter {
	case "s":
		return quoted(s)
	case "y":
		return ` "` + s + `"`
	case "n":
		return "null"
	case "d":
		if strings.Trim(s, "NaInfity-") == "" {
			return `  "` + s + `"`
		}
		if !strings.ContainsAny(s, ".e") {
			return s + ".0"
		}
	}
	return s
}

func quoted(s string) string {
	r := strings.NewReplacer(`"`, `\"`, `\`, `\\`, "\n", `\n`, "\r", `\r`, "\t", `\t`)
	var b strings.Builder
	for _, c := range r.Replace(s) {
		if c < 0x20 {
			fmt.Fprintf(&b, `\u%04x`, c)
		} else {
			b.WriteRune(c)
		}
	}
	return `"` + b.String() + `"`
}
