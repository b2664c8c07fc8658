package wal

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// model is the queue as a list.
type model struct {
	t      *rapid.T
	store  *fake
	w      *WAL
	n      int
	queue  []string          // payloads in order, not trimmed
	read   map[string]uint64 // those read since the last open, and their seq
	cursor int               // of queue, counted from the front
	seals  map[uint64]string
	maxSeq uint64
}

func (m *model) open() {
	w, err := Open(context.Background(), Options{Client: m.store.client(nil), SegmentSize: 5000})
	require.NoError(m.t, err)
	m.w, m.cursor = w, 0
	size := int64(0)
	for _, p := range m.queue {
		size += int64(len(p)) + frameNames + int64(len("t")+len("logs"))
	}
	require.Equal(m.t, size, w.Stats().Bytes, "exact after an open")
	m.read = map[string]uint64{}
}

func (m *model) append(t *rapid.T) {
	recs := make([]Record, rapid.IntRange(1, 4).Draw(t, "records"))
	ps := make([]string, len(recs))
	for i := range recs {
		size := rapid.IntRange(0, 200).Draw(t, "size")
		if rapid.IntRange(0, 9).Draw(t, "large") == 0 {
			size = rapid.SampledFrom([]int{spacedSize, blockBytes / 3, blockBytes + 5, readBytes + 5}).Draw(t, "how large")
		}
		ps[i] = fmt.Sprint(m.n, " ") + strings.Repeat("x", size)
		m.n++
		recs[i] = rec("t", ps[i])
	}
	require.NoError(t, m.w.Append(context.Background(), recs...))
	m.queue = append(m.queue, ps...)
}

func (m *model) readOne(t *rapid.T) {
	if m.cursor == len(m.queue) {
		require.Zero(t, m.w.Stats().UnreadEntries)
		return
	}
	g, err := m.w.Next(context.Background())
	require.NoError(t, err)
	safe := m.w.Safe()
	require.Equal(t, g.Stamp, safe.Time)
	require.Equal(t, g.Segment, safe.Segment)
	require.LessOrEqual(t, m.w.Stats().HeldBytes, int64(HeldBytes))
	entries, err := m.w.Read(context.Background())
	require.NoError(t, err)
	require.NotEmpty(t, entries)
	for _, e := range entries {
		require.Equal(t, m.queue[m.cursor], string(e.Payload))
		m.read[string(e.Payload)] = e.Seq
		m.maxSeq = max(m.maxSeq, e.Seq)
		m.cursor++
	}
}

func (m *model) trim(t *rapid.T) {
	var seqs []uint64
	some := rapid.IntRange(1, 10).Draw(t, "of ten")
	for i := m.cursor - 1; i >= 0; i-- {
		if rapid.IntRange(1, 10).Draw(t, "trim") <= some {
			seqs = append(seqs, m.read[m.queue[i]])
			m.queue = slices.Delete(m.queue, i, i+1)
			m.cursor--
		}
	}
	require.NoError(t, m.w.Trim(context.Background(), seqs))
}

func (m *model) reread(t *rapid.T) {
	if m.cursor == 0 {
		return
	}
	i := rapid.IntRange(0, m.cursor-1).Draw(t, "which")
	got, err := m.w.Reread(context.Background(), []uint64{m.read[m.queue[i]]})
	require.NoError(t, err)
	require.Equal(t, []string{m.queue[i]}, payloads(got))
}

func (m *model) seal(t *rapid.T) {
	for id := range m.seals {
		if rapid.Bool().Draw(t, "delete") {
			require.NoError(t, m.w.DeleteSeal(context.Background(), id))
			delete(m.seals, id)
		}
	}
	v := fmt.Sprint("seal ", m.n)
	id, err := m.w.PutSeal(context.Background(), []byte(v))
	require.NoError(t, err)
	require.NotContains(t, m.seals, id)
	m.seals[id] = v
}

func (m *model) crash(*rapid.T) {
	left := m.store.clone()
	require.NoError(m.t, m.w.Close(context.Background()))
	m.store = left
	m.open()
}

func (m *model) restart(*rapid.T) {
	require.NoError(m.t, m.w.Close(context.Background()))
	m.open()
}

// check holds after every step.
func (m *model) check(t *rapid.T) {
	s := m.w.Stats()
	require.EqualValues(t, len(m.queue), s.Entries)
	require.EqualValues(t, len(m.queue)-m.cursor, s.UnreadEntries)
	if len(m.queue) == 0 {
		require.Zero(t, s.Used)
		require.Zero(t, s.Blocks)
	}
	require.Equal(t, s.Bytes, s.Used)
	require.Len(t, m.w.Seals(), len(m.seals))
	require.Len(t, m.entryKeys(), len(m.queue))
}

func (m *model) entryKeys() []string {
	return slices.DeleteFunc(m.store.keys(entryPrefix), func(k string) bool { return len(k) != numberedLen })
}

func TestQueueBehavesLikeAList(t *testing.T) { rapid.Check(t, queueBehavesLikeAList) }

func queueBehavesLikeAList(t *rapid.T) {
	m := &model{t: t, store: newFake(), seals: map[uint64]string{}}
	m.store.noWalk = rapid.Bool().Draw(t, "no walker")
	m.open()
	defer func() { _ = m.w.Close(context.Background()) }()
	t.Repeat(map[string]func(*rapid.T){
		"append": m.append, "append more": m.append, "read": m.readOne, "read more": m.readOne,
		"trim": m.trim, "reread": m.reread, "seal": m.seal, "crash": m.crash, "restart": m.restart, "": m.check,
	})
}
