package wal

import "strconv"

// Keys in the storage. Everything but entries and the mark sorts below the
// entries, and the mark above them: an append touches the last leaves of a
// B+tree and nothing else.
const (
	asidePrefix  = "a" // + 16 hex: what was set aside
	sealPrefix   = "f" // + 16 hex: a seal
	writerPrefix = "i" // + 16 hex: a writer and its info
	entryPrefix  = "l" // + 16 hex: an entry; + one of a b c d: its spacers
	markKey      = "~"
)

const (
	numberedLen = 1 + 16
	spacers     = "abcd"
	hexDigits   = "0123456789abcdef"
)

// numbered gives prefix + the 16 lower-case hex digits of n.
func numbered(prefix string, n uint64) string {
	var b [numberedLen]byte
	putNumbered(b[:], prefix, n)
	return string(b[:])
}

func putNumbered(dst []byte, prefix string, n uint64) {
	dst[0] = prefix[0]
	for i := numberedLen - 1; i > 0; i-- {
		dst[i] = hexDigits[n&15]
		n >>= 4
	}
}

// spacerKey gives the key of an entry's i-th spacer.
func spacerKey(seq uint64, i int) string {
	var b [numberedLen + 1]byte
	putNumbered(b[:], entryPrefix, seq)
	b[numberedLen] = spacers[i]
	return string(b[:])
}

// parseNumbered reads the number of a key, with or without a spacer's letter.
// It accepts only what numbered and spacerKey write.
func parseNumbered(key string) (n uint64, spacer, ok bool) {
	switch {
	case len(key) == numberedLen:
	case len(key) == numberedLen+1 && key[0] == entryPrefix[0] && key[numberedLen] >= 'a' && key[numberedLen] <= 'd':
		spacer = true
	default:
		return 0, false, false
	}
	n, err := strconv.ParseUint(key[1:numberedLen], 16, 64)
	if err != nil || numbered(key[:1], n) != key[:numberedLen] {
		return 0, false, false
	}
	return n, spacer, true
}
