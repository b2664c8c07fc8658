package main

import (
	"strings"

	"github.com/s3window/s3window/internal/encode/schema"
)

// printForms prints the functions of a message that stands for several. It
// keeps the memory of its lists of numbers.
func printForms(p *printer, m schema.Message) {
	kept := keptLists(m)
	p.p("// reset empties m, and keeps the memory of its lists.\nfunc (m *%s) reset() {\n*m = %s{", m.Name, m.Name)
	for _, k := range kept {
		if k.group == "" {
			p.p("%s: m.%s[:0],", k.name, k.name)
		} else {
			p.p("%s: %s{%s: m.%s.%s[:0]},", k.name, k.group, k.inner, k.name, k.inner)
		}
	}
	p.p("}\n}\n")
	p.p("// lists are the parts of messages that m keeps.\nfunc (m *%s) lists() [%d][][]byte {\nreturn [...][][]byte{", m.Name, len(kept))
	for _, k := range kept {
		p.p("m.%s,", strings.TrimSuffix(k.name+"."+k.inner, "."))
	}
	p.p("}\n}\n")
	p.p("// Parse decodes a message of a kind of metric, in place of what was decoded\n// before. It returns a fault if the message is malformed, or what sink returns.")
	p.p("func (m *%s) Parse(kind uint64, b []byte, sink %s) int {\nm.reset()\nm.Kind = kind\nswitch kind {", m.Name, sink(m))
	for i, f := range forms() {
		if i < schema.NumForms-1 {
			p.p("case %s:", f.cases(""))
		} else {
			p.p("}")
		}
		p.p("return m.parse%s(b, sink)", f.name)
	}
	p.p("}\n")
	for i, f := range forms() {
		p.p("func (m *%s) parse%s(b []byte, sink %s) (i int) {", m.Name, f.name, sink(m))
		printLoop(p, m, i)
		p.p("}\n")
	}
}

// keptList is a list of numbers of a message, or of a group in it.
type keptList struct{ name, group, inner string }

func keptLists(m schema.Message) (out []keptList) {
	for _, f := range m.Fields {
		switch f.Kind {
		case schema.Uint64s, schema.Doubles, schema.Varints:
			out = append(out, keptList{name: goName(m, f)})
		case schema.Group:
			for _, g := range keptLists(*f.Of) {
				out = append(out, keptList{goName(m, f), f.Of.Name, g.name})
			}
		}
	}
	return out
}
