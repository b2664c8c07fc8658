package nats

import (
	"encoding/hex"
	"strings"
)

// escape turns a register's name into a KV key: each byte outside A-Z a-z 0-9
// _ - / becomes = and two hexadecimal digits. The longest key, of 3072 bytes,
// is within the 4096 that a server reads as one command.
func escape(name string) string {
	var b strings.Builder
	for i := range len(name) {
		switch c := name[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_', c == '-', c == '/':
			b.WriteByte(c)
		default:
			b.WriteByte('=')
			b.WriteString(strings.ToUpper(hex.EncodeToString([]byte{c})))
		}
	}
	return b.String()
}

// unescape is the inverse of escape; false for what escape never returns.
func unescape(key string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(key); i++ {
		if key[i] != '=' {
			b.WriteByte(key[i])
			continue
		}
		if i+2 >= len(key) {
			return "", false
		}
		c, err := hex.DecodeString(key[i+1 : i+3])
		if err != nil {
			return "", false
		}
		b.Write(c)
		i += 2
	}
	name := b.String()
	return name, name != "" && escape(name) == key
}
