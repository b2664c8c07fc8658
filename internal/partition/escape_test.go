package partition

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestEscape(t *testing.T) {
	for in, want := range map[string]string{
		"acme":                        "acme",
		"A-Z.a_z-09":                  "A-Z.a_z-09",
		"":                            "%",
		".":                           "%2E",
		"..":                          "%2E%2E",
		"...":                         "...",
		"a..b":                        "a..b",
		"../x":                        "..%2Fx",
		"a/b":                         "a%2Fb",
		"%2e":                         "%252e",
		"%":                           "%25",
		"a b":                         "a%20b",
		"a=b":                         "a%3Db",
		"é":                           "%C3%A9",
		"😀":                           "%F0%9F%98%80",
		"\x00":                        "%00",
		"\xff":                        "%FF",
		"tenant=b":                    "tenant%3Db",
		"__HIVE_DEFAULT_PARTITION__":  "%5F_HIVE_DEFAULT_PARTITION__",
		"__HIVE_DEFAULT_PARTITION__2": "__HIVE_DEFAULT_PARTITION__2",
		"https://x?y=1&":              "https%3A%2F%2Fx%3Fy%3D1%26",
	} {
		assert.Equal(t, want, Escape(in), "%q", in)
	}
}

func TestUnescapeRefusesWhatEscapeDoesNotGive(t *testing.T) {
	for in, want := range map[string]string{
		"":        "not in canonical form",
		".":       "not in canonical form",
		"..":      "not in canonical form",
		"a/b":     "not in canonical form",
		"%61":     "not in canonical form",
		"%2E.":    "not in canonical form",
		"%2E%2Ex": "not in canonical form",
		"é":       "not in canonical form",
		NoValue:   "not in canonical form",
		"%2f":     `"%2f" is not an escape`,
		"%zz":     `"%zz" is not an escape`,
		"a%":      "the last escape is cut short",
		"a%2":     "the last escape is cut short",
	} {
		_, err := Unescape(in)
		assert.ErrorContains(t, err, want, "%q", in)
	}
}

func TestEscapeIsInjective(t *testing.T) {
	seen := map[string]string{}
	for _, in := range hostile() {
		esc := Escape(in)
		assert.NotContains(t, seen, esc, "%q", in)
		seen[esc] = in
	}
	rapid.Check(t, func(t *rapid.T) {
		// Few letters, so that near-collisions are common.
		s := rapid.StringOf(rapid.RuneFrom([]rune(`%2EF.e/`)))
		a, b := s.Draw(t, "a"), s.Draw(t, "b")
		if (Escape(a) == Escape(b)) != (a == b) {
			t.Fatalf("escape %q and %q: %q", a, b, Escape(a))
		}
	})
}

func FuzzEscape(f *testing.F) {
	for _, s := range hostile() {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		esc := Escape(s)
		requireSegment(t, esc)
		back, err := Unescape(esc)
		require.NoError(t, err)
		require.Equal(t, s, back)
	})
}

func FuzzUnescape(f *testing.F) {
	for _, s := range hostile() {
		f.Add(s)
		f.Add(Escape(s))
	}
	f.Fuzz(func(t *testing.T, esc string) {
		s, err := Unescape(esc)
		if err != nil {
			return
		}
		require.Equal(t, esc, Escape(s), "accepted, but not what Escape gives")
	})
}

// requireSegment says that s is one path segment on every store: not empty,
// not relative, no separator, nothing that needs quoting in a URL but '%'.
func requireSegment(t require.TestingT, s string) {
	require.NotEmpty(t, s)
	require.NotContains(t, []string{".", ".."}, s)
	require.Empty(t, strings.Trim(s, "%ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"))
}
