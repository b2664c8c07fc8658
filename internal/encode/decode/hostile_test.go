package decode

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"strings"
	"testing"

	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/s3window/s3window/internal/encode"
	"github.com/s3window/s3window/internal/encode/encodetest"
	"github.com/s3window/s3window/internal/partition"
)

// line is a line with one attribute, its parts to be replaced.
func line(body, bodyType, attributes, types string) string {
	return `{"time_unix_nano":1,"body":` + body + `,"body_type":"` + bodyType + `","attributes":` + attributes + `,"attributes_types":"` + types + `"}` + "\n"
}

func TestMalformedLines(t *testing.T) {
	for name, c := range map[string]struct{ lines, want string }{
		"no end":                     {`{}`, "has no end"},
		"no JSON":                    {"x\n", "unexpected"},
		"an empty line":              {"\n", "ends too early"},
		"not an object":              {"[]\n", "unexpected"},
		"two objects":                {"{} {}\n", "unexpected"},
		"a comma too many":           {`{"a":1,}` + "\n", "unexpected"},
		"a string without end":       {`{"a":"b` + "\n", "too early"},
		"an escape without end":      {`{"a":"\` + "\n", "too early"},
		"a time that is a string":    {`{"time_unix_nano":"1"}` + "\n", "no integer"},
		"a time that is a double":    {`{"time_unix_nano":1.5}` + "\n", "no integer"},
		"a time beyond 64 bits":      {`{"time_unix_nano":9223372036854775808}` + "\n", "no integer"},
		"an id that is short":        {`{"trace_id":"ab"}` + "\n", "has 2 digits"},
		"an id that is no hex":       {`{"span_id":"000000000000000g"}` + "\n", "not hexadecimal"},
		"text that is a number":      {`{"severity_text":1}` + "\n", "unexpected"},
		"a body without its type":    {line("1", "", "{}", ""), "has the types"},
		"a body of another type":     {line("1", "s", "{}", ""), "not of type"},
		"a body of no type":          {line("1", "q", "{}", ""), "not of type"},
		"a number that is a string":  {line(`"1"`, "i", "{}", ""), "stands for"},
		"a double that is no number": {line(`"x"`, "d", "{}", ""), "stands for"},
		"bytes that are no base64":   {line(`"!"`, "y", "{}", ""), "no base64"},
		"an integer beyond 64 bits":  {line(`9223372036854775808`, "i", "{}", ""), "no number of its type"},
		"a number of signs":          {line(`--`, "i", "{}", ""), "no number"},
		"a value cut in a list":      {line(`[1,]`, "a", "{}", ""), "unexpected"},
		"brackets that do not match": {line(`[1}`, "a", "{}", ""), "unexpected"},
		"a bad unicode escape":       {line(`"\u12g4"`, "s", "{}", ""), "unexpected"},
		"an unknown escape":          {line(`"\x"`, "s", "{}", ""), "unexpected"},
		"too few types":              {line("null", "n", `{"a":1,"b":2}`, "i"), "more entries"},
		"too many types":             {line("null", "n", `{"a":1}`, "ii"), "1 entries and 2 types"},
		"attributes that are a list": {line("null", "n", `[1]`, "i"), "unexpected"},
		"lists nested too deep":      {line(strings.Repeat("[", 3000)+strings.Repeat("]", 3000), "a", "{}", ""), "nested deeper"},
		"a control character":        {line("\"a\x01\"", "s", "{}", ""), "unexpected"},
	} {
		_, err := Logs(content([]byte(c.lines), "jsonl"))
		if !errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error is %v, want one with %q", name, err, c.want)
		}
	}
}

// Lines that another tool wrote anew are read all the same.
func TestLinesWithSpaceAndOtherOrder(t *testing.T) {
	got, err := Logs(content([]byte(
		` { "attributes_types" : "sidbn" , "new" : {"a":[1,"]"]} , "body_type":"o" , "body" : { "k" : [ 1 , 2.5 ,null] },`+
			`"attributes": { "s" : "\ud83d\ude00\u00e9\/", "i":-1, "d":1 , "b" : false, "n":null } , "ts":"?" } `+"\n"), "jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	want := plog.NewLogs()
	lr := want.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
	s := lr.Body().SetEmptyMap().PutEmptySlice("k")
	s.AppendEmpty().SetInt(1)
	s.AppendEmpty().SetDouble(2.5)
	s.AppendEmpty()
	lr.Attributes().PutStr("s", "😀é/")
	lr.Attributes().PutInt("i", -1)
	lr.Attributes().PutDouble("d", 1)
	lr.Attributes().PutBool("b", false)
	lr.Attributes().PutEmpty("n")
	equal(t, got, want)
}

type broken struct{}

func (broken) ReadAt([]byte, int64) (int, error) { return 0, io.ErrClosedPipe }

// An error of reading is not blamed on the object.
func TestReadErrorIsNotMalformed(t *testing.T) {
	for _, ext := range []string{"parquet", "jsonl", "jsonl.gz", "jsonl.zst"} {
		_, err := Logs(Object{Content: broken{}, Size: 1000, Ext: ext})
		if err == nil || errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v", ext, err)
		}
	}
}

func TestObjectsOfOtherKinds(t *testing.T) {
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write([]byte("{}\n"))
	_ = z.Close()
	for name, c := range map[string]struct {
		o    Object
		want string
	}{
		"unknown suffix":     {content(nil, "csv"), "suffix"},
		"newer schema":       {Object{Content: bytes.NewReader(nil), Ext: "jsonl", Schema: 99}, "schema 99"},
		"no parquet":         {content([]byte("{}\n"), "parquet"), ""},
		"no gzip":            {content([]byte("{}\n"), "jsonl.gz"), ""},
		"gzip that is cut":   {content(zipped.Bytes()[:zipped.Len()-3], "jsonl.gz"), ""},
		"no zstd":            {content([]byte("{}\n"), "jsonl.zst"), ""},
		"nothing as parquet": {content(nil, "parquet"), ""},
		"nothing as gzip":    {content(nil, "jsonl.gz"), ""},
	} {
		if _, err := Logs(c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error is %v, want one with %q", name, err, c.want)
		}
	}
	if l, err := Logs(content(nil, "jsonl")); err != nil || l.LogRecordCount() != 0 {
		t.Errorf("an object without lines: %v", err)
	}
}

// Whatever bytes of an object are changed or missing, the answer is an error or
// some records, never a panic or a hang.
func TestDamagedObjects(t *testing.T) {
	var entries []encode.Entry
	for _, p := range encodetest.Logs(5, 300) {
		entries = append(entries, encode.Entry{Payload: p, ReceivedAt: 1})
	}
	r := rand.New(rand.NewSource(1))
	for name, e := range encoders(t) {
		o := object(t, e, entries)
		whole := make([]byte, o.Size)
		if _, err := o.Content.ReadAt(whole, 0); err != nil && !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
		failed := 0
		for i := range 60 {
			b := bytes.Clone(whole)
			if i%3 == 0 {
				b = b[:r.Intn(len(b))]
			} else {
				// Most of the damage goes where the structure is.
				at := r.Intn(len(b))
				if i%3 == 1 {
					at = len(b) - 1 - r.Intn(min(len(b), 4000))
				}
				b[at] ^= byte(1 + r.Intn(255))
			}
			if _, err := Logs(content(b, o.Ext)); err != nil {
				failed++
			}
		}
		if failed < 20 {
			t.Errorf("%s: only %d of 60 damaged objects were refused", name, failed)
		}
	}
}

// A file of some other schema is refused before its rows are taken for ours.
func TestForeignParquet(t *testing.T) {
	spec := encode.Spec{Signal: partition.Logs, Format: "parquet", Codec: "zstd", Columns: testColumns(false)}
	e, err := encode.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	o := object(t, e, []encode.Entry{{Payload: encodetest.Logs(5, 10)[0]}})
	whole := make([]byte, o.Size)
	_, _ = o.Content.ReadAt(whole, 0)
	for _, c := range []struct{ old, new, want string }{
		{"s3window.columns", "s3window.c0lumns", "is not known"},
		{`"as":"promoted"`, `"as":"pr0moted"`, "has no column"},
		{"severity_text", "severity_tex7", "is not known"},
		{"s3window.signal", "s3window.s1gnal", `of signal ""`},
	} {
		changed := bytes.ReplaceAll(whole, []byte(c.old), []byte(c.new))
		if _, err := Logs(content(changed, "parquet")); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error is %v, want one with %q", c.new, err, c.want)
		}
	}
}

func FuzzLines(f *testing.F) {
	f.Add([]byte(line(`[1, "AA=="]`, "a", `{"a":  "NaN"}`, "d")))
	f.Add([]byte("{}\n{}\n"))
	e, err := encode.New(encode.Spec{Signal: partition.Logs, Format: "jsonl", Codec: "none"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, lines []byte) {
		l, err := Logs(content(lines, "jsonl"))
		if err != nil {
			if !errors.Is(err, ErrMalformed) {
				t.Fatal(err)
			}
			return
		}
		// What was read can be written, and read again as the same.
		again, err := Logs(object(t, e, []encode.Entry{{Payload: marshal(t, l)}}))
		if err != nil {
			t.Fatal(err)
		}
		if a, b := again.LogRecordCount(), l.LogRecordCount(); a != b {
			t.Fatal(fmt.Errorf("%d records, then %d", b, a))
		}
	})
}
