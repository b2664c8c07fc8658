package jsonl

import (
	"math"
	"strconv"
	"time"
	"unicode/utf8"
)

// stamp writes times. It remembers the last second in each of its forms.
type stamp struct {
	textOf   int64
	text     []byte // of RFC 3339, everything before the fraction
	digitsOf int64
	digits   []byte // the second in decimal
}

// append appends a time as a JSON string in RFC 3339.
func (s *stamp) append(dst []byte, sec int64, nano uint32) []byte {
	if sec != s.textOf || len(s.text) == 0 {
		s.textOf, s.text = sec, time.Unix(sec, 0).UTC().AppendFormat(s.text[:0], `"2006-01-02T15:04:05.`)
	}
	dst = appendNine(append(dst, s.text...), nano)
	return append(dst, 'Z', '"')
}

// appendNanos appends Unix nanoseconds as an int64, which those after the year
// 2262 overflow.
func (s *stamp) appendNanos(dst []byte, nanos uint64) []byte {
	if nanos < 1e9 || nanos > math.MaxInt64 {
		return strconv.AppendInt(dst, int64(nanos), 10)
	}
	if sec := int64(nanos / 1e9); sec != s.digitsOf || len(s.digits) == 0 {
		s.digitsOf, s.digits = sec, strconv.AppendInt(s.digits[:0], sec, 10)
	}
	return appendNine(append(dst, s.digits...), uint32(nanos%1e9))
}

// appendNine appends n with nine digits.
func appendNine(dst []byte, n uint32) []byte {
	hi, lo := n/10000, n%10000
	a, b := hi/100, hi%100 // a has three digits
	return append(dst, byte('0'+a/100), pairs[a%100*2], pairs[a%100*2+1], pairs[b*2], pairs[b*2+1],
		pairs[lo/100*2], pairs[lo/100*2+1], pairs[lo%100*2], pairs[lo%100*2+1])
}

const pairs = "00010203040506070809101112131415161718192021222324252627282930313233343536373839" +
	"4041424344454647484950515253545556575859606162636465666768697071727374757677787980818283848586878889" +
	"90919293949596979899"

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
