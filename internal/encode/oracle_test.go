package encode

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/s3window/s3window/internal/partition"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
)

// A cell is a value as text, so that readers can be compared: numbers in
// decimal, strings as they are, a map as its quoted pairs, nullCell for null.
const nullCell = "∅"

// grid is a table of cells.
type grid struct {
	columns []string
	rows    [][]string
}

// oracle says what an object of entries must hold, from what pdata makes of
// the same bytes. It shares no code with the encoder.
func oracle(t testing.TB, entries []Entry, columns []Column) grid {
	t.Helper()
	type group struct {
		service string
		rows    [][]string
	}
	var groups []group
	for _, e := range entries {
		req := plogotlp.NewExportRequest()
		if err := req.UnmarshalProto(e.Payload); err != nil {
			t.Fatalf("pdata refuses the payload: %v", err)
		}
		for _, rl := range req.Logs().ResourceLogs().All() {
			g := group{service: service(rl.Resource())}
			for _, sl := range rl.ScopeLogs().All() {
				for _, lr := range sl.LogRecords().All() {
					g.rows = append(g.rows, oracleRow(rl, sl, lr, e.ReceivedAt, columns))
				}
			}
			groups = append(groups, g)
		}
	}
	slices.SortStableFunc(groups, func(a, b group) int { return strings.Compare(a.service, b.service) })
	g := grid{columns: slices.Clone(ColumnNames(partition.Logs))}
	for _, c := range columns {
		g.columns = append(g.columns, c.As)
	}
	for _, x := range groups {
		g.rows = append(g.rows, x.rows...)
	}
	return g
}

func oracleRow(rl plog.ResourceLogs, sl plog.ScopeLogs, lr plog.LogRecord, received int64, columns []Column) []string {
	var record, scope, resource []Column
	for _, c := range columns {
		switch {
		case c.Attribute != "":
			record = append(record, Column{Attribute: c.Attribute, As: c.As, Type: c.Type, Move: c.Move})
		case c.ScopeAttribute != "":
			scope = append(scope, Column{Attribute: c.ScopeAttribute, As: c.As, Type: c.Type, Move: c.Move})
		default:
			resource = append(resource, Column{Attribute: c.ResourceAttribute, As: c.As, Type: c.Type, Move: c.Move})
		}
	}
	promoted := map[string]string{}
	attributes, types := oracleMap(lr.Attributes(), record, promoted)
	scopeAttributes, scopeTypes := oracleMap(sl.Scope().Attributes(), scope, promoted)
	resourceAttributes, resourceTypes := oracleMap(rl.Resource().Attributes(), resource, promoted)
	ts := received
	if o := uint64(lr.ObservedTimestamp()); o != 0 {
		ts = int64(o / 1000)
	}
	if n := uint64(lr.Timestamp()); n != 0 {
		ts = int64(n / 1000)
	}
	body, kind := oracleText(lr.Body())
	row := []string{
		itoa(ts), itoa(int64(lr.Timestamp())), itoa(int64(lr.ObservedTimestamp())), itoa(received), testTenant,
		itoa(int64(lr.SeverityNumber())), mended(lr.SeverityText()),
		service(rl.Resource()), mended(lr.EventName()), body, kind,
		oracleID(lr.TraceID().IsEmpty(), slices.Collect(sliceOf(lr.TraceID()))),
		oracleID(lr.SpanID().IsEmpty(), slices.Collect(sliceOf8(lr.SpanID()))),
		itoa(int64(lr.Flags())), attributes, types, itoa(int64(lr.DroppedAttributesCount())),
		mended(sl.Scope().Name()), mended(sl.Scope().Version()), scopeAttributes, scopeTypes,
		itoa(int64(sl.Scope().DroppedAttributesCount())), mended(sl.SchemaUrl()),
		resourceAttributes, resourceTypes, itoa(int64(rl.Resource().DroppedAttributesCount())), mended(rl.SchemaUrl()),
	}
	for _, c := range columns {
		v, ok := promoted[c.As]
		if !ok {
			v = nullCell
		}
		row = append(row, v)
	}
	return row
}

func sliceOf(id pcommon.TraceID) func(func(byte) bool) { return slices.Values(id[:]) }
func sliceOf8(id pcommon.SpanID) func(func(byte) bool) { return slices.Values(id[:]) }

func oracleID(empty bool, b []byte) string {
	if empty {
		return ""
	}
	return hex.EncodeToString(b)
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

func mended(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

func service(r pcommon.Resource) string {
	v, ok := r.Attributes().Get("service.name")
	if !ok {
		return ""
	}
	s, _ := oracleText(v)
	return s
}

// oracleEntry is an attribute in its map.
type oracleEntry struct{ key, text, kind string }

func oracleMap(m pcommon.Map, columns []Column, promoted map[string]string) (pairs, types string) {
	var entries []oracleEntry
	for k, v := range m.All() {
		text, kind := oracleText(v)
		entries = append(entries, oracleEntry{k, text, kind})
	}
	for _, c := range columns {
		entries = oraclePromote(entries, c, promoted)
	}
	var b strings.Builder
	for _, e := range entries {
		b.WriteString(pair(mended(e.key), e.text))
		types += e.kind
	}
	return b.String(), types
}

// oraclePromote gives a column its value, and returns what stays in the map.
func oraclePromote(entries []oracleEntry, c Column, promoted map[string]string) []oracleEntry {
	kind := map[string]string{"": "s", "string": "s", "int64": "i", "double": "d", "bool": "b"}[c.Type]
	first := slices.IndexFunc(entries, func(e oracleEntry) bool {
		if e.key != c.Attribute {
			return false
		}
		_, ok := e.as(kind)
		return ok
	})
	if first < 0 {
		return entries
	}
	e := entries[first]
	promoted[c.As], _ = e.as(kind)
	if !c.Move || e.kind != kind {
		return entries
	}
	entries = slices.Delete(entries, first, first+1)
	// What looks like the original of a copy keeps what was moved in the map.
	for i, x := range entries[first:] {
		if x.key != e.key || x.kind == kind {
			continue
		}
		if v, ok := x.as(kind); ok && v == promoted[c.As] {
			return slices.Insert(entries, first+i, e)
		}
	}
	return entries
}

// as returns the text of an entry as a value of a kind.
func (e oracleEntry) as(kind string) (string, bool) {
	switch {
	case e.kind == kind:
		return e.text, true
	case kind == "d" && e.kind == "i":
		n, _ := strconv.ParseInt(e.text, 10, 64)
		f, accuracy := new(big.Float).SetInt64(n).Float64()
		return oracleDouble(f), accuracy == big.Exact
	case e.kind != "s" || len(e.text) > 32:
		return "", false
	case kind == "i":
		n, err := strconv.ParseInt(e.text, 10, 64)
		return e.text, err == nil && itoa(n) == e.text
	case kind == "d":
		f, err := strconv.ParseFloat(e.text, 64)
		return oracleDouble(f), err == nil && json.Valid([]byte(e.text)) && strings.TrimSpace(e.text) == e.text
	case kind == "b":
		return e.text, e.text == "true" || e.text == "false"
	}
	return "", false
}

func pair(k, v string) string { return fmt.Sprintf("%q=%q;", k, v) }

func oracleText(v pcommon.Value) (text, kind string) {
	switch v.Type() {
	case pcommon.ValueTypeStr:
		return mended(v.Str()), "s"
	case pcommon.ValueTypeInt:
		return itoa(v.Int()), "i"
	case pcommon.ValueTypeDouble:
		return oracleDouble(v.Double()), "d"
	case pcommon.ValueTypeBool:
		return fmt.Sprint(v.Bool()), "b"
	case pcommon.ValueTypeBytes:
		return base64.StdEncoding.EncodeToString(v.Bytes().AsRaw()), "y"
	case pcommon.ValueTypeSlice:
		return oracleJSON(v), "a"
	case pcommon.ValueTypeMap:
		return oracleJSON(v), "o"
	}
	return "", "n"
}

func oracleDouble(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 0):
		return strings.TrimPrefix(strings.ReplaceAll(fmt.Sprint(f), "Inf", "Infinity"), "+")
	case f != 0 && math.Abs(f) < 1e-6, math.Abs(f) >= 1e21:
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}

func oracleJSON(v pcommon.Value) string {
	text, kind := "", "o"
	if v.Type() != pcommon.ValueTypeMap && v.Type() != pcommon.ValueTypeSlice {
		text, kind = oracleText(v)
	}
	switch {
	case kind == "s":
		return quoted(text)
	case kind == "y":
		return ` "` + text + `"`
	case kind == "n":
		return "null"
	case kind == "d" && (math.IsNaN(v.Double()) || math.IsInf(v.Double(), 0)):
		return `  "` + text + `"`
	case kind == "d" && !strings.ContainsAny(text, ".e"):
		return text + ".0"
	case kind != "o":
		return text
	}
	var parts []string
	if v.Type() == pcommon.ValueTypeSlice {
		for _, x := range v.Slice().All() {
			parts = append(parts, oracleJSON(x))
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	for k, x := range v.Map().All() {
		parts = append(parts, quoted(mended(k))+":"+oracleJSON(x))
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func quoted(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < 0x20:
			fmt.Fprintf(&b, `\u%04x`, r)
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		default:
			b.WriteRune(r)
		}
	}
	return `"` + b.String() + `"`
}
