package main

import (
	"fmt"
	"strings"

	"github.com/s3window/s3window/internal/encode/schema"
)

// printMessages prints the types of messages and the functions that decode them.
func printMessages(p *printer) {
	p.header("otlp")
	printHas(p)
	p.p("// Field numbers of the attributes of what is around records.\nconst (")
	for _, m := range []schema.Message{schema.Scope(), schema.Resource(), schema.Metric()} {
		for _, f := range m.Fields {
			if f.Kind == schema.Attributes {
				p.p("%s%s = %d", m.Name, goName(m, f), f.Wire)
			}
		}
	}
	p.p(")\n")
	for _, m := range rows() {
		printMessage(p, m)
	}
	for _, m := range elements() {
		printMessage(p, m)
	}
	for _, m := range groups() {
		printMessage(p, m)
	}
	printMessage(p, schema.Resource())
	printMessage(p, schema.Scope())
}

// printHas prints the bits of fields that may not have been sent.
func printHas(p *printer) {
	p.p("// What a message has, of that which it need not have.\nconst (\nHasDouble = 1 << iota // a number that is a double\nHasInt // a number that is an integer")
	for _, m := range append(rows(), schema.Metric()) {
		for _, f := range m.Fields {
			if f.Sent {
				p.p("Has%s", goName(m, f))
			}
		}
	}
	p.p(")\n")
}

// wireType is how a kind is decoded.
type wireType struct {
	goType string
	tags   []int  // types of tags that it may have
	read   string // of %[1]s
}

func wireTypeOf(k schema.Kind) wireType {
	number := func(goType, value string) wireType {
		return wireType{goType, []int{0}, "n, i = Uvarint(b, i)\n%[1]s = " + value}
	}
	switch k {
	case schema.Nanos, schema.Uint64, schema.Double:
		return wireType{"uint64", []int{1}, "%[1]s, i = Fixed64(b, i)"}
	case schema.Int32, schema.Enum:
		return number("int32", "int32(n)")
	case schema.Sint32:
		return number("int32", "zigzag32(n)")
	case schema.Count:
		return number("uint32", "uint32(n)")
	case schema.Bool:
		return number("bool", "n != 0")
	case schema.Flags:
		return wireType{"uint32", []int{5}, "%[1]s, i = Fixed32(b, i)"}
	case schema.Label, schema.TraceID, schema.SpanID:
		return wireType{"[]byte", []int{2}, "%[1]s, i = Bytes(b, i)"}
	case schema.Any:
		return wireType{"Value", []int{2}, ""}
	case schema.Number:
		return wireType{"uint64", []int{1}, "%[1]s, i = Fixed64(b, i)"}
	case schema.Uint64s, schema.Doubles:
		return wireType{"Fixed64s", []int{1, 2}, "i = %[1]s.add(tag, b, i)"}
	case schema.Varints:
		return wireType{"Varints", []int{0, 2}, "i = %[1]s.add(tag, b, i)"}
	case schema.Attributes, schema.Structs, schema.Group:
		return wireType{"", []int{2}, ""}
	}
	return wireType{}
}

// note says what a field of a kind holds, where its type does not.
func note(f schema.Field) string {
	switch f.Kind {
	case schema.Nanos:
		return " // nanoseconds since the epoch"
	case schema.TraceID, schema.SpanID:
		return " // of its length, or nil"
	case schema.Double:
		return " // bits"
	case schema.Number:
		return " // bits of a double or an integer"
	}
	return ""
}

func printMessage(p *printer, m schema.Message) {
	p.p("// %s is what a %s message holds.\ntype %s struct {", m.Name, m.Proto, m.Name)
	if hasForms(m) {
		p.p("Kind uint64 // of the metric's data: the number of its field")
	}
	for _, f := range m.Fields {
		if goType := wireTypeOf(f.Kind).goType; goType != "" && onWire(f) {
			p.p("%s %s%s", goName(m, f), goType, note(f))
		} else if f.Kind == schema.Group {
			p.p("%s %s", goName(m, f), f.Of.Name)
		}
	}
	if has(m, schema.Number) || sent(m) {
		p.p("Has uint8 // bits")
	}
	p.p("}\n")
	printSink(p, m)
	if hasForms(m) {
		printForms(p, m)
		return
	}
	p.p("// Parse decodes a message into a zero %s. It returns a fault if the message is\n// malformed%s.",
		m.Name, map[bool]string{true: ", or what sink returns"}[sink(m) != ""])
	p.p("func (m *%s) Parse(%s) (i int) {", m.Name, strings.TrimSuffix("b []byte, sink "+sink(m), ", sink "))
	printLoop(p, m, -1)
	p.p("}\n")
}

func onWire(f schema.Field) bool { return f.Wire > 0 || f.Forms != [schema.NumForms]int{} }

func sent(m schema.Message) bool {
	for _, f := range m.Fields {
		if f.Sent {
			return true
		}
	}
	return false
}

// sink is the type of what takes the parts of a message.
func sink(m schema.Message) string {
	switch {
	case has(m, schema.Structs):
		return m.Name + "Sink"
	case has(m, schema.Attributes):
		return "AttributeSink"
	}
	return ""
}

func printSink(p *printer, m schema.Message) {
	if !has(m, schema.Structs) {
		return
	}
	p.p("// %s is AttributeSink for all that a %s message has several of.\ntype %s interface {\nAttributeSink", sink(m), m.Proto, sink(m))
	for _, f := range m.Fields {
		if f.Kind == schema.Structs {
			p.p("%s(message []byte) int", f.Of.Name)
		}
	}
	p.p("}\n")
}

// printLoop prints the body of the function that decodes a message, in one of
// its forms unless that is negative.
func printLoop(p *printer, m schema.Message, in int) {
	var before, after, cases printer
	known := map[int]bool{}
	ids := ""
	for _, f := range m.Fields {
		number := f.Wire
		if in >= 0 {
			number = f.Forms[in]
		}
		if number == 0 {
			continue
		}
		known[number] = true
		name, w := "m."+goName(m, f), wireTypeOf(f.Kind)
		var tags []string
		for _, t := range w.tags {
			tags = append(tags, fmt.Sprintf("%d<<3|%d", number, t))
		}
		cases.p("case %s:", strings.Join(tags, ", "))
		switch f.Kind {
		case schema.Any, schema.Group:
			local := lower(goName(m, f))
			before.p("var %s []byte", local)
			cases.p("var part []byte\npart, i = Bytes(b, i)\n%[1]s = Merge(%[1]s, part)", local)
			if f.Kind == schema.Any {
				after.p("var at int\nif %s, at = ParseValue(%s); at < 0 {\nreturn at\n}", name, local)
			} else {
				after.p("if at := %s.Parse(%s); at < 0 {\nreturn at\n}", name, local)
			}
		case schema.Attributes:
			cases.p("var part []byte\nif part, i = Bytes(b, i); i < 0 {\nreturn i\n}\nif at := sink.Attribute(part); at < 0 {\nreturn at\n}")
		case schema.Structs:
			cases.p("var part []byte\nif part, i = Bytes(b, i); i < 0 {\nreturn i\n}\nif at := sink.%s(part); at < 0 {\nreturn at\n}", f.Of.Name)
		case schema.Number:
			cases.p("m.Has = HasDouble\n"+w.read, name)
			cases.p("case %d<<3|1:\nm.Has = HasInt", f.Integer)
			cases.p(w.read, name)
			known[f.Integer] = true
		case schema.TraceID, schema.SpanID:
			cases.p(w.read, name)
			ids += fmt.Sprintf(" || !checkID(&%s, %d)", name, map[schema.Kind]int{schema.TraceID: 16, schema.SpanID: 8}[f.Kind])
		default:
			if f.Sent {
				cases.p("m.Has |= Has%s", goName(m, f))
			}
			cases.p(w.read, name)
		}
	}
	for _, f := range m.Fields {
		if in >= 0 && f.Always[in] {
			before.p("m.Has = Has%s", goName(m, f))
		}
	}
	if strings.Contains(cases.String(), "n, i = ") {
		before.p("var n uint64")
	}
	for _, f := range m.Fields {
		if wireTypeOf(f.Kind).goType == "Varints" {
			before.p("*m = %s{%s: m.%s[:0]}", m.Name, goName(m, f), goName(m, f))
		}
	}
	mask := 0
	for n := range known {
		mask |= 1 << n
	}
	p.Write(before.Bytes())
	p.p("for i < len(b) {\ntag := uint64(b[i])\nif i++; tag >= 0x80 {\nif tag, i = Uvarint(b, i-1); i < 0 {\nreturn i\n}\n}\nswitch tag {")
	p.Write(cases.Bytes())
	p.p("default:\ni = Skip(b, i, tag, %#x)\n}\nif i < 0 {\nreturn i\n}\n}", mask)
	p.Write(after.Bytes())
	if ids != "" {
		p.p("if %s {\nreturn BadID\n}", strings.TrimPrefix(ids, " || "))
	}
	p.p("return i")
}
