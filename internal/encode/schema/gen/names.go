package main

import (
	"slices"
	"strings"

	"github.com/s3window/s3window/internal/encode/schema"
)

// goName is the name of a field's decoded value.
func goName(m schema.Message, f schema.Field) string {
	return camel(shortName(m, f), true)
}

// varName is the name of the field of a struct that has a field's columns.
func varName(m schema.Message, f schema.Field) string {
	return camel(shortName(m, f), false)
}

func shortName(m schema.Message, f schema.Field) string {
	if f.Kind == schema.Form {
		return "form"
	}
	name := strings.TrimPrefix(f.Name, m.Prefix)
	name = strings.TrimSuffix(name, "_unix_nano")
	if strings.HasPrefix(name, "dropped_") {
		name = strings.TrimSuffix(name, "_count")
	}
	return name
}

// camel makes snake_case CamelCase, or camelCase.
func camel(name string, upper bool) string {
	var b strings.Builder
	for i, word := range strings.Split(name, "_") {
		switch {
		case i == 0 && !upper:
			b.WriteString(word)
		case word == "id" || word == "url":
			b.WriteString(strings.ToUpper(word))
		default:
			b.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
	}
	return b.String()
}

// lower makes the first letter of a type's name small.
func lower(name string) string { return strings.ToLower(name[:1]) + name[1:] }

// rows are the messages that are rows, in the order of the signals.
func rows() (out []schema.Message) {
	for _, s := range schema.Signals() {
		out = append(out, s.Row)
	}
	return out
}

// elements are the messages of lists in rows.
func elements() (out []schema.Message) {
	for _, m := range rows() {
		for _, f := range m.Fields {
			if f.Kind == schema.Structs {
				out = append(out, *f.Of)
			}
		}
	}
	return out
}

// groups are the messages whose fields are columns of the row that has them,
// each once.
func groups() (out []schema.Message) {
	for _, m := range rows() {
		for _, f := range m.Fields {
			if f.Kind == schema.Group && !slices.ContainsFunc(out, func(x schema.Message) bool { return x.Name == f.Of.Name }) {
				out = append(out, *f.Of)
			}
		}
	}
	return out
}

func has(m schema.Message, kinds ...schema.Kind) bool {
	return slices.ContainsFunc(m.Fields, func(f schema.Field) bool { return slices.Contains(kinds, f.Kind) })
}

// hasForms says whether a message stands for several.
func hasForms(m schema.Message) bool {
	return slices.ContainsFunc(m.Fields, func(f schema.Field) bool { return f.Forms != [schema.NumForms]int{} })
}

// form is one of the messages that a data point can be.
type form struct {
	name  string
	kinds string // of the metrics that have it
}

func forms() [schema.NumForms]form {
	return [schema.NumForms]form{
		schema.NumberPoint:      {"Number", "%sGauge, %sSum"},
		schema.HistogramPoint:   {"Histogram", "%sHistogram"},
		schema.ExponentialPoint: {"Exponential", "%sExponentialHistogram"},
		schema.SummaryPoint:     {"Summary", "%sSummary"},
	}
}

// cases are the kinds of a form, of package pkg, as a case has them.
func (f form) cases(pkg string) string { return strings.ReplaceAll(f.kinds, "%s", pkg) }

// inAll says whether a field is in all forms of its message.
func inAll(f schema.Field) bool { return !slices.Contains(f.Forms[:], 0) }
