package partition

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestTenant(t *testing.T) {
	for in, want := range map[string]string{
		"acme":                   "acme",
		"":                       "",
		"../x":                   "../x",
		"😀":                      "😀",
		strings.Repeat("x", 180): strings.Repeat("x", 180),
		strings.Repeat("x", 181): strings.Repeat("x", 163) + "-dc31ed5afb940294",
		strings.Repeat("/", 60):  strings.Repeat("/", 60),
		strings.Repeat("/", 61):  strings.Repeat("/", 54) + "-cc2ce4bdefb3c0c4",
		"a\xffb":                 "a\uFFFDb-01ce0241d2a0e71a",
		"\xff":                   "\uFFFD-a8100ae6aa1940d0",
	} {
		assert.Equal(t, want, Tenant(in), "%q", in)
	}
}

func TestTenantsStayDistinct(t *testing.T) {
	seen := map[string]string{}
	for _, in := range append(hostile(), "a\xfeb", strings.Repeat("x", 400)) {
		name := Tenant(in)
		assert.NotContains(t, seen, name, "%q and %q share a name", in, seen[name])
		seen[name] = in
		requireTenant(t, name)
	}
}

func TestTenantIsCanonical(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		requireTenant(t, Tenant(string(rapid.SliceOfN(rapid.Byte(), 0, 400).Draw(t, "value"))))
		requireTenant(t, Tenant(rapid.StringN(0, 300, -1).Draw(t, "text")))
	})
}

func requireTenant(t require.TestingT, name string) {
	require.True(t, utf8.ValidString(name))
	require.LessOrEqual(t, len(Escape(name)), MaxEscaped)
	require.Equal(t, name, Tenant(name), "a canonical name is its own")
}
