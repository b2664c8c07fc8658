package partition

import (
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// hostile are names that clients send by mistake or on purpose.
func hostile() []string {
	return []string{
		"", ".", "..", "...", "../x", "../../tenant=b", "a/b", "/", "//", "/etc/passwd", `a\b`, "a=b", "tenant=b", "%", "%2e", "%2E", "%252E", "%2F",
		"a b", " ", "\x00", "a\x00b", "\n", "\r\n", "\x7f", "\xff", "a\xffb", "\xc3", "é", "日本", "😀", "\u202e", "A", "a",
		"_s3window", NoValue, "-", "w-1-2-x.parquet", "*", "?", "#", "+", ":", "~", "$(id)", "'; --", "CON", "sink=x/tenant=y",
		strings.Repeat("x", 180), strings.Repeat("x", 181), strings.Repeat("x", 300), strings.Repeat("x", 299) + "y",
		strings.Repeat("😀", 15), strings.Repeat("😀", 16), strings.Repeat("/", 60), strings.Repeat("/", 61),
	}
}
