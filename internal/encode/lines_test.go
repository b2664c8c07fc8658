package encode

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"

	"github.com/s3window/s3window/internal/partition"
)

var lineCodecs = []string{"zstd", "gzip", "none"}

func lineSpec(codec string, columns ...Column) Spec {
	return Spec{Signal: partition.Logs, Format: "jsonl", Codec: codec, Columns: columns}
}

// unpacked returns the lines of an object, read by decoders that know of no
// more than their formats.
func unpacked(t testing.TB, codec string, file []byte) []byte {
	t.Helper()
	var r io.Reader = bytes.NewReader(file)
	var err error
	switch codec {
	case "zstd":
		var z *zstd.Decoder
		z, err = zstd.NewReader(r, zstd.WithDecoderConcurrency(1))
		if err == nil {
			defer z.Close()
		}
		r = z
	case "gzip":
		r, err = gzip.NewReader(r)
	}
	if err != nil {
		t.Fatal(err)
	}
	lines, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

// lineFields is the fields of a line in order.
type lineFields struct {
	names  []string
	values map[string]json.RawMessage
}

func parseLine(t testing.TB, line []byte) lineFields {
	t.Helper()
	f := lineFields{values: map[string]json.RawMessage{}}
	if !json.Valid(line) || !utf8.Valid(line) {
		t.Fatalf("no valid JSON: %s", short(string(line)))
	}
	d := json.NewDecoder(bytes.NewReader(line))
	_, _ = d.Token()
	for d.More() {
		name, _ := d.Token()
		var v json.RawMessage
		if err := d.Decode(&v); err != nil {
			t.Fatal(err)
		}
		f.names = append(f.names, name.(string))
		f.values[name.(string)] = v
	}
	return f
}

// cell is the value of a scalar field as the oracle has it.
func (f lineFields) cell(t testing.TB, name string) string {
	t.Helper()
	text := string(f.values[name])
	if text == "null" {
		return nullCell
	}
	if text[0] != '"' {
		return text
	}
	var s string
	if err := json.Unmarshal(f.values[name], &s); err != nil {
		t.Fatal(err)
	}
	if name != "ts" && name != "received_at" {
		return s
	}
	if at, err := time.Parse("2006-01-02T15:04:05.000000000Z", s); err == nil {
		return itoa(at.UnixMicro())
	}
	t.Fatalf("%s is no time: %s", name, s)
	return ""
}

func splitLines(t testing.TB, lines []byte) [][]byte {
	t.Helper()
	if len(lines) == 0 {
		return nil
	}
	if lines[len(lines)-1] != '\n' {
		t.Fatal("the last line has no end")
	}
	return bytes.Split(lines[:len(lines)-1], []byte("\n"))
}

// Every line is JSON with the fields of the schema in their order, and its
// scalars are what pdata says.
func TestLinesOfEveryInput(t *testing.T) {
	columns := testColumns()
	names := slices.Clone(logColumns[:])
	for _, place := range []string{"", "scope_", "resource_"} {
		for _, n := range []string{"promoted", "int", "double", "bool"} {
			names = append(names, place+n)
		}
	}
	scalars := slices.Clone(logColumns[:8])
	scalars = append(scalars, "body_type", "trace_id", "span_id", "flags", "attributes_types", "dropped_attributes_count", "scope_name",
		"scope_version", "scope_attributes_types", "scope_dropped_attributes_count", "scope_schema_url",
		"resource_attributes_types", "resource_dropped_attributes_count", "resource_schema_url")
	for _, codec := range lineCodecs {
		plain, wide := newTestEncoder(t, lineSpec(codec)), newTestEncoder(t, lineSpec(codec, columns...))
		for _, c := range inputCases() {
			t.Run(codec+"/"+c.name, func(t *testing.T) {
				entries := encodeCase(t, c)
				for _, line := range splitLines(t, unpacked(t, codec, object(t, wide, stage(t, wide, entries)))) {
					if f := parseLine(t, line); !slices.Equal(f.names, names) {
						t.Fatalf("fields are %v", f.names)
					}
				}
				want := oracle(t, entries, nil)
				var got, say []string
				for _, line := range splitLines(t, unpacked(t, codec, object(t, plain, stage(t, plain, entries)))) {
					f, row := parseLine(t, line), ""
					for _, n := range scalars {
						row += pair(n, f.cell(t, n))
					}
					got = append(got, row)
				}
				for _, r := range want.rows {
					row := ""
					for _, n := range scalars {
						row += pair(n, r[slices.Index(want.columns, n)])
					}
					say = append(say, row)
				}
				slices.Sort(got) // the oracle's rows are clustered by service
				slices.Sort(say)
				for i := range max(len(got), len(say)) {
					if i >= len(got) || i >= len(say) || got[i] != say[i] {
						t.Fatalf("%d lines, want %d; line %d differs:\n%v\n%v", len(got), len(say), i, got[min(i, len(got)-1)], say[min(i, len(say)-1)])
					}
				}
			})
		}
	}
}

// One line by the letter, with a value of every kind.
func TestGoldenLines(t *testing.T) {
	for _, c := range []struct {
		name    string
		columns []Column
	}{{"lines-v1", nil}, {"lines-v1-promoted", testColumns()}} {
		e := newTestEncoder(t, lineSpec("none", c.columns...))
		var entries []Entry
		for _, in := range append(inputCases()[:13], valueCases()[:12]...) {
			entries = append(entries, encodeCase(t, in)...)
		}
		golden(t, "testdata/"+c.name+".jsonl", object(t, e, stage(t, e, entries)))
	}
}

func TestMalformedEntryLeavesNoLine(t *testing.T) {
	for _, codec := range lineCodecs {
		e := newTestEncoder(t, lineSpec(codec, testColumns()...))
		good := encodeCase(t, inputCase{fill: one(everyField)})[0]
		other := Entry{Payload: record(attr(6, "promoted", "x"), attr(6, "other", "y")), ReceivedAt: 3}
		want := object(t, e, stage(t, e, []Entry{good, other, good}))
		for name, payload := range malformed() {
			bad := Entry{Payload: append(bytes.Clone(good.Payload), payload...)}
			staged := stage(t, e, []Entry{good, bad, other, {Payload: payload}, good})
			if len(staged.Rejected) != 2 || staged.Rejected[0].Index != 1 || staged.Rejected[1].Index != 3 {
				t.Fatalf("%s: rejected %v, want entries 1 and 3", name, staged.Rejected)
			}
			if !strings.Contains(fmt.Sprint(staged.Rejected[1].Err), "malformed OTLP") {
				t.Errorf("%s: error %v", name, staged.Rejected[1].Err)
			}
			if got := object(t, e, staged); !bytes.Equal(got, want) {
				t.Errorf("%s: the rejected entries left a trace", name)
			}
		}
	}
}

// Both formats take the same entries: a window does not lose records by its
// format.
func checkSameRejected(t *testing.T, lines, parquet *Encoder, payload []byte) {
	t.Helper()
	a, b := stage(t, lines, []Entry{{Payload: payload}}), stage(t, parquet, []Entry{{Payload: payload}})
	if len(a.Rejected) != len(b.Rejected) || a.Rows != b.Rows || a.MinTime != b.MinTime || a.MaxTime != b.MaxTime {
		t.Fatalf("lines: %d rows, rejected %v; parquet: %d rows, rejected %v", a.Rows, a.Rejected, b.Rows, b.Rejected)
	}
	for _, line := range splitLines(t, object(t, lines, a)) {
		if len(line) > 0 {
			parseLine(t, line)
		}
	}
}

func FuzzLines(f *testing.F) {
	for _, c := range append(inputCases()[:14], valueCases()[:5]...) {
		f.Add(encodeCase(f, c)[0].Payload)
	}
	for _, payload := range malformed() {
		if len(payload) < 1000 {
			f.Add(payload)
		}
	}
	lines, parquet := newTestEncoder(f, lineSpec("none", testColumns()...)), newTestEncoder(f, testSpec(testColumns()...))
	f.Fuzz(func(t *testing.T, payload []byte) { checkSameRejected(t, lines, parquet, payload) })
}
