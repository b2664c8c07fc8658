package partition

import (
	"fmt"
	"strings"
)

const upperHex = "0123456789ABCDEF"

// Escape percent-encodes every byte of s outside A-Z a-z 0-9 . _ - . The
// values "." and ".." are encoded whole, and the empty string becomes "%", so
// that every result is a safe and non-empty path segment. Of NoValue the first
// byte is encoded: readers take it for NULL as it stands. Distinct values have
// distinct results.
func Escape(s string) string {
	switch s {
	case "":
		return "%"
	case ".":
		return "%2E"
	case "..":
		return "%2E%2E"
	case NoValue:
		return "%5F" + NoValue[1:]
	}
	n := 0
	for i := range len(s) {
		if !plain(s[i]) {
			n++
		}
	}
	if n == 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 2*n)
	for i := range len(s) {
		c := s[i]
		if plain(c) {
			b.WriteByte(c)
			continue
		}
		b.WriteByte('%')
		b.WriteByte(upperHex[c>>4])
		b.WriteByte(upperHex[c&15])
	}
	return b.String()
}

func plain(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-'
}

// Unescape reverses Escape. It refuses text that Escape does not produce, so
// that a key has one reading only.
func Unescape(s string) (string, error) {
	if s == "%" {
		return "", nil
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			b.WriteByte(s[i])
			continue
		}
		if i+2 >= len(s) {
			return "", fmt.Errorf("unescape %q: the last escape is cut short", s)
		}
		hi, lo := strings.IndexByte(upperHex, s[i+1]), strings.IndexByte(upperHex, s[i+2])
		if hi < 0 || lo < 0 {
			return "", fmt.Errorf("unescape %q: %q is not an escape", s, s[i:i+3])
		}
		b.WriteByte(byte(hi<<4 | lo))
		i += 2
	}
	out := b.String()
	if Escape(out) != s {
		return "", fmt.Errorf("unescape %q: not in canonical form", s)
	}
	return out, nil
}
