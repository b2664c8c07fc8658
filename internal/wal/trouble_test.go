package wal

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/extension/xextension/storage"
)

func TestAnAppendThatFailedIsRemovedWithTheNextWrite(t *testing.T) {
	s := newFake()
	w := open(t, Options{Client: s})
	s.fail(nil, func(c *call) error { return errInjected })
	require.ErrorIs(t, w.Append(t.Context(), rec("t", "applied, but refused")), errInjected)
	require.Len(t, s.keys(entryPrefix), 1)
	left := s.clone()
	s.fail(nil, nil)
	add(t, w, rec("t", "next"))
	got := drain(t, w)
	require.Equal(t, []string{"next"}, payloads(got))
	require.Len(t, s.keys(entryPrefix), 1)
	require.EqualValues(t, 2, got[0].Seq, "its sequence number is not used again")
	require.EqualValues(t, got[0].Payload, "next")
	require.Equal(t, s.keys(entryPrefix)[0], numbered(entryPrefix, got[0].Seq))
	w = open(t, Options{Client: left})
	require.Equal(t, []string{"applied, but refused"}, payloads(drain(t, w)), "a crash before that replays it")
}

func TestStorageFullFailsFastUntilATrim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFake()
		w := open(t, Options{Client: s})
		add(t, w, rec("t", "0"))
		got := drain(t, w)
		full := func(c *call) error {
			if len(c.dels) == 0 {
				return storage.ErrStorageFull
			}
			return nil
		}
		s.fail(full, nil)
		require.ErrorIs(t, w.Append(t.Context(), rec("t", "1")), storage.ErrStorageFull)
		calls := s.calls
		for range 100 {
			require.ErrorIs(t, w.Append(t.Context(), rec("t", "1")), storage.ErrStorageFull)
		}
		require.Equal(t, calls, s.calls, "the storage is left alone")
		time.Sleep(time.Second)
		s.fail(nil, nil)
		add(t, w, rec("t", "2"))
		s.fail(full, nil)
		require.ErrorIs(t, w.Append(t.Context(), rec("t", "1")), storage.ErrStorageFull)
		require.NoError(t, w.Trim(t.Context(), seqsOf(got)))
		s.fail(nil, nil)
		add(t, w, rec("t", "3"))
		require.Equal(t, []string{"2", "3"}, payloads(drain(t, w)))
	})
}

func TestATrimIsHalvedDownToSingleKeys(t *testing.T) {
	s := newFake()
	w := open(t, Options{Client: s})
	for i := range 700 {
		add(t, w, rec("t", fmt.Sprint(i)))
	}
	all := seqsOf(drain(t, w))
	most, mixed := 0, false
	var sizes []int
	s.fail(func(c *call) error {
		if len(c.dels) == 0 {
			return nil
		}
		sizes = append(sizes, len(c.dels))
		if len(sizes) > 1 {
			mixed = mixed || len(c.sets) > 0
		}
		if len(c.dels) > 1 && len(sizes) < 20 {
			return storage.ErrStorageFull
		}
		most = max(most, len(c.dels))
		return nil
	}, nil)
	slices.Reverse(all)
	require.NoError(t, w.Trim(t.Context(), all))
	require.Equal(t, []int{256, 128, 64, 32, 16, 8, 4, 2, 1}, sizes[:9])
	require.LessOrEqual(t, most, 256)
	require.False(t, mixed && sizes[len(sizes)-1] < 128)
	require.Empty(t, s.keys(entryPrefix))
	require.Zero(t, w.Stats().Entries)

	for range 10 {
		add(t, w, rec("t", "x"))
	}
	all = seqsOf(drain(t, w))
	s.fail(func(c *call) error {
		if slices.Contains(c.dels, numbered(entryPrefix, all[3])) {
			return errInjected
		}
		return nil
	}, nil)
	require.ErrorIs(t, w.Trim(t.Context(), all), errInjected)
	require.EqualValues(t, 7, w.Stats().Entries, "those below went")
	s.fail(nil, nil)
	require.NoError(t, w.Trim(t.Context(), all))
	require.Zero(t, w.Stats().Used)
}

func TestAppendWhoseCallerGaveUp(t *testing.T) {
	s := newFake()
	w := open(t, Options{Client: s})
	started, gate := make(chan struct{}, 10), make(chan struct{})
	s.fail(func(c *call) error { started <- struct{}{}; <-gate; return nil }, nil)
	ctx, cancel := context.WithCancel(t.Context())
	first, second := make(chan error, 1), make(chan error, 1)
	go func() { first <- w.Append(ctx, rec("t", "in the storage's hands")) }()
	<-started
	go func() { second <- w.Append(ctx, rec("t", "not yet")) }()
	require.Eventually(t, func() bool { w.mu.Lock(); defer w.mu.Unlock(); return len(w.pending) == 1 }, time.Minute, time.Millisecond)
	cancel()
	err := <-first
	require.ErrorIs(t, err, ErrUnknown)
	require.ErrorIs(t, err, context.Canceled)
	err = <-second
	require.NotErrorIs(t, err, ErrUnknown)
	require.ErrorIs(t, err, context.Canceled)
	close(gate)
	s.fail(nil, nil)
	add(t, w, rec("t", "last"))
	require.Equal(t, []string{"in the storage's hands", "last"}, payloads(drain(t, w)))
	require.NoError(t, w.Trim(t.Context(), []uint64{1, 2, 3}))
	require.Zero(t, w.Stats().Used)
}

func TestAReadThatFailsIsRepeated(t *testing.T) {
	s := filled(t)
	w := open(t, Options{Client: s})
	s.fail(func(*call) error { return errInjected }, nil)
	_, err := w.Next(t.Context())
	require.ErrorIs(t, err, errInjected)
	_, err = w.Read(t.Context())
	require.ErrorIs(t, err, errInjected)
	s.fail(nil, nil)
	require.Equal(t, names(0, 10), payloads(drain(t, w)))
}

func TestASealIsTriedAgainWithoutTheAppendsItRodeWith(t *testing.T) {
	s := newFake()
	w := open(t, Options{Client: s})
	started, gate := make(chan struct{}, 10), make(chan struct{})
	s.fail(func(*call) error { started <- struct{}{}; <-gate; return nil }, func(c *call) error {
		if len(c.sets) > 2 {
			return errInjected
		}
		return nil
	})
	results := make(chan error, 3)
	go func() { results <- w.Append(context.Background(), rec("t", "first")) }()
	<-started
	go func() { results <- w.Append(context.Background(), rec("t", "with the seal")) }()
	go func() {
		_, err := w.PutSeal(context.Background(), []byte("seal"))
		results <- err
	}()
	require.Eventually(t, func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return len(w.pending) == 1 && len(w.controls) == 1
	}, time.Minute, time.Millisecond)
	close(gate)
	failed := 0
	for range 3 {
		if err := <-results; err != nil {
			require.ErrorIs(t, err, errInjected)
			failed++
		}
	}
	require.Equal(t, 1, failed, "the append")
	require.Len(t, w.Seals(), 1)
	require.Len(t, s.keys(sealPrefix), 1, "no twin")
}

func TestOpenOfAFullStorage(t *testing.T) {
	s := filled(t)
	s.fail(func(c *call) error {
		if len(c.sets) > 0 {
			return storage.ErrStorageFull
		}
		return nil
	}, nil)
	w := open(t, Options{Client: s, WriterInfo: []byte("late")})
	all := drain(t, w)
	require.Equal(t, names(0, 10), payloads(all), "it can be drained")
	require.NoError(t, w.Trim(t.Context(), seqsOf(all[:9])))
	s.fail(nil, nil)
	add(t, w, rec("t", "x"))
	require.NoError(t, w.Close(t.Context()))
	writer := w.Writer()
	w = open(t, Options{Client: s})
	require.Contains(t, w.Writers(), Writer{writer, []byte("late")}, "the writer came with its first append")
}
