package s3

import (
	"encoding/base64"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestObjectNames(t *testing.T) {
	for key, want := range map[string]string{
		"a":      "a.json",
		"a/b":    "a%2Fb.json",
		"a%2Fb":  "a%252Fb.json",
		"..":     "...json",
		"../x":   "..%2Fx.json",
		"a~b":    "a%7Eb.json",
		"ü":      "%C3%BC.json",
		"A-Z_.0": "A-Z_.0.json",
	} {
		got, cut := objectNameOf(key)
		require.Equal(t, want, got)
		require.False(t, cut)
	}
	long := strings.Repeat("tenant/", 40)
	name, cut := objectNameOf(long)
	require.True(t, cut)
	require.Equal(t, escape(long)[:keptOfCut]+"~rpmdq200pdcama8if6c615ch08imd214chb0l6l86df5g9o3t05g.json", name, "golden: the names of objects that exist must not change")
}

func TestForeignObjectsAreNotRegisters(t *testing.T) {
	for _, name := range []string{"", "a", "a.txt", "%2f.json", "%zz.json", "%2.json", "a b.json", "a~b.json", strings.Repeat("x", 120) + "~abc.json"} {
		_, ok := keyOf(name, map[string]string{nameMetadata: base64.RawURLEncoding.EncodeToString([]byte("other"))})
		require.Falsef(t, ok, "%q", name)
	}
}

func FuzzObjectNames(f *testing.F) {
	f.Add("a/b", "a")
	f.Add("../é", strings.Repeat("x", 300))
	f.Fuzz(func(t *testing.T, a, b string) {
		if a == "" || b == "" || len(a) > 1024 || len(b) > 1024 || !utf8.ValidString(a) || !utf8.ValidString(b) {
			t.Skip()
		}
		nameA, cut := objectNameOf(a)
		nameB, _ := objectNameOf(b)
		if (a == b) != (nameA == nameB) {
			t.Fatalf("%q and %q: %q and %q", a, b, nameA, nameB)
		}
		if len(nameA) > 255 || strings.Contains(nameA, "/") {
			t.Fatalf("%q is no good name of a file", nameA)
		}
		metadata := map[string]string{}
		if cut {
			metadata[nameMetadata] = base64.RawURLEncoding.EncodeToString([]byte(a))
		}
		if key, ok := keyOf(nameA, metadata); !ok || key != a {
			t.Fatalf("%q comes back as %q", a, key)
		}
		if prefix := a[:len(a)/2]; !strings.HasPrefix(nameA, listPrefix(prefix)) {
			t.Fatalf("%q is not found under %q", a, prefix)
		}
	})
}
