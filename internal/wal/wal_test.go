package wal

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/extension/xextension/storage"
)

func TestWhatWasAcknowledgedIsReplayedInOrder(t *testing.T) {
	stores(t, func(t *testing.T, s store) {
		w := open(t, Options{Client: s.client(t), WriterInfo: []byte("first")})
		for i := range 10 {
			add(t, w, rec("a", fmt.Sprint(2*i)), rec("b", fmt.Sprint(2*i+1)))
		}
		first := w.Writer()
		live := drain(t, w)
		require.Equal(t, names(0, 20), payloads(live))
		require.NoError(t, w.Close(t.Context()))

		w = open(t, Options{Client: s.client(t), WriterInfo: []byte("second")})
		require.NotEqual(t, first, w.Writer())
		require.Equal(t, live[0].Stamp, w.Safe().Time)
		require.Equal(t, live, drain(t, w))
		add(t, w, rec("a", "20"))
		more := drain(t, w)
		require.Equal(t, w.Writer(), more[0].Writer)
		require.Greater(t, more[0].Seq, live[19].Seq)
		require.Greater(t, more[0].Stamp, live[19].Stamp)
		require.Greater(t, more[0].Segment, live[19].Segment)
		require.Equal(t, []Writer{{first, []byte("first")}, {w.Writer(), []byte("second")}}, w.Writers())

		require.NoError(t, w.Trim(t.Context(), seqsOf(live)))
		require.NoError(t, w.Trim(t.Context(), seqsOf(live)), "again")
		require.Equal(t, []Writer{{w.Writer(), []byte("second")}}, w.Writers())
		require.NoError(t, w.Close(t.Context()))

		w = open(t, Options{Client: s.client(t)})
		require.Equal(t, []string{"20"}, payloads(drain(t, w)))
		require.Zero(t, w.Stats().Damaged)
	})
}

func TestSequenceAndStampsSurviveAnEmptyQueue(t *testing.T) {
	stores(t, func(t *testing.T, s store) {
		w := open(t, Options{Client: s.client(t)})
		add(t, w, rec("a", "0"))
		e := drain(t, w)[0]
		require.NoError(t, w.Trim(t.Context(), []uint64{e.Seq}))
		require.NoError(t, w.Close(t.Context()))

		w = open(t, Options{Client: s.client(t)})
		require.Zero(t, w.Stats().Entries)
		add(t, w, rec("a", "1"))
		next := drain(t, w)[0]
		require.Greater(t, next.Seq, e.Seq)
		require.Greater(t, next.Stamp, e.Stamp)
	})
}

func TestSealsAndTheirWritersSurvive(t *testing.T) {
	stores(t, func(t *testing.T, s store) {
		w := open(t, Options{Client: s.client(t), WriterInfo: []byte("one")})
		first := w.Writer()
		add(t, w, rec("a", "0"))
		require.NoError(t, w.Close(t.Context()))

		w = open(t, Options{Client: s.client(t)})
		id1, err := w.PutSeal(t.Context(), []byte("s1"))
		require.NoError(t, err)
		id2, err := w.PutSeal(t.Context(), []byte("s2"))
		require.NoError(t, err)
		require.Greater(t, id2, id1)
		require.NoError(t, w.Trim(t.Context(), seqsOf(drain(t, w))))
		require.NoError(t, w.Close(t.Context()))

		w = open(t, Options{Client: s.client(t)})
		require.Equal(t, []Seal{{id1, []byte("s1")}, {id2, []byte("s2")}}, w.Seals())
		require.Equal(t, Writer{first, []byte("one")}, w.Writers()[0], "a seal may speak of the first writer's entries")
		require.NoError(t, w.DeleteSeal(t.Context(), id1))
		require.NoError(t, w.DeleteSeal(t.Context(), id2))
		require.NoError(t, w.DeleteSeal(t.Context(), id2), "again")
		require.Empty(t, w.Writers())
		id3, err := w.PutSeal(t.Context(), []byte("s3"))
		require.NoError(t, err)
		require.Greater(t, id3, id2)
		require.NoError(t, w.Close(t.Context()))

		w = open(t, Options{Client: s.client(t)})
		require.Equal(t, []Seal{{id3, []byte("s3")}}, w.Seals())
	})
}

func TestAppendRefuses(t *testing.T) {
	w := open(t, Options{Client: newFake(), Limit: 2000})
	require.ErrorIs(t, w.Append(t.Context(), rec("a", strings.Repeat("x", 2001))), ErrTooLarge)
	require.ErrorIs(t, w.Append(t.Context(), rec("a", strings.Repeat("x", 1001)), rec("b", strings.Repeat("x", 1001))), ErrTooLarge)
	require.ErrorIs(t, w.Append(t.Context(), rec(strings.Repeat("t", maxTenant+1), "")), ErrInvalid)
	require.ErrorIs(t, w.Append(t.Context(), Record{Items: -1}), ErrInvalid)
	require.NoError(t, w.Append(t.Context()))
	add(t, w, rec("a", strings.Repeat("x", 1500)))
	require.ErrorIs(t, w.Append(t.Context(), rec("a", strings.Repeat("x", 500))), ErrFull)
	require.NoError(t, w.Trim(t.Context(), seqsOf(drain(t, w))))
	require.Zero(t, w.Stats().Used)
	add(t, w, rec("a", strings.Repeat("x", 1500)))
	require.NoError(t, w.Close(t.Context()))
	require.ErrorIs(t, w.Append(t.Context(), rec("a", "")), ErrClosed)
	require.ErrorIs(t, w.Trim(t.Context(), []uint64{1}), ErrClosed)
	_, err := w.Next(t.Context())
	require.ErrorIs(t, err, ErrClosed)
}

func TestLimitCountsWhatItIsToldTo(t *testing.T) {
	for _, c := range []struct {
		sizer Sizer
		limit int64
		fits  int // requests of two records, 3 items each
	}{{Requests, 5, 5}, {Items, 31, 5}, {Bytes, 5*2*85 + 1, 5}} {
		t.Run(string(c.sizer), func(t *testing.T) {
			s := newFake()
			w := open(t, Options{Client: s, Sizer: c.sizer, Limit: c.limit})
			r := Record{Tenant: "a", Signal: "logs", Items: 3, Payload: []byte("abcd")}
			n := 0
			for w.Append(t.Context(), r, r) == nil {
				n++
			}
			require.Equal(t, c.fits, n)
			require.NoError(t, w.Close(t.Context()))
			w = open(t, Options{Client: s, Sizer: c.sizer, Limit: c.limit})
			require.ErrorIs(t, w.Append(t.Context(), r, r), ErrFull, "after a restart")
			for _, e := range drain(t, w) {
				require.NoError(t, w.Trim(t.Context(), []uint64{e.Seq}))
			}
			require.Zero(t, w.Stats().Used)
			add(t, w, r, r)
		})
	}
}

func TestBlockOnOverflowWaitsForATrim(t *testing.T) {
	w := open(t, Options{Client: newFake(), Limit: 1000, BlockOnOverflow: true})
	add(t, w, rec("a", strings.Repeat("x", 800)))
	done := make(chan error)
	go func() { done <- w.Append(context.Background(), rec("a", strings.Repeat("y", 800))) }()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, w.Append(ctx, rec("a", strings.Repeat("z", 800))), context.DeadlineExceeded)
	require.NoError(t, w.Trim(t.Context(), seqsOf(drain(t, w))))
	require.NoError(t, <-done)
	go func() { done <- w.Append(context.Background(), rec("a", strings.Repeat("y", 800))) }()
	require.NoError(t, w.Close(t.Context()))
	require.ErrorIs(t, <-done, ErrClosed)
}

func TestWaitingIsTurnedOffAndOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t, Options{Client: newFake(), Limit: 1000, BlockOnOverflow: true})
		add(t, w, rec("a", strings.Repeat("x", 800)))
		done := make(chan error, 2)
		large := func() { done <- w.Append(context.Background(), rec("a", strings.Repeat("y", 800))) }
		go large()
		go large()
		synctest.Wait()
		require.Empty(t, done)
		w.Wait(false)
		require.ErrorIs(t, <-done, ErrFull)
		require.ErrorIs(t, <-done, ErrFull)
		require.ErrorIs(t, w.Append(t.Context(), rec("a", strings.Repeat("z", 800))), ErrFull, "nobody waits any more")
		add(t, w, rec("a", "fits"))
		w.Wait(true)
		go large()
		synctest.Wait()
		require.Empty(t, done)
		require.NoError(t, w.Trim(t.Context(), seqsOf(drain(t, w))))
		require.NoError(t, <-done)
	})
}

func TestMemoryOnlyHoldsEveryPayloadOnce(t *testing.T) {
	w := open(t, Options{Limit: 1 << 20})
	add(t, w, rec("a", strings.Repeat("x", 20000)))
	got := drain(t, w)
	again, err := w.Reread(t.Context(), seqsOf(got))
	require.NoError(t, err)
	require.Equal(t, got, again)
	require.Same(t, &got[0].Payload[0], &again[0].Payload[0])
	require.NoError(t, w.Trim(t.Context(), seqsOf(got)))
	require.Empty(t, w.client.(*memory).values)
}

func TestRereadSkipsWhatIsTrimmed(t *testing.T) {
	stores(t, func(t *testing.T, s store) {
		w := open(t, Options{Client: s.client(t)})
		for i := range 10 {
			add(t, w, rec("a", fmt.Sprint(i)))
		}
		all := drain(t, w)
		require.NoError(t, w.Trim(t.Context(), seqsOf(all[3:5])))
		got, err := w.Reread(t.Context(), []uint64{all[9].Seq, all[4].Seq, all[0].Seq, 999})
		require.NoError(t, err)
		require.Equal(t, []Entry{all[9], all[0]}, got)
	})
}

func TestSpacersComeAndGoWithTheirEntry(t *testing.T) {
	s := newFake()
	w := open(t, Options{Client: s})
	add(t, w, rec("a", strings.Repeat("x", spacedSize)), rec("a", "small"))
	require.Equal(t, []string{"l0000000000000001", "l0000000000000001a", "l0000000000000001b",
		"l0000000000000001c", "l0000000000000001d", "l0000000000000002"}, s.keys(entryPrefix))
	require.NoError(t, w.Trim(t.Context(), seqsOf(drain(t, w))))
	require.Empty(t, s.keys(entryPrefix))
	s.values["l0000000000000001b"] = nil
	require.NoError(t, w.Close(t.Context()))
	w = open(t, Options{Client: s})
	add(t, w, rec("a", "x"))
	require.Equal(t, []string{"l0000000000000003"}, s.keys(entryPrefix), "an orphan is removed")
}

func TestOpenFails(t *testing.T) {
	t.Run("storage keeps nothing", func(t *testing.T) {
		_, err := Open(t.Context(), Options{Client: storage.NewNopClient()})
		require.ErrorContains(t, err, "does not keep what is written")
	})
	for n := range 4 {
		t.Run(fmt.Sprintf("call %d gives an error", n), func(t *testing.T) {
			s := newFake()
			w := open(t, Options{Client: s})
			add(t, w, rec("a", "x"))
			require.NoError(t, w.Close(t.Context()))
			s.calls = 0
			s.fail(func(c *call) error {
				if c.n == n {
					return errInjected
				}
				return nil
			}, nil)
			w, err := Open(t.Context(), Options{Client: s.client(t)})
			if err == nil {
				defer func() { require.NoError(t, w.Close(context.Background())) }()
			}
			if n < 3 { // mark, writer, mark again
				require.ErrorIs(t, err, errInjected)
			} else {
				require.NoError(t, err)
			}
		})
	}
}

func TestCloseFinishesWhatIsPending(t *testing.T) {
	s := newFake()
	w := open(t, Options{Client: s})
	gate := make(chan struct{})
	started := make(chan struct{}, 100)
	s.fail(func(*call) error { started <- struct{}{}; <-gate; return nil }, nil)
	results := make(chan error, 10)
	for i := range 10 {
		go func() { results <- w.Append(context.Background(), rec("a", fmt.Sprint(i))) }()
	}
	<-started
	closed := make(chan error)
	go func() { closed <- w.Close(context.Background()) }()
	<-w.closing
	close(gate)
	require.NoError(t, <-closed)
	ok := 0
	for range 10 {
		if err := <-results; err == nil {
			ok++
		} else {
			require.ErrorIs(t, err, ErrClosed)
		}
	}
	s.fail(nil, nil)
	w = open(t, Options{Client: s})
	require.Len(t, drain(t, w), ok)
}

func TestCloseGivesUpOnAStorageThatHangs(t *testing.T) {
	s := newFake()
	w := open(t, Options{Client: s})
	gate := make(chan struct{})
	started := make(chan struct{}, 1)
	s.fail(func(*call) error { started <- struct{}{}; <-gate; return errInjected }, nil)
	result := make(chan error, 2)
	go func() { result <- w.Append(context.Background(), rec("a", "0")) }()
	<-started
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorContains(t, w.Close(ctx), "does not return")
	close(gate)
	require.ErrorIs(t, <-result, ErrUnknown)
	require.NoError(t, w.Close(t.Context()))
}

func TestALaggingReaderHoldsLittle(t *testing.T) {
	stores(t, func(t *testing.T, s store) {
		w := open(t, Options{Client: s.client(t)})
		big := strings.Repeat("x", 1<<20)
		want := []string{}
		for i := range 40 {
			p := fmt.Sprint(i, " ", big[:len(big)-(i%3)*500_000])
			add(t, w, rec("a", p))
			want = append(want, p)
			require.LessOrEqual(t, w.Stats().HeldBytes, int64(HeldBytes))
		}
		got := []string{}
		for range want {
			_, err := w.Next(t.Context())
			require.NoError(t, err)
			require.LessOrEqual(t, w.Stats().HeldBytes, int64(HeldBytes))
			entries, err := w.Read(t.Context())
			require.NoError(t, err)
			got = append(got, payloads(entries)...)
		}
		require.True(t, slices.Equal(want, got))
	})
}
