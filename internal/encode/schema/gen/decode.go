package main

import (
	"strings"

	"github.com/s3window/s3window/internal/encode/schema"
)

// decodeKind is what package decode calls a field of a kind.
func decodeKind(k schema.Kind) string {
	switch k {
	case schema.Double:
		return "asDouble"
	case schema.Any:
		return "asValue"
	case schema.Attributes:
		return "asObject"
	case schema.Uint64s, schema.Varints:
		return "asNumbers"
	case schema.Doubles:
		return "asDoubles"
	case schema.Structs:
		return "asStructs"
	case schema.Label, schema.Enum, schema.TraceID, schema.SpanID, schema.Form:
		return "asText"
	}
	return "asNumber"
}

// decoded is a field as package decode reads it.
type decoded struct {
	constant, name, kind string
	of                   *schema.Message
}

// decodedFields are the fields of a message that say something: by constants
// that begin with prefix.
func decodedFields(m schema.Message, prefix string) (out []decoded) {
	for _, f := range flat(m) {
		switch f.Kind {
		case schema.TS, schema.Received, schema.Duration, schema.Service, schema.Tenant:
		case schema.MetricFields:
			out = append(out, decodedFields(schema.Metric(), "metric")...)
		case schema.Number:
			out = append(out,
				decoded{prefix + camel(f.Name, true), f.Name, "asDouble", nil},
				decoded{prefix + camel(f.Name, true) + "Int", f.Name + "_int", "asNumber", nil})
		default:
			out = append(out, decoded{prefix + camel(strings.TrimPrefix(f.Name, m.Prefix), true), f.Name, decodeKind(f.Kind), f.Of})
		}
	}
	return out
}

// printFields prints the numbers of fields, and the tables of them.
func printFields(p *printer) {
	p.header("decode")
	around := append(decodedFields(schema.Scope(), "scope"), decodedFields(schema.Resource(), "resource")...)
	p.p("// The fields of what records of every signal have around them.")
	printConstants(p, around, "iota", "ownFields")
	printTable(p, "aroundFields", "every record has around it", around)
	for _, m := range rows() {
		fields := decodedFields(m, lower(m.Name))
		p.p("// The fields of %s.", m.What)
		printConstants(p, fields, "ownFields + iota", "")
		printTable(p, lower(m.Name)+"Fields", m.What+" have", fields)
	}
	for _, m := range elements() {
		fields := decodedFields(m, lower(m.Name))
		p.p("// The fields of %s.", m.What)
		printConstants(p, fields, "iota", "")
		printTable(p, lower(m.Name)+"Fields", m.What+" have", fields)
	}
}

func printConstants(p *printer, fields []decoded, first, last string) {
	p.p("const (")
	for i, f := range fields {
		if i == 0 {
			p.p("%s = %s", f.constant, first)
		} else {
			p.p("%s", f.constant)
		}
	}
	p.p("%s\n)\n", last)
}

func printTable(p *printer, name, what string, fields []decoded) {
	p.p("// %s are the fields that %s, by their numbers.\nfunc %s() []field {\nreturn []field{", name, what, name)
	for _, f := range fields {
		if f.of != nil {
			p.p("{%q, %s, %sFields()},", f.name, f.kind, lower(f.of.Name))
		} else {
			p.p("{name: %q, kind: %s},", f.name, f.kind)
		}
	}
	p.p("}\n}\n")
}
