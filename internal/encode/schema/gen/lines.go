package main

import (
	"fmt"
	"strings"

	"github.com/s3window/s3window/internal/encode/schema"
)

// lineType is how the value of a field stands in a line: what is before it, the
// expression that appends it to %[1]s (%[2]s is the value, %[3]s the field that
// has what is needed for it), and what is behind it.
type lineType struct {
	before, append, after string
	fails                 bool   // append has a fault as second result
	text                  bool   // it may be invalid UTF-8
	none                  string // where the form of a message does not have it
}

func lineOf(f schema.Field) lineType {
	switch f.Kind {
	case schema.Received:
		return lineType{append: "append(%[1]s, out.receivedText...)"}
	case schema.Duration:
		return lineType{append: "strconv.AppendInt(%[1]s, r.Duration(), 10)"}
	case schema.Nanos:
		return lineType{append: "x.%[3]s.appendNanos(%[1]s, %[2]s)"}
	case schema.Service:
		return lineType{append: "append(%[1]s, service...)"}
	case schema.Int32:
		return lineType{append: "strconv.AppendInt(%[1]s, int64(%[2]s), 10)"}
	case schema.Count, schema.Flags:
		return lineType{append: "strconv.AppendUint(%[1]s, uint64(%[2]s), 10)"}
	case schema.Label:
		return lineType{append: "otlp.AppendQuoted(%[1]s, %[2]s)", text: true}
	case schema.Enum:
		return lineType{before: `"`, append: "x.%[3]s.Append(%[1]s, %[2]s)", after: `"`}
	case schema.TraceID, schema.SpanID:
		return lineType{before: `"`, append: "appendHex(%[1]s, %[2]s)", after: `"`}
	case schema.Uint64:
		return lineType{append: "strconv.AppendInt(%[1]s, int64(%[2]s), 10)", none: "null"}
	case schema.Sint32:
		return lineType{append: "strconv.AppendInt(%[1]s, int64(%[2]s), 10)", none: "null"}
	case schema.Double:
		if f.Sent {
			return lineType{append: "appendOptional(%[1]s, r.Has&otlp.Has%[4]s != 0, %[2]s)", none: "null"}
		}
		return lineType{append: "otlp.AppendDouble(%[1]s, math.Float64frombits(%[2]s))", none: "null"}
	case schema.Uint64s:
		return lineType{before: "[", append: "appendFixed64s(%[1]s, %[2]s)", after: "]", none: "[]"}
	case schema.Varints:
		return lineType{before: "[", append: "appendVarints(%[1]s, %[2]s)", after: "]", none: "[]"}
	case schema.Doubles:
		return lineType{before: "[", append: "appendDoubles(%[1]s, %[2]s)", after: "]", none: "[]"}
	case schema.Structs:
		return lineType{before: "[", append: "x.%[3]s.append(%[1]s)", after: "]", fails: true, text: true, none: "[]"}
	}
	return lineType{}
}

// printLines prints what appends lines.
func printLines(p *printer) {
	p.header("jsonl", "math", "strconv", "unicode/utf8", "", otlpPath)
	for _, m := range rows() {
		printLine(p, m)
	}
	for _, m := range elements() {
		printObject(p, m)
	}
	for _, m := range []schema.Message{schema.Metric(), schema.Scope(), schema.Resource()} {
		printShared(p, m)
	}
}

// text gathers code that appends to b; what is constant in a row is appended at
// once, with what follows.
type text struct {
	*printer
	constant string
}

// target is b with what is pending appended.
func (t *text) target() string {
	s := t.constant
	t.constant = ""
	if s == "" {
		return "b"
	}
	return fmt.Sprintf("append(b, `%s`...)", s)
}

func (t *text) flush() {
	if t.constant != "" {
		t.p("b = %s", t.target())
	}
}

// value prints a field of a name whose value is given.
func (t *text) value(f flatField, key string) {
	t.constant += key + `"` + f.Name + `":`
	l := lineOf(f.Field)
	t.constant += l.before
	code := sprintf(l.append, t.target(), f.value, f.name, goName(f.of, f.Field))
	if l.fails {
		t.p("if b, at = %s; at < 0 {\nreturn at\n}", code)
	} else {
		t.p("b = %s", code)
	}
	t.constant = l.after
}

// helper is the type of what a field needs to be appended, if it needs anything.
func helper(f schema.Field) string {
	switch f.Kind {
	case schema.Nanos:
		return "stamp"
	case schema.Enum:
		return "otlp.Enum"
	case schema.Attributes:
		return "attributes"
	case schema.Structs:
		return lower(f.Of.Name) + "Lines"
	}
	return ""
}

func printLine(p *printer, m schema.Message) {
	name := lower(m.Name) + "Lines"
	p.p("// %s makes lines of %s, but for what they share.\ntype %s struct {", name, m.What, name)
	for _, f := range flat(m) {
		if h := helper(f.Field); h != "" {
			p.p("%s %s", f.name, h)
		}
	}
	p.p("}\n")
	p.p("func new%sLines(columns []Column) %s {\nreturn %s{", m.Name, name, name)
	for _, f := range flat(m) {
		switch f.Kind {
		case schema.Enum:
			p.p("%s: otlp.%s(),", f.name, f.Names)
		case schema.Attributes:
			p.p("%s: newAttributes(columns),", f.name)
		case schema.Structs:
			p.p("%s: new%sLines(),", f.name, f.Of.Name)
		}
	}
	p.p("}\n}\n")
	metric := ""
	if has(m, schema.MetricFields) {
		metric = ", metric"
	}
	p.p("// append appends a line to out up to the first field of its scope. It returns a\n// fault if a value is malformed.")
	p.p("func (x *%s) append(out *lines, r *otlp.%s, service%s []byte) (at int) {\nb := out.begin(r.Nanos())", name, m.Name, metric)
	t := &text{printer: p}
	printLineFields(t, m)
	t.flush()
	p.p("if out.buf = b; !utf8.Valid(b[from:]) {\nout.mend(from)\n}\nreturn 0\n}\n")
	printLineMemory(p, m, name)
}

// printLineFields prints the fields of a row behind ts.
func printLineFields(t *text, m schema.Message) {
	checked := false // from what is here may be invalid
	check := func() {
		if !checked {
			t.flush()
			t.p("from := len(b)")
			checked = true
		}
	}
	common := flat(m)
	for i, f := range common {
		l := lineOf(f.Field)
		if l.text || f.Kind == schema.Attributes || f.Kind == schema.Any {
			check()
		}
		if hasForms(m) && onWire(f.Field) && !inAll(f.Field) {
			printLineForms(t, common[i:])
			return
		}
		t.field(f)
	}
}

// field prints a field that a message has.
func (t *text) field(f flatField) {
	switch f.Kind {
	case schema.TS, schema.Tenant:
	case schema.MetricFields:
		t.flush()
		t.p("b = append(b, metric...)")
	case schema.Any:
		t.constant += `,"` + f.Name + `":`
		t.p("if b, at = %s.AppendJSON(%s); at < 0 {\nreturn at\n}", f.value, t.target())
		t.constant = `,"` + f.Name + `_type":"`
		t.p("b = append(%s, byte(%s.Kind))", t.target(), f.value)
		t.constant = `"`
	case schema.Attributes:
		t.flush()
		t.p("if b, at = x.%s.append(b); at < 0 {\nreturn at\n}", f.name)
	case schema.Number:
		t.flush()
		t.p("b = appendNumber(b, r.Has, %s)", f.value)
	default:
		t.value(f, ",")
	}
}

// printLineForms prints fields of which each form of a message has some.
func printLineForms(t *text, fields []flatField) {
	pending := t.constant
	t.p("switch r.Kind {")
	for i, form := range forms() {
		t.p("case %s:", form.cases("otlp."))
		t.constant = pending
		for _, f := range fields {
			switch {
			case f.Forms[i] != 0:
				t.field(f)
			case f.Kind == schema.Number:
				t.constant += fmt.Sprintf(`,"%[1]s":null,"%[1]s_int":null`, f.Name)
			default:
				t.constant += `,"` + f.Name + `":` + lineOf(f.Field).none
			}
		}
		t.flush()
	}
	t.p("}")
}

func printLineMemory(p *printer, m schema.Message, name string) {
	var begin, release, held []string
	for _, f := range flat(m) {
		if f.Kind == schema.Attributes || f.Kind == schema.Structs {
			begin = append(begin, "x."+f.name+".begin()")
			release = append(release, "x."+f.name+".release()")
			held = append(held, "x."+f.name+".held()")
		}
	}
	p.p("// begin makes ready for the parts of the next message.\nfunc (x *%s) begin() {\n%s\n}\n", name, strings.Join(begin, "\n"))
	p.p("// release lets go of the payload.\nfunc (x *%s) release() {\n%s\n}\n", name, strings.Join(release, "\n"))
	p.p("func (x *%s) held() int { return %s }\n", name, strings.Join(held, " + "))
	p.p("// Attribute implements otlp.AttributeSink.\nfunc (x *%s) Attribute(kv []byte) int { return x.attributes.Attribute(kv) }\n", name)
	for _, f := range m.Fields {
		if f.Kind == schema.Structs {
			p.p("// %s implements otlp.%s.\nfunc (x *%s) %s(message []byte) int { return x.%s.sent.Add(message) }\n", f.Of.Name, sink(m), name, f.Of.Name, varName(m, f))
		}
	}
}

// printObject prints what appends the elements of a list.
func printObject(p *printer, m schema.Message) {
	name := lower(m.Name) + "Lines"
	p.p("// %s makes arrays of %s.\ntype %s struct {\nsent otlp.Messages // of the next array", name, m.What, name)
	for _, f := range m.Fields {
		if h := helper(f); h != "" {
			p.p("%s %s", varName(m, f), h)
		}
	}
	attributes := has(m, schema.Attributes)
	p.p("}\n\nfunc new%sLines() %s {", m.Name, name)
	if attributes {
		p.p("return %s{attributes: newAttributes(nil)}\n}\n", name)
	} else {
		p.p("return %s{}\n}\n", name)
	}
	p.p("// append appends what was sent. It returns a fault if it is malformed.\nfunc (x *%s) append(b []byte) (_ []byte, at int) {", name)
	p.p("for i, message := range x.sent {\nif i > 0 {\nb = append(b, ',')\n}\nvar r otlp.%s", m.Name)
	if attributes {
		p.p("x.attributes.begin()\nif at := r.Parse(message, &x.attributes); at < 0 {\nreturn b, at\n}")
	} else {
		p.p("if at := r.Parse(message); at < 0 {\nreturn b, at\n}")
	}
	t := &text{printer: p, constant: "{"}
	key := ""
	for _, f := range flat(m) {
		switch f.Kind {
		case schema.Attributes:
			t.flush()
			p.p("if b, at = x.%s.append(b); at < 0 {\nreturn b, at\n}", f.name)
		case schema.Number:
			t.flush()
			p.p("b = appendNumber(b, r.Has, %s)", f.value)
		default:
			t.value(f, key)
		}
		key = ","
	}
	t.constant += "}"
	t.flush()
	p.p("}\nreturn b, 0\n}\n")
	more := func(call string) string {
		if attributes {
			return call
		}
		return ""
	}
	p.p("func (x *%s) begin() { x.sent = x.sent[:0] }\n", name)
	p.p("func (x *%s) release() {\nx.sent.Release()\n%s}\n", name, more("x.attributes.release()\n"))
	p.p("func (x *%s) held() int { return x.sent.Held()%s }\n", name, more(" + x.attributes.held()"))
}

// printShared prints what makes the fields that lines share.
func printShared(p *printer, m schema.Message) {
	args := ""
	for _, f := range m.Fields {
		if f.Kind == schema.Label && f.Wire == 0 {
			args += ", " + varName(m, f) + " []byte"
		}
	}
	p.p("// append%s appends the fields of %s, whose attributes were put already.\nfunc (s *shared) append%s(m *otlp.%s%s) {\nb := s.fields", m.Name, m.What, m.Name, m.Name, args)
	t := &text{printer: p}
	for _, f := range m.Fields {
		value := "m." + goName(m, f)
		if f.Kind == schema.Label && f.Wire == 0 {
			value = varName(m, f)
		}
		switch f.Kind {
		case schema.Attributes:
			t.constant += `,"` + f.Name + `":`
			p.p("b = append(%s, s.object...)", t.target())
			t.constant = `},"` + f.Name + `_types":"`
			p.p("b = append(%s, s.letters...)", t.target())
			t.constant = `"`
		case schema.Form:
			t.constant += `,"` + f.Name + `":"`
			p.p("b = append(%s, otlp.MetricType(m.Kind)...)", t.target())
			t.constant = `"`
		case schema.Enum:
			t.constant += `,"` + f.Name + `":"`
			t.flush()
			p.p("if m.Has&otlp.Has%s != 0 {\nb = otlp.%s().Append(b, %s)\n}", goName(m, f), f.Names, value)
			t.constant = `"`
		case schema.Bool:
			t.constant += `,"` + f.Name + `":`
			t.flush()
			p.p("if m.Has&otlp.Has%s != 0 {\nb = strconv.AppendBool(b, %s)\n} else {\nb = append(b, \"null\"...)\n}", goName(m, f), value)
		default:
			t.value(flatField{f, m, value, varName(m, f)}, ",")
		}
	}
	t.flush()
	p.p("s.fields = b\n}\n")
}
