package otlp

// AppendJSON appends the value as JSON, whatever its kind, in the form that
// Text gives arrays and objects. The second result is a fault if the value is
// malformed or nested deeper than MaxDepth.
func (v Value) AppendJSON(dst []byte) ([]byte, int) {
	switch v.Kind {
	case String:
		return appendQuoted(dst, v.Raw), 0
	case Array, Object, Binary, Double:
		return v.json(dst, 0)
	case Null:
		return append(dst, "null"...), 0
	}
	return v.AppendText(dst)
}

// AppendDouble appends a double as JSON, in the form that AppendJSON gives a
// value of that kind.
func AppendDouble(dst []byte, f float64) []byte { return appendJSONDouble(dst, f) }

// AppendQuoted appends s as a JSON string. What is not valid UTF-8 in it stays.
func AppendQuoted(dst, s []byte) []byte { return appendQuoted(dst, s) }
