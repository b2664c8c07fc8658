package otlp

import "encoding/binary"

const hexDigits = "0123456789abcdef"

// appendQuoted appends s as a JSON string. Only quotes, backslashes and
// control characters are escaped.
func appendQuoted(dst, s []byte) []byte {
	dst = append(dst, '"')
	if n := plainPrefix(s); n < len(s) {
		return appendEscaped(append(dst, s[:n]...), s[n:])
	}
	dst = append(dst, s...)
	return append(dst, '"')
}

// plainPrefix returns how many bytes of s need no escape, eight at a time.
func plainPrefix(s []byte) int {
	const lo, hi = 0x0101010101010101, 0x8080808080808080
	i := 0
	for len(s)-i >= 8 {
		x := binary.LittleEndian.Uint64(s[i:])
		// A byte below 0x20, a quote or a backslash sets its top bit; so may a
		// byte above 0x7f, which the loop below then takes as plain.
		m := (x - lo*0x20) | ((x ^ lo*'"') - lo) | ((x ^ lo*'\\') - lo)
		if m&hi != 0 {
			break
		}
		i += 8
	}
	for i < len(s) && s[i] >= 0x20 && s[i] != '"' && s[i] != '\\' {
		i++
	}
	return i
}

func appendEscaped(dst, s []byte) []byte {
	for _, c := range s {
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c >= 0x20:
			dst = append(dst, c)
		case c == '\n':
			dst = append(dst, '\\', 'n')
		case c == '\r':
			dst = append(dst, '\\', 'r')
		case c == '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	return append(dst, '"')
}
