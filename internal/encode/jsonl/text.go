package jsonl

import (
	"time"
	"unicode/utf8"
)

// stamp writes times as RFC 3339. It remembers the last second.
type stamp struct {
	sec  int64
	text []byte // everything before the fraction
}

// append appends a time as a JSON string.
func (s *stamp) append(dst []byte, sec int64, nano uint32) []byte {
	if sec != s.sec || len(s.text) == 0 {
		s.sec = sec
		s.text = time.Unix(sec, 0).UTC().AppendFormat(s.text[:0], `"2006-01-02T15:04:05.`)
	}
	dst = append(dst, s.text...)
	var digits [9]byte
	for i := 8; i >= 0; i-- {
		digits[i] = byte('0' + nano%10)
		nano /= 10
	}
	dst = append(dst, digits[:]...)
	return append(dst, 'Z', '"')
}

func floorDiv(a, b int64) (q, rest int64) {
	q, rest = a/b, a%b
	if rest < 0 {
		q, rest = q-1, rest+b
	}
	return q, rest
}

// appendMended appends JSON with each run of bytes that are not valid UTF-8
// replaced by U+FFFD, and returns in how many of its strings there was one.
func appendMended(dst, json []byte) ([]byte, int) {
	strings, bad, counted := 0, false, false
	for i := 0; i < len(json); {
		c := json[i]
		if c < utf8.RuneSelf {
			n := 1
			switch c {
			case '\\': // with what it escapes, which is ASCII
				n = min(2, len(json)-i)
			case '"':
				counted = false
			}
			dst, bad, i = append(dst, json[i:i+n]...), false, i+n
			continue
		}
		r, n := utf8.DecodeRune(json[i:])
		if r != utf8.RuneError || n != 1 {
			dst, bad = append(dst, json[i:i+n]...), false
		} else if !bad {
			dst, bad = append(dst, "\uFFFD"...), true
			if !counted {
				strings, counted = strings+1, true
			}
		}
		i += n
	}
	return dst, strings
}

const hexDigits = "0123456789abcdef"

func appendHex(dst, b []byte) []byte {
	for _, c := range b {
		dst = append(dst, hexDigits[c>>4], hexDigits[c&15])
	}
	return dst
}
