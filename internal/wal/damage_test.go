package wal

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// filled is a storage with ten entries, one a group, and two seals.
func filled(t *testing.T) *fake {
	s := newFake()
	w := open(t, Options{Client: s, WriterInfo: []byte("info")})
	for _, p := range names(0, 10) {
		add(t, w, rec("t", p))
	}
	for _, v := range []string{"s1", "s2"} {
		_, err := w.PutSeal(t.Context(), []byte(v))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close(t.Context()))
	return s
}

func edit(key string, change func([]byte) []byte) func(map[string][]byte) {
	return func(m map[string][]byte) { m[key] = change(append([]byte{}, m[key]...)) }
}

func flip(i int) func([]byte) []byte {
	return func(b []byte) []byte {
		b[(i+len(b))%len(b)] ^= 0x40
		return b
	}
}

func cut(n int) func([]byte) []byte { return func(b []byte) []byte { return b[:n] } }

// TestDamage: a way to break what is stored, and exactly what must survive.
func TestDamage(t *testing.T) {
	const key, mid = "l0000000000000004", 3 // holds "3"
	all := names(0, 10)
	without := append(names(0, mid), names(mid+1, 10)...)
	for name, c := range map[string]struct {
		damage  func(map[string][]byte)
		survive []string
		kind    string
		reason  string
		tenant  string // what is known of the lost entry
		aside   int
		seals   int
	}{
		"nothing":             {func(map[string][]byte) {}, all, "", "", "", 0, 2},
		"payload bit":         {edit(key, flip(-1)), without, "entry", "payload does not match", "t", 1, 2},
		"payload cut":         {edit(key, func(b []byte) []byte { return b[:len(b)-1] }), without, "entry", "payload has 0 bytes instead of 1", "t", 1, 2},
		"payload longer":      {edit(key, func(b []byte) []byte { return append(b, 0) }), without, "entry", "payload has 2 bytes instead of 1", "t", 1, 2},
		"magic":               {edit(key, flip(0)), without, "entry", "not a frame", "", 1, 2},
		"version":             {edit(key, flip(4)), without, "entry", "unknown frame version", "", 1, 2},
		"flags":               {edit(key, flip(5)), without, "entry", "header does not match", "", 1, 2},
		"header length":       {edit(key, flip(7)), without, "entry", "header is cut short", "", 1, 2},
		"header CRC":          {edit(key, flip(8)), without, "entry", "header does not match", "", 1, 2},
		"payload CRC":         {edit(key, flip(12)), without, "entry", "header does not match", "", 1, 2},
		"sequence":            {edit(key, flip(24)), without, "entry", "header does not match", "", 1, 2},
		"stamp":               {edit(key, flip(32)), without, "entry", "header does not match", "", 1, 2},
		"writer":              {edit(key, flip(60)), without, "entry", "header does not match", "", 1, 2},
		"tenant":              {edit(key, flip(80)), without, "entry", "header does not match", "", 1, 2},
		"cut in the header":   {edit(key, cut(40)), without, "entry", "not a frame", "", 1, 2},
		"emptied":             {edit(key, cut(0)), without, "entry", "not a frame", "", 1, 2},
		"another's frame":     {func(m map[string][]byte) { m[key] = m["l0000000000000005"] }, without, "entry", "is the one of entry 5", "", 1, 2},
		"first entry":         {edit("l0000000000000001", flip(-1)), names(1, 10), "entry", "payload", "t", 1, 2},
		"last entry":          {edit("l000000000000000a", flip(-1)), names(0, 9), "entry", "payload", "t", 1, 2},
		"value gone":          {func(m map[string][]byte) { delete(m, key) }, without, "", "", "", 0, 2},
		"seal bit":            {edit("f0000000000000001", flip(-1)), all, "seal", "damaged", "", 0, 1},
		"writer record":       {edit("i0000000000000001", flip(-1)), all, "writer", "damaged", "", 0, 2},
		"writer record gone":  {func(m map[string][]byte) { delete(m, "i0000000000000001") }, all, "", "", "", 0, 2},
		"mark bit":            {edit(markKey, flip(20)), all, "mark", "rebuilt", "", 0, 2},
		"mark cut":            {edit(markKey, cut(30)), all, "mark", "rebuilt", "", 0, 2},
		"mark gone":           {func(m map[string][]byte) { delete(m, markKey) }, all, "mark", "rebuilt", "", 0, 2},
		"mark of another":     {edit(markKey, func([]byte) []byte { return []byte("hello") }), all, "mark", "rebuilt", "", 0, 2},
		"mark stale":          {staleMark(2), all, "", "", "", 0, 2},
		"mark ahead":          {staleMark(500), all, "", "", "", 0, 2},
		"stock keys in there": {func(m map[string][]byte) { m["17"], m["qmv0"], m["zz"] = []byte("x"), []byte("y"), nil }, all, "", "", "", 0, 2},
	} {
		t.Run(name, func(t *testing.T) {
			s := filled(t)
			c.damage(s.values)
			var found []Damage
			opts := Options{Client: s, OnDamage: func(d Damage) { found = append(found, d) }}
			w := open(t, opts)
			require.Equal(t, c.survive, payloads(drain(t, w)))
			require.Len(t, w.Seals(), c.seals)
			if c.kind == "" {
				require.Empty(t, found)
			} else {
				require.Len(t, found, 1)
				require.Equal(t, c.kind, found[0].Kind)
				require.Contains(t, found[0].Reason, c.reason)
				require.Equal(t, c.tenant, found[0].Tenant)
			}
			require.EqualValues(t, len(found), w.Stats().Damaged)
			add(t, w, rec("t", "more")) // also lets what is set aside get there
			aside, err := w.Aside(t.Context())
			require.NoError(t, err)
			require.Len(t, aside, c.aside)
			require.Equal(t, []string{"more"}, payloads(drain(t, w)))
			require.NoError(t, w.Close(t.Context()))

			found = nil
			w = open(t, opts)
			require.Equal(t, append(c.survive, "more"), payloads(drain(t, w)), "again")
			require.Equal(t, c.aside, w.Stats().AsideKept)
			if c.kind == "entry" || c.kind == "mark" {
				require.Empty(t, found, "reported once")
			}
		})
	}
}

// staleMark rewrites the mark with another next sequence number and nothing else new.
func staleMark(next uint64) func(map[string][]byte) {
	return edit(markKey, func(b []byte) []byte {
		m, err := decodeMark(b)
		if err != nil {
			panic(err)
		}
		m.seqs.next = next
		m.stamp = 5
		return m.encode()
	})
}

func TestAStaleMarkNeverMakesSequencesOrStampsRepeat(t *testing.T) {
	s := filled(t)
	staleMark(2)(s.values)
	w := open(t, Options{Client: s})
	old := drain(t, w)
	add(t, w, rec("t", "new"))
	e := drain(t, w)[0]
	require.Greater(t, e.Seq, old[9].Seq)
	require.Greater(t, e.Stamp, old[9].Stamp)
	require.Greater(t, e.Segment, old[9].Segment)
}

func TestDamageThatStopsAnOpen(t *testing.T) {
	for name, c := range map[string]struct {
		damage func(map[string][]byte)
		noWalk bool
		err    string
	}{
		"mark of a later version":             {edit(markKey, func(b []byte) []byte { b[4] = 2; return b }), false, "unknown format version 2"},
		"seal of a later version":             {edit("f0000000000000001", func(b []byte) []byte { b[4] = 2; return b }), false, "unknown format version 2"},
		"writer of a later version":           {edit("i0000000000000001", func(b []byte) []byte { b[4] = 9; return b }), false, "unknown format version 9"},
		"entries of a later version, no mark": {func(m map[string][]byte) { delete(m, markKey); m["l0000000000000001"][4] = 2 }, false, "unknown format version"},
		"damaged mark without a walker":       {edit(markKey, flip(30)), true, "cannot be searched without it"},
	} {
		t.Run(name, func(t *testing.T) {
			s := filled(t)
			s.noWalk = c.noWalk
			c.damage(s.values)
			before := s.clone()
			_, err := Open(t.Context(), Options{Client: s.client(t)})
			require.ErrorContains(t, err, c.err)
			require.Equal(t, before.values, s.values, "nothing was written")
		})
	}
}

func TestAnUnorderedWalkFallsBackToTheMark(t *testing.T) {
	s := filled(t)
	s.shuffle = true
	w := open(t, Options{Client: s})
	require.Equal(t, names(0, 10), payloads(drain(t, w)))
	require.Len(t, w.Seals(), 2)
}

func TestDamageThatComesWhileOpen(t *testing.T) {
	s := filled(t)
	var found []Damage
	w := open(t, Options{Client: s, OnDamage: func(d Damage) { found = append(found, d) }})
	edit("l0000000000000003", flip(-1))(s.values)
	delete(s.values, "l0000000000000005")
	all := drain(t, w)
	require.Equal(t, []string{"0", "1", "3", "5", "6", "7", "8", "9"}, payloads(all))
	require.Len(t, found, 2)
	require.Equal(t, "value is missing", found[1].Reason)
	require.Equal(t, all[0].Writer, found[1].Writer)
	edit("l0000000000000008", flip(-1))(s.values)
	again, err := w.Reread(t.Context(), seqsOf(all))
	require.NoError(t, err)
	require.Equal(t, []string{"0", "1", "3", "5", "6", "8", "9"}, payloads(again))
	require.Len(t, found, 3)
	add(t, w, rec("t", "x"))
	require.EqualValues(t, 8, w.Stats().Entries)
}

func TestSetAside(t *testing.T) {
	stores(t, func(t *testing.T, s store) {
		w := open(t, Options{Client: s.client(t), Limit: 10000})
		add(t, w, rec("t", "good"), rec("t", "poison"))
		all := drain(t, w)
		require.NoError(t, w.SetAside(t.Context(), all[1].Seq, "does not decode"))
		aside, err := w.Aside(t.Context())
		require.NoError(t, err)
		require.Len(t, aside, 1)
		require.Equal(t, "does not decode", aside[0].Reason)
		e, damage := w.inspect(all[1].Seq, aside[0].Raw, nil)
		require.Nil(t, damage)
		require.Equal(t, all[1], e)
		require.NoError(t, w.Trim(t.Context(), seqsOf(all)))
		require.Zero(t, w.Stats().Used)
		require.NoError(t, w.Close(t.Context()))
		w = open(t, Options{Client: s.client(t)})
		require.Zero(t, w.Stats().Entries)
		require.Equal(t, 1, w.Stats().AsideKept)
	})
}

func TestSetAsideIsBounded(t *testing.T) {
	s := newFake()
	w := open(t, Options{Client: s})
	big := strings.Repeat("x", asideBytes/4)
	for range 6 {
		add(t, w, rec("t", big))
	}
	for range 100 {
		add(t, w, rec("t", "small"))
	}
	all := drain(t, w)
	for i, e := range all {
		require.NoError(t, w.SetAside(context.Background(), e.Seq, "poison"))
		if i == 5 {
			require.Equal(t, 3, w.Stats().AsideKept)
		}
	}
	require.Equal(t, asideCount, w.Stats().AsideKept)
	require.Len(t, s.keys(asidePrefix), asideCount)
	require.Empty(t, s.keys(entryPrefix))
}
