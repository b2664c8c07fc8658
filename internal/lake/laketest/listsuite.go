package laketest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/s3window/s3window/internal/lake"
)

// list returns the keys that List visits.
func list(t *testing.T, b lake.Bucket, prefix, after string) []string {
	t.Helper()
	keys := []string{}
	err := b.List(t.Context(), prefix, after, func(i lake.Info) error {
		if i.Metadata != nil || i.ETag == "" || i.ModTime.IsZero() {
			t.Errorf("listed %+v", i)
		}
		keys = append(keys, i.Key)
		return nil
	})
	if err != nil {
		t.Fatalf("list %q after %q: %v", prefix, after, err)
	}
	return keys
}

// wanted is what List must visit.
func wanted(all []string, prefix, after string) []string {
	keys := []string{}
	for _, k := range all {
		if strings.HasPrefix(k, prefix) && k > after {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	return keys
}

// testListOrder uses names whose order as keys differs from the order of a
// walk through directories: '-' and '.' sort before '/', '0' behind it.
func testListOrder(t *testing.T, b lake.Bucket) {
	all := []string{
		"a/b/1", "a/b-c/1", "a/b.d", "a/b0", "a/b=e/f/g", "a/B", "a-", "a0", "b", "a/c/w-2", "a/c/w-10", "a/c/w-1", "a/ü", "a/z",
	}
	putAll(t, b, all)
	prefixes := []string{"", "a", "a/", "a/b", "a/b/", "a/b=e/f/", "a/c/w-1", "none/", "zzz"}
	afters := append([]string{"", "a/", "a/b", "a/b/", "a/bz", "a/c/w-1", "a/c/w-1zz", "b", "zzz"}, all...)
	for _, prefix := range prefixes {
		for _, after := range afters {
			if got, want := list(t, b, prefix, after), wanted(all, prefix, after); !slices.Equal(got, want) {
				t.Errorf("list %q after %q:\n got %q\nwant %q", prefix, after, got, want)
			}
		}
	}
	if t.Failed() {
		return
	}
	err := b.List(t.Context(), "a/c/", "", func(i lake.Info) error {
		if i.Size != int64(len(i.Key)) {
			return fmt.Errorf("%q has size %d", i.Key, i.Size)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// testListMany needs more than one page of a thousand keys.
func testListMany(t *testing.T, b lake.Bucket) {
	var all []string
	for i := range 1203 {
		all = append(all, fmt.Sprintf("p/%04d", i))
	}
	putAll(t, b, all)
	for _, after := range []string{"", "p/0000", "p/0999", "p/1000", "p/1201", "p/1202"} {
		if got, want := list(t, b, "p/", after), wanted(all, "p/", after); !slices.Equal(got, want) {
			t.Errorf("list after %q: %d keys, want %d", after, len(got), len(want))
		}
	}
}

func testListEnds(t *testing.T, b lake.Bucket) {
	putAll(t, b, []string{"a", "b", "c"})
	stop := errors.New("stop")
	visited := 0
	err := b.List(t.Context(), "", "", func(lake.Info) error {
		if visited++; visited == 2 {
			return stop
		}
		return nil
	})
	if !errors.Is(err, stop) || visited != 2 {
		t.Fatalf("visited %d: %v", visited, err)
	}
}

// testDirs asks what lies directly below prefixes, also of more than one page.
func testDirs(t *testing.T, b lake.Bucket) {
	all := []string{"a/b/1", "a/b-c/1", "a/b-c/2", "a/b.d", "a/b0/x/y", "a/B/1", "a-/1", "b", "c/1"}
	many := []string{}
	for i := range 1203 {
		many = append(many, fmt.Sprintf("p/%04d/", i))
		all = append(all, many[i]+"x")
	}
	putAll(t, b, all)
	stop := errors.New("stop")
	for prefix, want := range map[string][]string{
		"": {"a-/", "a/", "c/", "p/"}, "a/": {"a/B/", "a/b-c/", "a/b/", "a/b0/"}, "a/b0/": {"a/b0/x/"}, "p/": many, "none/": nil, "c/": nil,
	} {
		var got []string
		if err := b.Dirs(t.Context(), prefix, func(dir string) error { got = append(got, dir); return nil }); err != nil {
			t.Fatalf("dirs of %q: %v", prefix, err)
		}
		if !slices.Equal(got, want) {
			t.Errorf("dirs of %q:\n got %q\nwant %q", prefix, got, want)
		}
		if err := b.Dirs(t.Context(), prefix, func(string) error { return stop }); errors.Is(err, stop) != (len(want) > 0) {
			t.Errorf("dirs of %q, ended: %v", prefix, err)
		}
	}
}
