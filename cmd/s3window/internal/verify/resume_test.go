package verify_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/cmd/s3window/internal/verify"
	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/lake/laketest"
	"github.com/s3window/s3window/internal/partition"
)

// reads counts the data objects that are opened, and calls at with each number.
func (l *testLake) reads(at func(n int64)) *atomic.Int64 {
	var n atomic.Int64
	l.Script(func(op laketest.Op) laketest.Fault {
		if op.Kind == laketest.Open && strings.Contains(op.Key, "/dt=") {
			at(n.Add(1))
		}
		return laketest.Fault{}
	})
	return &n
}

// longLake is a lake of n windows of one writer.
func longLake(t *testing.T, n int64) *testLake {
	l := &testLake{Memory: laketest.NewMemory(), t: t}
	for k := range n {
		w := win{id: acme, k: uint64(k + 1), writer: writerA, after: 10 * k, start: 10*k + 1, end: 10*k + 10, rows: 2}
		l.commit(w)
	}
	return l
}

func resumed(t *testing.T, l *testLake, file string) *verify.Report {
	r, err := verify.OpenResume(file)
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close()) }()
	return judge(t, l, verify.Options{Resume: r, Workers: 1})
}

func TestInterruptedRunGoesOn(t *testing.T) {
	const windows, until = 40, 25
	l := longLake(t, windows)
	file := filepath.Join(t.TempDir(), "resume")

	ctx, cancel := context.WithCancel(t.Context())
	first := l.reads(func(n int64) {
		if n == until {
			cancel()
		}
	})
	r, err := verify.OpenResume(file)
	require.NoError(t, err)
	_, err = verify.Lake(ctx, lake.New(l, lake.Ref{Bucket: "b", Prefix: prefix}), verify.Options{Resume: r, Workers: 1}, nil)
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, r.Close())
	require.Less(t, first.Load(), int64(windows), "it was not interrupted")

	second := l.reads(func(int64) {})
	report := resumed(t, l, file)
	require.True(t, report.Sound)
	require.EqualValues(t, windows, report.Objects)
	require.Greater(t, second.Load(), int64(0))
	// The object that was being read is read again, and what its slot let in.
	require.LessOrEqual(t, second.Load(), int64(windows-until+2))

	third := l.reads(func(int64) {})
	require.True(t, resumed(t, l, file).Sound)
	require.Zero(t, third.Load())
}

// What is known spares reading an object, never finding that it changed.
func TestResumedRunReadsWhatChanged(t *testing.T) {
	for name, c := range map[string]struct {
		change func(l *testLake)
		reads  int64
		kinds  []verify.Kind
	}{
		"nothing": {func(*testLake) {}, 0, nil},
		"a window is new": {func(l *testLake) {
			l.commit(win{id: acme, k: 5, writer: writerA, after: 40, start: 40, end: 50, rows: 2})
		}, 1, nil},
		"an object changed, its size did not": {func(l *testLake) {
			content, _ := l.Content(l.object(2))
			content[len(content)/2] ^= 1
			l.Set(l.object(2), content)
		}, 1, []verify.Kind{verify.WrongHash}},
		"an object is gone": {func(l *testLake) { l.Remove(l.object(2)) }, 1, []verify.Kind{verify.ObjectMissing}},
		"a manifest says something else of an object": {func(l *testLake) {
			l.edit(4, func(m *lake.Manifest) { m.Records++; m.Objects[0].Records++ })
		}, 1, []verify.Kind{verify.WrongRows}},
		"a manifest is gone": {func(l *testLake) { l.Remove(partition.ManifestKey(prefix, acme, 2)) }, 0, []verify.Kind{verify.Gap}},
	} {
		t.Run(name, func(t *testing.T) {
			l, file := goodLake(t), filepath.Join(t.TempDir(), "resume")
			require.True(t, resumed(t, l, file).Sound)
			c.change(l)
			for range 2 { // what is damaged is found again and again
				n := l.reads(func(int64) {})
				r := resumed(t, l, file)
				var kinds []verify.Kind
				for _, f := range r.Damage {
					kinds = append(kinds, f.Kind)
				}
				require.Equal(t, c.kinds, kinds)
				require.Equal(t, c.reads, n.Load())
				if c.kinds == nil {
					c.reads = 0
				}
			}
		})
	}
}

func TestResumeFile(t *testing.T) {
	l, dir := goodLake(t), t.TempDir()
	whole := filepath.Join(dir, "whole")
	resumed(t, l, whole)
	content, err := os.ReadFile(whole)
	require.NoError(t, err)
	require.Len(t, content, 25+5*16)

	for name, c := range map[string]struct {
		content string
		reads   int64
	}{
		"empty":                     {"", 5},
		"cut off in its first line": {string(content[:7]), 5},
		"cut off in a mark":         {string(content[:25+3*16+5]), 2},
		"a mark is damaged":         {string(content[:25+16]) + "0123456789abcdef" + string(content[25+32:]), 1},
	} {
		file := filepath.Join(dir, "damaged")
		require.NoError(t, os.WriteFile(file, []byte(c.content), 0o600))
		n := l.reads(func(int64) {})
		require.True(t, resumed(t, l, file).Sound)
		require.Equal(t, c.reads, n.Load(), name)
		require.True(t, resumed(t, l, file).Sound)
		require.Equal(t, c.reads, n.Load(), "%s: nothing is read twice", name)
	}

	other := filepath.Join(dir, "other")
	require.NoError(t, os.WriteFile(other, []byte("somebody's file"), 0o600))
	_, err = verify.OpenResume(other)
	require.ErrorContains(t, err, "is no file of -resume")
	left, err := os.ReadFile(other)
	require.NoError(t, err)
	require.Equal(t, "somebody's file", string(left))
	_, err = verify.OpenResume(dir)
	require.Error(t, err)
}

func TestSizesOnlyKeepsNothing(t *testing.T) {
	l, file := goodLake(t), filepath.Join(t.TempDir(), "resume")
	r, err := verify.OpenResume(file)
	require.NoError(t, err)
	require.True(t, judge(t, l, verify.Options{Resume: r, SizesOnly: true}).Sound)
	require.NoError(t, r.Close())
	n := l.reads(func(int64) {})
	require.True(t, resumed(t, l, file).Sound)
	require.EqualValues(t, 5, n.Load())
}

func TestProgressEstimates(t *testing.T) {
	var p verify.Progress
	l := goodLake(t)
	_, err := verify.Lake(t.Context(), lake.New(l, lake.Ref{Bucket: "b", Prefix: prefix}), verify.Options{}, &p)
	require.NoError(t, err)
	require.EqualValues(t, 5, p.Objects.Load())

	var half verify.Progress
	_, ok := half.Left(time.Second)
	require.False(t, ok)
	half.TotalBytes.Store(300)
	half.SkippedBytes.Store(100)
	half.Bytes.Store(50)
	_, ok = half.Left(time.Second)
	require.False(t, ok, "nobody knows how much there is")
	half.Sized.Store(true)
	left, ok := half.Left(10 * time.Second)
	require.True(t, ok)
	require.Equal(t, 30*time.Second, left)
}
