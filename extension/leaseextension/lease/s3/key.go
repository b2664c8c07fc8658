package s3

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
)

const (
	suffix = ".json"

	// longest escaped name that is kept whole. With a cut name's hash and the
	// suffix it stays below the 255 bytes that stores on a file system allow
	// for one part of a path.
	longest = 190

	// keptOfCut is how much of a longer escaped name stays in front of its hash.
	keptOfCut = 120

	// nameMetadata carries the whole name of a register whose key is cut.
	nameMetadata = "lease-name"

	// hashMetadata carries the SHA-256 of the value, in hexadecimal digits.
	hashMetadata = "lease-sha256"
)

func hashOf(value []byte) string {
	sum := sha256.Sum256(value)
	return hex.EncodeToString(sum[:])
}

// objectNameOf returns the last part of a register's object key: the name with
// every byte outside A-Z a-z 0-9 . _ - percent-encoded, and a suffix, so that no
// name climbs out of the prefix or is a folder of another's. Long names are cut
// and completed by a hash, which ~ marks.
func objectNameOf(key string) (name string, cut bool) {
	escaped := escape(key)
	if len(escaped) <= longest {
		return escaped + suffix, false
	}
	sum := sha256.Sum256([]byte(key))
	hash := base32.HexEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:])
	return escaped[:keptOfCut] + "~" + strings.ToLower(hash) + suffix, true
}

// listPrefix returns what the object names of all registers whose name starts
// with prefix start with. Others may, too.
func listPrefix(prefix string) string {
	escaped := escape(prefix)
	return escaped[:min(len(escaped), keptOfCut)]
}

func escape(s string) string {
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '.', c == '_', c == '-':
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// unescape is the inverse of escape; false for what escape never returns.
func unescape(s string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			b.WriteByte(s[i])
			continue
		}
		if i+2 >= len(s) {
			return "", false
		}
		var c byte
		if _, err := fmt.Sscanf(s[i+1:i+3], "%02X", &c); err != nil {
			return "", false
		}
		b.WriteByte(c)
		i += 2
	}
	name := b.String()
	return name, escape(name) == s
}

// keyOf returns the register's name from its object's: false if the object is
// none of this package's.
func keyOf(objectName string, metadata map[string]string) (string, bool) {
	escaped, ok := strings.CutSuffix(objectName, suffix)
	if !ok {
		return "", false
	}
	if !strings.Contains(escaped, "~") {
		return unescape(escaped)
	}
	name, err := base64.RawURLEncoding.DecodeString(metadata[nameMetadata])
	if err != nil {
		return "", false
	}
	again, cut := objectNameOf(string(name))
	return string(name), cut && again == objectName
}
