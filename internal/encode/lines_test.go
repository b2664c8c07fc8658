package encode

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"slices"
	"strconv"
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
	if slices.Contains([]string{"value", "sum", "min", "max", "zero_threshold"}, name) && text != "null" {
		x, err := strconv.ParseFloat(strings.Trim(text, `"`), 64)
		if err != nil {
			t.Fatal(err)
		}
		return oracleDouble(x)
	}
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
	lines, parquet := map[partition.Signal]*Encoder{}, map[partition.Signal]*Encoder{}
	for _, s := range lineSignals(f) {
		spec := s.spec("none", testColumns()...)
		lines[s.signal] = newTestEncoder(f, spec)
		spec.Format, spec.Codec = "parquet", "zstd"
		parquet[s.signal] = newTestEncoder(f, spec)
		for _, c := range s.cases[:s.golden] {
			f.Add(c.entries[0].Payload)
		}
		for _, payload := range s.malformed {
			if len(payload) < 1000 {
				f.Add(payload)
			}
		}
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		for signal := range lines {
			checkSameRejected(t, lines[signal], parquet[signal], payload)
		}
	})
}
