package laketest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/s3window/s3window/internal/lake"
)

// TestBucket runs the acceptance suite of lake.Bucket. open returns an empty
// bucket for one test; whatever it needs ends with that test.
func TestBucket(t *testing.T, open func(t *testing.T) lake.Bucket) {
	for name, test := range map[string]func(*testing.T, lake.Bucket){
		"absent":                testAbsent,
		"put and read back":     testPut,
		"put refuses":           testPutExists,
		"put race":              testPutRace,
		"replace":               testReplace,
		"replace race":          testReplaceRace,
		"delete and put again":  testDelete,
		"keys":                  testKeys,
		"empty body":            testEmptyBody,
		"large body":            testLargeBody,
		"large put race":        testLargeRace,
		"list order":            testListOrder,
		"dirs":                  testDirs,
		"list many":             testListMany,
		"list ends with visit":  testListEnds,
		"canceled":              testCanceled,
		"metadata and no other": testMetadata,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

func body(content string) lake.Body { return lake.NewBody("text/plain", []byte(content)) }

// read returns the object's content and checks that Open and Stat agree.
func read(t *testing.T, b lake.Bucket, key string) (string, lake.Info) {
	t.Helper()
	r, info, err := b.Open(t.Context(), key)
	if err != nil {
		t.Fatalf("open %q: %v", key, err)
	}
	defer r.Close()
	content, err := io.ReadAll(r)
	if err != nil {
		t.Fatalf("read %q: %v", key, err)
	}
	stat, err := b.Stat(t.Context(), key)
	if err != nil {
		t.Fatalf("stat %q: %v", key, err)
	}
	for _, i := range []lake.Info{info, stat} {
		if i.Key != key || i.Size != int64(len(content)) || i.ETag == "" || i.ETag != stat.ETag || i.ModTime.IsZero() {
			t.Fatalf("info of %q with %d bytes: %+v", key, len(content), i)
		}
	}
	return string(content), info
}

func put(t *testing.T, b lake.Bucket, key, content string) {
	t.Helper()
	if err := b.PutIfAbsent(t.Context(), key, body(content)); err != nil {
		t.Fatalf("put %q: %v", key, err)
	}
}

func testAbsent(t *testing.T, b lake.Bucket) {
	for _, key := range []string{"none", "no/ne"} {
		if _, _, err := b.Open(t.Context(), key); !errors.Is(err, lake.ErrNotExist) {
			t.Errorf("open: %v", err)
		}
		if _, err := b.Stat(t.Context(), key); !errors.Is(err, lake.ErrNotExist) {
			t.Errorf("stat: %v", err)
		}
		if err := b.Delete(t.Context(), key); err != nil {
			t.Errorf("delete: %v", err)
		}
		if err := b.Replace(t.Context(), key, body("x"), `"none"`); !errors.Is(err, lake.ErrChanged) {
			t.Errorf("replace: %v", err)
		}
	}
	if keys := list(t, b, "", ""); len(keys) != 0 {
		t.Errorf("list: %q", keys)
	}
}

func testPut(t *testing.T, b lake.Bucket) {
	in := lake.NewBody("text/plain", []byte("one "), nil, []byte("two "), []byte("three"))
	if err := b.PutIfAbsent(t.Context(), "a/b", in); err != nil {
		t.Fatal(err)
	}
	if got, _ := read(t, b, "a/b"); got != "one two three" {
		t.Fatalf("content %q", got)
	}
}

func testPutExists(t *testing.T, b lake.Bucket) {
	put(t, b, "a", "first")
	_, before := read(t, b, "a")
	for _, content := range []string{"second", "first"} {
		if err := b.PutIfAbsent(t.Context(), "a", body(content)); !errors.Is(err, lake.ErrExists) {
			t.Fatalf("second put: %v", err)
		}
	}
	if got, after := read(t, b, "a"); got != "first" || after.ETag != before.ETag {
		t.Fatalf("content %q, %+v became %+v", got, before, after)
	}
}

func testReplace(t *testing.T, b lake.Bucket) {
	put(t, b, "a", "first")
	_, first := read(t, b, "a")
	if err := b.Replace(t.Context(), "a", body("second"), `"0"`); !errors.Is(err, lake.ErrChanged) {
		t.Fatalf("replace of a version that never was: %v", err)
	}
	if err := b.Replace(t.Context(), "a", body("second"), first.ETag); err != nil {
		t.Fatal(err)
	}
	got, second := read(t, b, "a")
	if got != "second" || second.ETag == first.ETag {
		t.Fatalf("content %q, %+v", got, second)
	}
	if err := b.Replace(t.Context(), "a", body("third"), first.ETag); !errors.Is(err, lake.ErrChanged) {
		t.Fatalf("replace of an old version: %v", err)
	}
	if got, _ := read(t, b, "a"); got != "second" {
		t.Fatalf("content %q", got)
	}
}

func testDelete(t *testing.T, b lake.Bucket) {
	put(t, b, "a/x", "first")
	put(t, b, "a/y", "other")
	for range 2 {
		if err := b.Delete(t.Context(), "a/x"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.Stat(t.Context(), "a/x"); !errors.Is(err, lake.ErrNotExist) {
		t.Fatalf("stat: %v", err)
	}
	put(t, b, "a/x", "second")
	if got, _ := read(t, b, "a/x"); got != "second" {
		t.Fatalf("content %q", got)
	}
	if got, _ := read(t, b, "a/y"); got != "other" {
		t.Fatalf("content %q", got)
	}
}

func testKeys(t *testing.T, b lake.Bucket) {
	keys := []string{
		"p/tenant=acme/signal=logs/dt=2026-11-30/hour=08/w-1.parquet",
		"p/a b", "p/a+b", "p/a%2Fb", "p/a%2fb", "p/%", "p/%2E%2E/x", "p/ü", "p/日本/語", "p/\U0001F600", "p/a'b\"c", "p/a&b<c>", "p/a,b;c:d@e",
		"p/" + strings.Repeat("k", 200), "p/.hidden", "p/tilde~", "p/(x)!*",
	}
	for i, key := range keys {
		put(t, b, key, fmt.Sprint("content ", i))
	}
	for i, key := range keys {
		if got, _ := read(t, b, key); got != fmt.Sprint("content ", i) {
			t.Errorf("%q holds %q", key, got)
		}
	}
	slices.Sort(keys)
	if got := list(t, b, "p/", ""); !slices.Equal(got, keys) {
		t.Errorf("list %q", got)
	}
	for _, key := range keys {
		if got := list(t, b, key, ""); len(got) == 0 || got[0] != key {
			t.Errorf("list of prefix %q: %q", key, got)
		}
	}
}

func testEmptyBody(t *testing.T, b lake.Bucket) {
	for i, in := range []lake.Body{lake.NewBody(""), lake.NewBody("text/plain", nil), lake.NewBody("text/plain", []byte{})} {
		key := fmt.Sprint("empty", i)
		if err := b.PutIfAbsent(t.Context(), key, in); err != nil {
			t.Fatal(err)
		}
		if got, info := read(t, b, key); got != "" || info.Size != 0 {
			t.Fatalf("content %q, %+v", got, info)
		}
		if err := b.PutIfAbsent(t.Context(), key, in); !errors.Is(err, lake.ErrExists) {
			t.Fatalf("second put: %v", err)
		}
	}
}

// large makes a body of 13 MiB in segments of uneven size, so that whatever an
// upload cuts it into, the cuts lie within segments.
func large(seed byte) lake.Body {
	content := make([]byte, 13<<20+17)
	for i := range content {
		content[i] = byte(i>>16) ^ byte(i) ^ seed
	}
	var segments [][]byte
	for n := 1; len(content) > 0; n = n*7 + 3 {
		cut := min(n%1_700_000, len(content))
		segments = append(segments, content[:cut], nil)
		content = content[cut:]
	}
	return lake.NewBody("application/octet-stream", segments...)
}

func testLargeBody(t *testing.T, b lake.Bucket) {
	in := large(1)
	if err := b.PutIfAbsent(t.Context(), "large", in); err != nil {
		t.Fatal(err)
	}
	got, info := read(t, b, "large")
	if !bytes.Equal([]byte(got), in.Bytes()) {
		t.Fatalf("%d bytes differ from %d", len(got), in.Size)
	}
	next := large(2)
	if err := b.PutIfAbsent(t.Context(), "large", next); !errors.Is(err, lake.ErrExists) {
		t.Fatalf("second put: %v", err)
	}
	if err := b.Replace(t.Context(), "large", next, `"0"`); !errors.Is(err, lake.ErrChanged) {
		t.Fatalf("replace of a version that never was: %v", err)
	}
	if err := b.Replace(t.Context(), "large", next, info.ETag); err != nil {
		t.Fatal(err)
	}
	if got, _ := read(t, b, "large"); got != string(next.Bytes()) {
		t.Fatal("the replaced content differs")
	}
}

func testMetadata(t *testing.T, b lake.Bucket) {
	in := body("x")
	in.Metadata = map[string]string{"s3window-records": "3", "s3window-encoder": "s3window/0.1.0 parquet-go/0.32.0 (a; b=c)"}
	if err := b.PutIfAbsent(t.Context(), "a", in); err != nil {
		t.Fatal(err)
	}
	_, info := read(t, b, "a")
	if !equal(info.Metadata, in.Metadata) {
		t.Fatalf("metadata %q", info.Metadata)
	}
	in.Metadata = map[string]string{"s3window-records": "4"}
	if err := b.Replace(t.Context(), "a", in, info.ETag); err != nil {
		t.Fatal(err)
	}
	if _, info := read(t, b, "a"); !equal(info.Metadata, in.Metadata) {
		t.Fatalf("metadata after replace %q", info.Metadata)
	}
}

func equal(a, b map[string]string) bool { return fmt.Sprint(a) == fmt.Sprint(b) }

func testCanceled(t *testing.T, b lake.Bucket) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.PutIfAbsent(ctx, "a", body("x")); !errors.Is(err, context.Canceled) {
		t.Errorf("put: %v", err)
	}
	if _, _, err := b.Open(ctx, "a"); !errors.Is(err, context.Canceled) {
		t.Errorf("open: %v", err)
	}
	if err := b.List(ctx, "", "", func(lake.Info) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("list: %v", err)
	}
}

// putAll puts the keys, many at once.
func putAll(t *testing.T, b lake.Bucket, keys []string) {
	t.Helper()
	var next atomic.Int64
	var running sync.WaitGroup
	for range racers {
		running.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(keys) {
					return
				}
				if err := b.PutIfAbsent(t.Context(), keys[i], body(keys[i])); err != nil {
					t.Errorf("put %q: %v", keys[i], err)
				}
			}
		})
	}
	running.Wait()
}
