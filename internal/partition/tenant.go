package partition

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode/utf8"
)

// MaxEscaped bounds the escaped form of a tenant and of a level's value, bytes,
// so that keys stay within what object stores and file systems take for one
// path segment.
const MaxEscaped = 180

// Tenant gives the canonical name of the tenant that value names. Nearly every
// value is its own name. One that is not valid UTF-8, or whose escaped form is
// longer than 180 bytes, becomes its beginning followed by "-" and the first
// 16 hex digits of the value's SHA-256, so that distinct values stay distinct.
func Tenant(value string) string {
	if utf8.ValidString(value) && len(Escape(value)) <= MaxEscaped {
		return value
	}
	sum := sha256.Sum256([]byte(value))
	tail := "-" + hex.EncodeToString(sum[:8])
	var b strings.Builder
	room := MaxEscaped - len(tail)
	for _, r := range strings.ToValidUTF8(value, "\uFFFD") {
		esc := len(Escape(string(r)))
		if esc > room {
			break
		}
		room -= esc
		b.WriteRune(r)
	}
	return b.String() + tail
}
