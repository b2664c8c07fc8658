package decode

import (
	"encoding/base64"
	"encoding/hex"
	"strconv"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/xpdata"

	"github.com/s3window/s3window/internal/encode/otlp"
)

// setText sets a value from its text and kind, as Parquet has them.
func setText(v pcommon.Value, kind otlp.Kind, text string) error {
	switch kind {
	case otlp.String:
		v.SetStr(text)
		return nil
	case otlp.Int:
		n, err := strconv.ParseInt(text, 10, 64)
		v.SetInt(n)
		return number(err, text)
	case otlp.Double:
		f, err := strconv.ParseFloat(text, 64)
		v.SetDouble(f)
		return number(err, text)
	case otlp.Bool:
		if text != "true" && text != "false" {
			return malformed("%q is no boolean", short(text))
		}
		v.SetBool(text == "true")
		return nil
	case otlp.Binary:
		return setBytes(v, text)
	case otlp.Null:
		if text != "" {
			return malformed("an absent value has the text %q", short(text))
		}
		return nil
	case otlp.Array, otlp.Object:
		return setJSON(v, kind, text)
	}
	return malformed("%q is no letter of a type", kind)
}

func setBytes(v pcommon.Value, text string) error {
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return malformed("%q is no base64", short(text))
	}
	v.SetEmptyBytes().FromRaw(b)
	return nil
}

// setJSON sets a value from a whole JSON text.
func setJSON(v pcommon.Value, kind otlp.Kind, text string) error {
	p := parser{s: text}
	if err := p.value(v, 0, 0); err != nil {
		return err
	}
	if p.space(); p.i != len(text) {
		return malformed("%q goes on behind its JSON", short(text))
	}
	if kindOf(v) != kind {
		return malformed("%q is not of type %c", short(text), kind)
	}
	return nil
}

func kindOf(v pcommon.Value) otlp.Kind {
	switch v.Type() {
	case pcommon.ValueTypeStr:
		return otlp.String
	case pcommon.ValueTypeInt:
		return otlp.Int
	case pcommon.ValueTypeDouble:
		return otlp.Double
	case pcommon.ValueTypeBool:
		return otlp.Bool
	case pcommon.ValueTypeBytes:
		return otlp.Binary
	case pcommon.ValueTypeSlice:
		return otlp.Array
	case pcommon.ValueTypeMap:
		return otlp.Object
	}
	return otlp.Null
}

func number(err error, text string) error {
	if err != nil {
		return malformed("%q is no number of its type", short(text))
	}
	return nil
}

// setID sets id, which is all of an id's bytes, from its hexadecimal form.
func setID(id []byte, text string) error {
	if text == "" {
		return nil
	}
	if len(text) != hex.EncodedLen(len(id)) {
		return malformed("id %q has %d digits, not %d", short(text), len(text), hex.EncodedLen(len(id)))
	}
	if _, err := hex.Decode(id, []byte(text)); err != nil {
		return malformed("id %q is not hexadecimal", short(text))
	}
	return nil
}

// short keeps payload out of errors but for what tells where to look.
func short(s string) string {
	if len(s) > 24 {
		return s[:24] + "…"
	}
	return s
}

// attributes collects key-value pairs; unlike pcommon.Map it keeps duplicates.
type attributes struct{ xpdata.MapBuilder }

func (a *attributes) into(m pcommon.Map) { a.UnsafeIntoMap(m) }
