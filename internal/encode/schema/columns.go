package schema

// Column is a column of an object, or a field of a struct in one.
type Column struct {
	Name    string
	Type    Type
	Null    bool
	Of      []Column // the element of a list, the fields of a struct
	Indexed bool     // it has statistics
	Bloom   bool     // it has a bloom filter
	Derived bool     // it says nothing that other columns do not say
	Run     bool     // it is constant over the rows of a resource, scope or metric
	Doc     string
}

// Columns returns the columns before the promoted ones, in order.
func (s Signal) Columns() (out []Column) {
	for _, f := range s.Row.Fields {
		if f.Kind != MetricFields {
			out = append(out, f.columns(f.Kind == Service)...)
			continue
		}
		for _, m := range s.Around {
			if m.Name == "Metric" {
				out = append(out, m.columns(true)...)
			}
		}
	}
	for _, m := range s.Around {
		if m.Name != "Metric" {
			out = append(out, m.columns(true)...)
		}
	}
	return out
}

// Names returns the names of Columns.
func (s Signal) Names() (out []string) {
	for _, c := range s.Columns() {
		out = append(out, c.Name)
	}
	return out
}

// Columns returns the columns of what rows share.
func (m Message) Columns() []Column { return m.columns(true) }

func (m Message) columns(run bool) (out []Column) {
	for _, f := range m.Fields {
		out = append(out, f.columns(run)...)
	}
	return out
}

func (f Field) columns(run bool) []Column {
	c := Column{Name: f.Name, Type: f.Kind.columnType(), Null: f.Null, Run: run, Doc: f.Doc}
	c.Bloom = f.Indexed && f.Kind == TraceID
	c.Indexed = f.Indexed && !c.Bloom
	switch f.Kind {
	case TS, Received, Duration, Service, Tenant:
		c.Derived = true
	case Group:
		return f.Of.columns(run)
	case Any:
		return []Column{c, {Name: f.Name + "_type", Type: TypeString, Run: run, Doc: "the letter of what it was"}}
	case Attributes:
		return []Column{c, {Name: f.Name + "_types", Type: TypeString, Run: run, Doc: "a letter for each of them"}}
	case Number:
		integer := c
		integer.Name, integer.Type, integer.Doc = f.Name+"_int", TypeInt64, "the integer, where `"+f.Name+"` was one"
		return []Column{c, integer}
	case Uint64s, Varints:
		c.Of = []Column{{Type: TypeInt64}}
	case Doubles:
		c.Of = []Column{{Type: TypeDouble}}
	case Structs:
		c.Of = []Column{{Type: TypeStruct, Of: f.Of.columns(false)}}
	}
	return []Column{c}
}
