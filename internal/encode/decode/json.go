package decode

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/s3window/s3window/internal/encode/otlp"
)

// parser reads JSON as the encoder writes it. It does what encoding/json does
// not: it keeps duplicate keys and their order, tells integers from doubles,
// and minds the spaces before a string that say what it stands for.
type parser struct {
	s string
	i int
}

// space steps over insignificant space and returns how much it was.
func (p *parser) space() int {
	from := p.i
	for p.i < len(p.s) && (p.s[p.i] == ' ' || p.s[p.i] == '\t' || p.s[p.i] == '\r' || p.s[p.i] == '\n') {
		p.i++
	}
	return p.i - from
}

func (p *parser) unexpected() error {
	if p.i >= len(p.s) {
		return malformed("JSON ends too early")
	}
	return malformed("unexpected %q at byte %d of JSON", short(p.s[p.i:]), p.i)
}

// take steps over c, if it is next behind space.
func (p *parser) take(c byte) bool {
	p.space()
	if p.i < len(p.s) && p.s[p.i] == c {
		p.i++
		return true
	}
	return false
}

func (p *parser) literal(word string) bool {
	if strings.HasPrefix(p.s[p.i:], word) {
		p.i += len(word)
		return true
	}
	return false
}

// value reads a value into v. kind, if it is not 0, says what a string or
// number stands for.
func (p *parser) value(v pcommon.Value, kind otlp.Kind, depth int) error {
	if depth > otlp.MaxDepth {
		return malformed("JSON is nested deeper than %d", otlp.MaxDepth)
	}
	spaces := p.space()
	if p.i >= len(p.s) {
		return p.unexpected()
	}
	switch c := p.s[p.i]; {
	case c == '"':
		return p.stringValue(v, kind, spaces)
	case c == '{':
		return p.object(v, depth)
	case c == '[':
		return p.array(v, depth)
	case p.literal("null"):
		return nil
	case p.literal("true"):
		v.SetBool(true)
		return nil
	case p.literal("false"):
		v.SetBool(false)
		return nil
	}
	text := p.number()
	if text == "" {
		return p.unexpected()
	}
	if kind != otlp.Double && !strings.ContainsAny(text, ".eE") {
		return setText(v, otlp.Int, text)
	}
	return setText(v, otlp.Double, text)
}

func (p *parser) stringValue(v pcommon.Value, kind otlp.Kind, spaces int) error {
	s, err := p.text()
	if err != nil {
		return err
	}
	if kind == 0 {
		kind = otlp.String
		switch spaces {
		case 1:
			kind = otlp.Binary
		case 2:
			kind = otlp.Double
		}
	}
	if kind == otlp.Double && s != "NaN" && s != "Infinity" && s != "-Infinity" || kind == otlp.Int || kind == otlp.Bool {
		return malformed("string %q stands for a value of type %c", short(s), kind)
	}
	if kind != otlp.Double && kind != otlp.Binary {
		kind = otlp.String
	}
	return setText(v, kind, s)
}

func (p *parser) object(v pcommon.Value, depth int) error {
	var kvs attributes
	err := p.members(func(key string) error {
		return p.value(kvs.AppendEmpty(key), 0, depth+1)
	})
	kvs.into(v.SetEmptyMap())
	return err
}

// members reads an object; member reads the value of each key.
func (p *parser) members(member func(key string) error) error {
	if !p.take('{') {
		return p.unexpected()
	}
	for first := true; ; first = false {
		if p.take('}') {
			return nil
		}
		if !first && !p.take(',') {
			return p.unexpected()
		}
		p.space()
		key, err := p.text()
		if err != nil {
			return err
		}
		if p.space(); p.i >= len(p.s) || p.s[p.i] != ':' {
			return p.unexpected()
		}
		p.i++
		if err := member(key); err != nil {
			return err
		}
	}
}

func (p *parser) array(v pcommon.Value, depth int) error {
	list := v.SetEmptySlice()
	return p.elements(func() error {
		return p.value(list.AppendEmpty(), 0, depth+1)
	})
}

// elements reads an array; element reads each of its elements.
func (p *parser) elements(element func() error) error {
	if !p.take('[') {
		return p.unexpected()
	}
	for first := true; ; first = false {
		// The space before an element means something: it is left to element.
		at := p.i
		if p.take(']') {
			return nil
		}
		if p.i = at; !first && !p.take(',') {
			return p.unexpected()
		}
		if err := element(); err != nil {
			return err
		}
	}
}

// number returns the text of a number, or nothing.
func (p *parser) number() string {
	from := p.i
	for p.i < len(p.s) && strings.IndexByte("+-.0123456789eE", p.s[p.i]) >= 0 {
		p.i++
	}
	return p.s[from:p.i]
}

// text reads a string.
func (p *parser) text() (string, error) {
	if p.i >= len(p.s) || p.s[p.i] != '"' {
		return "", p.unexpected()
	}
	p.i++
	from := p.i
	for p.i < len(p.s) {
		switch c := p.s[p.i]; {
		case c == '"':
			p.i++
			return p.s[from : p.i-1], nil
		case c == '\\':
			return p.escaped(append([]byte(nil), p.s[from:p.i]...))
		case c < 0x20:
			return "", p.unexpected()
		}
		p.i++
	}
	return "", p.unexpected()
}

// escaped reads the rest of a string from its first escape on.
func (p *parser) escaped(dst []byte) (string, error) {
	for p.i < len(p.s) {
		c := p.s[p.i]
		switch {
		case c == '"':
			p.i++
			return string(dst), nil
		case c < 0x20:
			return "", p.unexpected()
		case c != '\\':
			dst = append(dst, c)
			p.i++
			continue
		}
		if p.i++; p.i >= len(p.s) {
			break
		}
		const codes, means = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
		if n := strings.IndexByte(codes, p.s[p.i]); n >= 0 {
			dst = append(dst, means[n])
			p.i++
			continue
		}
		r, ok := p.unicode()
		if !ok {
			return "", p.unexpected()
		}
		if utf16.IsSurrogate(r) && strings.HasPrefix(p.s[p.i:], `\`) {
			at := p.i
			p.i++
			if low, ok := p.unicode(); ok && utf16.DecodeRune(r, low) != utf8.RuneError {
				dst = utf8.AppendRune(dst, utf16.DecodeRune(r, low))
				continue
			}
			p.i = at
		}
		dst = utf8.AppendRune(dst, r)
	}
	return "", p.unexpected()
}

// unicode reads uXXXX.
func (p *parser) unicode() (rune, bool) {
	if len(p.s)-p.i < 5 || p.s[p.i] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(p.s[p.i+1:p.i+5], 16, 32)
	p.i += 5
	return rune(n), err == nil
}
