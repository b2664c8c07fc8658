package encode

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/s3window/s3window/testbed/duckdbtest"
)

// A small protobuf writer, for what pdata cannot write.

func field(number, wire int, payload []byte) []byte {
	return append(binary.AppendUvarint(nil, uint64(number<<3|wire)), payload...)
}

// msg is a length-delimited field.
func msg(number int, parts ...[]byte) []byte {
	b := bytes.Join(parts, nil)
	return field(number, 2, append(binary.AppendUvarint(nil, uint64(len(b))), b...))
}

func str(number int, s string) []byte { return msg(number, []byte(s)) }
func num(number int, n uint64) []byte { return field(number, 0, binary.AppendUvarint(nil, n)) }
func fixed64(number int, n uint64) []byte {
	return field(number, 1, binary.LittleEndian.AppendUint64(nil, n))
}
func fixed32(number int, n uint32) []byte {
	return field(number, 5, binary.LittleEndian.AppendUint32(nil, n))
}
func attr(number int, k, v string) []byte   { return msg(number, str(1, k), msg(2, str(1, v))) }
func record(parts ...[]byte) []byte         { return request(msg(2, msg(2, parts...))) }
func request(resourceLogs ...[]byte) []byte { return msg(1, resourceLogs...) }

func repeat(n int, part func(inner []byte) []byte) (b []byte) {
	for range n {
		b = part(b)
	}
	return b
}

// nested is an AnyValue of n lists in each other.
func nested(n int) []byte {
	return repeat(n, func(inner []byte) []byte { return msg(5, msg(1, inner)) })
}

func TestWireFormsThatPdataAccepts(t *testing.T) {
	db := duckdbtest.Open(t)
	spec := testSpec(testColumns()...)
	e := newTestEncoder(t, spec)
	for _, c := range []struct {
		name    string
		payload []byte
	}{
		{"no bytes", nil},
		{"duplicate keys", record(attr(6, "a", "1"), attr(6, "b", "2"), attr(6, "a", "3"))},
		{"duplicate keys, promoted", request(
			msg(1, attr(1, "promoted", "1"), attr(1, "promoted", "2")),
			msg(2, msg(2, attr(6, "promoted", "1"), attr(6, "promoted", "2"), attr(6, "promoted", "3"))))},
		{"scalars twice", record(fixed64(1, 5), fixed64(1, 6), str(3, "a"), str(3, "b"), num(2, 1), num(2, 2), str(9, ""), str(9, strings.Repeat("x", 16)))},
		{"fields in descending order", request(
			str(3, "url"), msg(2, str(3, "scope url"), msg(2, str(12, "e"), attr(6, "k", "v"), msg(5, str(1, "b")), fixed64(1, 7)), msg(1, str(2, "v"), str(1, "n"))),
			msg(1, attr(1, "service.name", "s")))},
		{"scope between its records", request(msg(2, msg(2), str(3, "u"), msg(1, str(1, "n")), msg(2)))},
		{"messages in two parts", request(
			msg(1, attr(1, "a", "1")), msg(2, msg(1, str(1, "n")), msg(2, msg(5, str(1, "x")), msg(5, num(3, 4))), msg(1, str(2, "v"))),
			msg(1, attr(1, "b", "2")))},
		{"an empty message after a full one", record(msg(5, str(1, "x")), msg(5))},
		{"several values in one", record(msg(5, str(1, "x"), num(3, 4), num(2, 1)))},
		{"an attribute without value", record(msg(6, str(1, "k")), msg(6), msg(6, msg(2, str(1, "v"))))},
		{"key behind value, twice", record(msg(6, msg(2, str(1, "v")), str(1, "k"), str(1, "l")))},
		{"unknown fields everywhere", request(num(99, 1), msg(1, str(50, "x")), msg(2, fixed32(77, 1), msg(2, fixed64(60, 9), str(1<<28, "x"), msg(5, num(44, 1)), msg(6, num(9, 1), str(1, "k")))))},
		{"overlong varints", record([]byte{0x90, 0x00, 0x89, 0x80, 0x00}, field(1, 1, make([]byte, 8)), []byte{0xaa, 0x00, 0x82, 0x00, 0x0a, 0x00})},
		{"negative numbers", record(num(2, 1<<64-1), msg(5, num(3, 1<<64-1)))},
		{"a number above 32 bits", record(num(2, 1<<40+3), num(7, 1<<40+4))},
		{"a boolean of 7", record(msg(5, num(2, 7)))},
		{"ids of zeros", record(str(9, strings.Repeat("\x00", 16)), str(10, strings.Repeat("\x00", 8)))},
		{"deprecated scopes", request(msg(1000, msg(2, str(3, "old"))))},
		{"deprecated scopes beside new ones", request(msg(1000, msg(2, str(3, "old"))), msg(2, msg(2, str(3, "new"))))},
		{"long lengths", record(attr(6, strings.Repeat("k", 127), strings.Repeat("v", 125)), attr(6, strings.Repeat("k", 128), strings.Repeat("v", 20000)))},
		{"45 lists in each other", record(msg(5, nested(45)))},
	} {
		t.Run(c.name, func(t *testing.T) {
			entries := []Entry{{Payload: c.payload, ReceivedAt: 17}}
			staged := stage(t, e, entries)
			if len(staged.Rejected) > 0 {
				t.Fatal(staged.Rejected)
			}
			want := oracle(t, entries, spec.Columns)
			if staged.Rows != len(want.rows) {
				t.Errorf("%d are staged, want %d", staged.Rows, len(want.rows))
			}
			file := object(t, e, staged)
			for _, r := range readers(db) {
				for _, d := range differences(r.read(t, file), want) {
					t.Errorf("%s: %s", r.name, d)
				}
			}
		})
	}
}

func malformed() map[string][]byte {
	return map[string][]byte{
		"cut in a length":        {0x0a},
		"cut in a message":       {0x0a, 5, 1},
		"cut in a varint":        {0x08, 0x80},
		"a varint of 11 bytes":   append([]byte{0x78}, bytes.Repeat([]byte{0x80}, 11)...),
		"a varint of 70 bits":    record(field(2, 0, append(bytes.Repeat([]byte{0xff}, 9), 0x7f))),
		"field 0":                {0x02, 0x00},
		"a field above 2^29":     field(1<<29, 0, []byte{0}),
		"a group":                {0x7b, 0x7c},
		"a group in a record":    record(field(20, 3, nil), field(20, 4, nil)),
		"wire type 6":            {0x7e},
		"wire type 7":            {0x7f},
		"resource as number":     request(num(1, 1)),
		"resourceLogs as number": num(1, 1),
		"scopeLogs as number":    request(num(2, 1)),
		"schema url as number":   request(num(3, 1)),
		"record as number":       request(msg(2, num(2, 1))),
		"scope as number":        request(msg(2, num(1, 1), msg(2))),
		"time as varint":         record(num(1, 1)),
		"time cut":               record([]byte{0x09, 1, 2}),
		"severity as string":     record(str(2, "x")),
		"flags as varint":        record(num(8, 1)),
		"flags cut":              record([]byte{0x45, 1}),
		"body as number":         record(num(5, 1)),
		"attribute as number":    record(num(6, 1)),
		"key as number":          record(msg(6, num(1, 1))),
		"value as number":        record(msg(6, num(2, 1))),
		"string value as number": record(msg(5, num(1, 1))),
		"integer as string":      record(msg(5, str(3, "x"))),
		"double cut":             record(msg(5, []byte{0x21, 1})),
		"a list of numbers":      record(msg(5, msg(5, num(1, 1)))),
		"a list that is cut":     record(msg(5, msg(5, []byte{0x0a, 9}))),
		"a map that is cut":      record(msg(6, str(1, "k"), msg(2, msg(6, []byte{0x0a, 9})))),
		"a map in a list cut":    record(msg(5, msg(5, msg(1, msg(6, msg(1, []byte{0x0a, 2})))))),
		"trace id of 15 bytes":   record(str(9, strings.Repeat("x", 15))),
		"span id of 9 bytes":     record(str(10, strings.Repeat("x", 9))),
		"resource attribute":     request(msg(1, num(1, 1)), msg(2, msg(2))),
		"resource dropped":       request(msg(1, str(2, "x")), msg(2, msg(2))),
		"resource value":         request(msg(1, msg(1, str(1, "service.name"), msg(2, num(1, 1)))), msg(2, msg(2))),
		"resource list":          request(msg(1, msg(1, str(1, "service.name"), msg(2, msg(5, num(1, 1))))), msg(2, msg(2))),
		"scope name":             request(msg(2, msg(1, num(1, 1)), msg(2))),
		"scope attribute":        request(msg(2, msg(1, msg(3, num(1, 1))), msg(2))),
		"lists nested too deep":  record(msg(5, nested(3000))),
		"maps nested too deep":   record(msg(6, str(1, "k"), msg(2, repeat(3000, func(b []byte) []byte { return msg(6, msg(1, msg(2, b))) })))),
		"the last of many, cut":  append(record(), 0x0a, 0x10),
		"a known overlong tag":   record([]byte{0x88, 0x00, 0x01}),
	}
}

func TestPdataRefusesWhatIsMalformed(t *testing.T) {
	for name, payload := range malformed() {
		if err := plogotlp.NewExportRequest().UnmarshalProto(payload); err == nil &&
			!strings.Contains(name, "group") && !strings.Contains(name, "70 bits") && !strings.Contains(name, "2^29") {
			t.Errorf("%s: pdata accepts it", name)
		}
	}
	for name, payload := range malformedTraces() {
		if _, err := (&ptrace.ProtoUnmarshaler{}).UnmarshalTraces(payload); err == nil {
			t.Errorf("%s: pdata accepts it", name)
		}
	}
	for name, payload := range malformedMetrics() {
		if _, err := (&pmetric.ProtoUnmarshaler{}).UnmarshalMetrics(payload); err == nil {
			t.Errorf("%s: pdata accepts it", name)
		}
	}
}

func TestDeepNestingIsKept(t *testing.T) {
	e := newTestEncoder(t, testSpec())
	db := duckdbtest.Open(t)
	file := object(t, e, stage(t, e, []Entry{{Payload: record(msg(5, nested(1000)))}}))
	for _, r := range readers(db) {
		g := r.read(t, file)
		if want := strings.Repeat("[", 1000) + "null" + strings.Repeat("]", 1000); g.rows[0][slices.Index(g.columns, "body")] != want {
			t.Errorf("%s: body is %s", r.name, short(g.rows[0][slices.Index(g.columns, "body")]))
		}
	}
}

// Every prefix of a request is either rejected or holds what pdata finds in it.
func TestPrefixesOfARequest(t *testing.T) {
	spec := testSpec(testColumns()...)
	e := newTestEncoder(t, spec)
	whole := encodeCase(t, inputCase{fill: one(everyField)})[0].Payload
	for n := range len(whole) + 1 {
		checkAgainstPdata(t, e, spec, whole[:n])
	}
}

// checkAgainstPdata checks that the encoder makes a readable file of any bytes
// and that, of a request that pdata accepts too, both find the same rows.
func checkAgainstPdata(t *testing.T, e *Encoder, spec Spec, payload []byte) {
	t.Helper()
	entries := []Entry{{Payload: payload, ReceivedAt: 1}}
	staged := stage(t, e, entries)
	file := object(t, e, staged)
	got := readParquetGo(t, file)
	if len(staged.Rejected) > 0 {
		checkRejected(t, spec.Signal, payload, staged, len(got.rows))
		return
	}
	if staged.Rows != len(got.rows) {
		t.Errorf("staged are %d rows, read %d", staged.Rows, len(got.rows))
	}
	if err := plogotlp.NewExportRequest().UnmarshalProto(payload); err != nil {
		return
	}
	for _, d := range differences(got, oracle(t, entries, spec.Columns)) {
		t.Errorf("%x: %s", payload, d)
	}
}

func FuzzStage(f *testing.F) {
	for _, c := range append(inputCases()[:14], valueCases()[:5]...) {
		f.Add(encodeCase(f, c)[0].Payload)
	}
	for _, payload := range malformed() {
		if len(payload) < 1000 {
			f.Add(payload)
		}
	}
	spec := testSpec(testColumns()...)
	e := newTestEncoder(f, spec)
	f.Fuzz(func(t *testing.T, payload []byte) { checkAgainstPdata(t, e, spec, payload) })
}

// wireField is a field of a message.
type wireField struct {
	number, wire int
	value        []byte // of one that has a length
	end          int
}

func fieldAt(b []byte, i int) wireField {
	tag, n := binary.Uvarint(b[i:])
	f := wireField{number: int(tag >> 3), wire: int(tag & 7), end: i + n}
	switch f.wire {
	case 0:
		_, n = binary.Uvarint(b[f.end:])
		f.end += n
	case 1:
		f.end += 8
	case 2:
		size, n := binary.Uvarint(b[f.end:])
		f.value = b[f.end+n : f.end+n+int(size)]
		f.end += n + int(size)
	case 5:
		f.end += 4
	}
	return f
}
