package nats

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

var validKey = regexp.MustCompile(`^[-/_=.a-zA-Z0-9]+$`)

func TestKeys(t *testing.T) {
	for name, want := range map[string]string{
		"a/b-c_1": "a/b-c_1", "a.b": "a=2Eb", "*": "=2A", ">": "=3E", "=": "=3D", "a b": "a=20b", "ü": "=C3=BC", "..": "=2E=2E",
	} {
		require.Equal(t, want, escape(name), "golden: the keys of leases that exist must not change")
	}
}

func TestForeignKeysAreNotRegisters(t *testing.T) {
	for _, key := range []string{"", "a.b", "=2e", "=zz", "=2", "=", "=41", "a b"} {
		_, ok := unescape(key)
		require.Falsef(t, ok, "%q", key)
	}
}

func FuzzKeys(f *testing.F) {
	f.Add("a/b", "a")
	f.Add("../é", "=2E")
	f.Fuzz(func(t *testing.T, a, b string) {
		if a == "" {
			t.Skip()
		}
		if (a == b) != (escape(a) == escape(b)) {
			t.Fatalf("%q and %q: %q and %q", a, b, escape(a), escape(b))
		}
		if !validKey.MatchString(escape(a)) {
			t.Fatalf("%q is no KV key", escape(a))
		}
		if name, ok := unescape(escape(a)); !ok || name != a {
			t.Fatalf("%q comes back as %q", a, name)
		}
	})
}
