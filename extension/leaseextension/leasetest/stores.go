package leasetest

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/extension/leaseextension/lease"
)

func storeCases() []testCase {
	return []testCase{
		{"store/wrong revisions change nothing", storeConflicts},
		{"store/one winner of a race", storeRace},
		{"store/no update is lost", storeCounter},
		{"store/revisions do not come back", storeRevisions},
		{"store/names", storeNames},
		{"store/sizes", storeSizes},
		{"store/list", storeList},
		{"store/ended context", storeEndedContext},
	}
}

func storeConflicts(s *suite) {
	store, ctx := s.Open(s.T), s.Context()
	_, err := store.Get(ctx, "a")
	require.ErrorIs(s, err, lease.ErrNotFound)
	require.ErrorIs(s, store.Delete(ctx, "a", "1"), lease.ErrNotFound)

	first, err := store.Put(ctx, "a", []byte("one"), "")
	require.NoError(s, err)
	_, err = store.Put(ctx, "missing", []byte("x"), first)
	require.ErrorIs(s, err, lease.ErrConflict, "replace of nothing")
	_, err = store.Put(ctx, "a", []byte("x"), "")
	require.ErrorIs(s, err, lease.ErrConflict, "create over something")

	second, err := store.Put(ctx, "a", []byte("two"), first)
	require.NoError(s, err)
	require.NotEqual(s, first, second)
	_, err = store.Put(ctx, "a", []byte("x"), first)
	require.ErrorIs(s, err, lease.ErrConflict, "replace of an old version")
	require.ErrorIs(s, store.Delete(ctx, "a", first), lease.ErrConflict)

	rec, err := s.Open(s.T).Get(ctx, "a")
	require.NoError(s, err)
	require.Equal(s, lease.Record{Key: "a", Value: []byte("two"), Revision: second}, rec)

	require.NoError(s, store.Delete(ctx, "a", second))
	_, err = store.Get(ctx, "a")
	require.ErrorIs(s, err, lease.ErrNotFound)
	require.ErrorIs(s, store.Delete(ctx, "a", second), lease.ErrNotFound)
}

// storeRace lets many processes write at once: one wins, and its value stays.
func storeRace(s *suite) {
	const racers = 16
	stores := make([]lease.Store, racers)
	for i := range stores {
		stores[i] = s.Open(s.T)
	}
	base := ""
	for round := range s.scaled(50, 8) {
		var wins atomic.Int32
		var winner atomic.Pointer[lease.Record]
		var all sync.WaitGroup
		for i, store := range stores {
			all.Go(func() {
				value := fmt.Appendf(nil, "round %d racer %d", round, i)
				revision, err := store.Put(s.Context(), "race", value, base)
				switch {
				case err == nil:
					wins.Add(1)
					winner.Store(&lease.Record{Key: "race", Value: value, Revision: revision})
				case !errors.Is(err, lease.ErrConflict):
					s.Errorf("put: %v", err)
				}
			})
		}
		all.Wait()
		require.EqualValues(s, 1, wins.Load(), "winners of round %d", round)
		require.Equal(s, *winner.Load(), s.record("race"))
		base = winner.Load().Revision
	}
}

// storeCounter counts with compare-and-set from many processes.
func storeCounter(s *suite) {
	const writers, each = 8, 10
	var all sync.WaitGroup
	for i := range writers {
		store := s.Open(s.T)
		all.Go(func() {
			for n := 0; n < each; {
				done, err := increment(s.Context(), store, byte(i))
				if err != nil {
					s.Errorf("increment: %v", err)
					return
				}
				if done {
					n++
				}
			}
		})
	}
	all.Wait()
	require.EqualValues(s, writers*each, binary.BigEndian.Uint64(s.record("counter").Value))
}

// increment adds one to the register "counter"; false if another was faster.
func increment(ctx context.Context, store lease.Store, writer byte) (bool, error) {
	rec, err := store.Get(ctx, "counter")
	var n uint64
	switch {
	case err == nil:
		n = binary.BigEndian.Uint64(rec.Value)
	case !errors.Is(err, lease.ErrNotFound):
		return false, err
	}
	_, err = store.Put(ctx, "counter", append(binary.BigEndian.AppendUint64(nil, n+1), writer), rec.Revision)
	if errors.Is(err, lease.ErrConflict) {
		return false, nil
	}
	return err == nil, err
}

func storeRevisions(s *suite) {
	store, ctx := s.Open(s.T), s.Context()
	seen := map[string]bool{}
	for i := range 5 {
		created, err := store.Put(ctx, "a", fmt.Appendf(nil, "created %d", i), "")
		require.NoError(s, err)
		replaced, err := store.Put(ctx, "a", fmt.Appendf(nil, "replaced %d", i), created)
		require.NoError(s, err)
		require.False(s, seen[created] || seen[replaced] || created == replaced)
		for old := range seen {
			_, err = store.Put(ctx, "a", []byte("late"), old)
			require.ErrorIs(s, err, lease.ErrConflict)
		}
		seen[created], seen[replaced] = true, true
		require.NoError(s, store.Delete(ctx, "a", replaced))
	}
}

// oddNames are names that backends are tempted to trip over.
func oddNames() []string {
	return []string{
		"a", "a/b", "a/b/c", "a.json", "a.json/b", "A", "/a", "a/", "a//b", ".", "..", "../a", "./a", "~", "a~b",
		" ", "a b", "a+b", "a%2Fb", "a%", "%", "a=b", "a?b#c&d", `a\b`, `a"b`, "a'b", "a\x00b", "a\nb", "*", "a*", ">", "a.>", ":", "{a}", "$KV.a",
		"ü", "u\u0308", "日本語/テナント", "😀/😀", "bucket/prefix/sink/tenant=acme/logs",
		strings.Repeat("long/", 60), strings.Repeat("é", 300), strings.Repeat("x", 1023) + "1", strings.Repeat("x", 1023) + "2",
	}
}

func storeNames(s *suite) {
	store, ctx := s.Open(s.T), s.Context()
	names := oddNames()
	for _, name := range names {
		_, err := store.Put(ctx, name, []byte("value of "+name), "")
		require.NoErrorf(s, err, "create %q", name)
	}
	for _, name := range names {
		rec, err := store.Get(ctx, name)
		require.NoErrorf(s, err, "read %q", name)
		require.Equal(s, name, rec.Key)
		require.Equal(s, "value of "+name, string(rec.Value))
	}
	listed, err := store.List(ctx, "")
	require.NoError(s, err)
	slices.Sort(names)
	require.Equal(s, names, keys(listed))
	for _, rec := range listed {
		require.NoErrorf(s, store.Delete(ctx, rec.Key, rec.Revision), "delete %q", rec.Key)
	}
	listed, err = store.List(ctx, "")
	require.NoError(s, err)
	require.Empty(s, listed)
}

func storeSizes(s *suite) {
	store, ctx := s.Open(s.T), s.Context()
	for _, size := range []int{1, 2, 1023, 4096, 65535, 65536, 128 << 10} {
		name := fmt.Sprint(size)
		value := bytes.Repeat([]byte{0, 255, '\n', 'x', byte(size)}, size/5+1)[:size]
		revision, err := store.Put(ctx, name, value, "")
		require.NoError(s, err)
		rec, err := store.Get(ctx, name)
		require.NoError(s, err)
		require.Truef(s, bytes.Equal(value, rec.Value), "%d bytes came back as %d others", size, len(rec.Value))
		require.Equal(s, revision, rec.Revision)
	}
}

func storeList(s *suite) {
	store, ctx := s.Open(s.T), s.Context()
	for _, name := range []string{"b/2", "a/1", "b/1", "b", "c/1", "b%2F3", "bb"} {
		_, err := store.Put(ctx, name, []byte("v"+name), "")
		require.NoError(s, err)
	}
	for prefix, want := range map[string][]string{
		"":     {"a/1", "b", "b%2F3", "b/1", "b/2", "bb", "c/1"},
		"b":    {"b", "b%2F3", "b/1", "b/2", "bb"},
		"b/":   {"b/1", "b/2"},
		"b/1":  {"b/1"},
		"none": nil,
	} {
		listed, err := store.List(ctx, prefix)
		require.NoError(s, err)
		require.Equalf(s, want, keys(listed), "prefix %q", prefix)
		for _, rec := range listed {
			require.Equal(s, "v"+rec.Key, string(rec.Value))
			require.Equal(s, s.record(rec.Key).Revision, rec.Revision)
		}
	}
}

func storeEndedContext(s *suite) {
	store := s.Open(s.T)
	ctx, cancel := context.WithCancel(s.Context())
	cancel()
	_, err := store.Put(ctx, "a", []byte("x"), "")
	require.Error(s, err)
	require.NotErrorIs(s, err, lease.ErrConflict)
	_, err = store.Get(ctx, "a")
	require.Error(s, err)
	require.NotErrorIs(s, err, lease.ErrNotFound)
	_, err = store.List(ctx, "")
	require.Error(s, err)
}

func keys(records []lease.Record) []string {
	var names []string
	for _, rec := range records {
		names = append(names, rec.Key)
	}
	return names
}
