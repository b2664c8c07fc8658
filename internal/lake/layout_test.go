package lake_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/lake/laketest"
	"github.com/s3window/s3window/internal/partition"
)

func plain() lake.Layout {
	return lake.Layout{Align: partition.AlignHour, Time: "received", Format: "parquet"}
}

func adopted() lake.Layouts {
	next := lake.Layout{
		Align: partition.AlignDay, Time: "event", Format: "parquet",
		By: []lake.LayoutLevel{
			{ResourceAttribute: "service.name", As: "service"}, {Attribute: "env", As: "env"}, {ScopeAttribute: "team", As: "team"},
		},
		Tenants: map[string]string{"acme": "jsonl.zst", "../ü <&>": "jsonl"},
	}
	return lake.Layouts{Version: 1, Sink: "eu-1", Layouts: []lake.Layout{plain(), next}}
}

// TestLayoutsAreTheirGoldens holds the file to docs/format.md: those of earlier
// versions must stay readable.
func TestLayoutsAreTheirGoldens(t *testing.T) {
	for name, is := range map[string]lake.Layouts{
		"layout.v1.json":         {Version: 1, Sink: "default", Layouts: []lake.Layout{plain()}},
		"layout-adopted.v1.json": adopted(),
	} {
		b, err := is.Encode()
		require.NoError(t, err)
		path := filepath.Join("testdata", "layout", name)
		if os.Getenv("UPDATE_GOLDEN") != "" {
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
			require.NoError(t, os.WriteFile(path, b, 0o600))
		}
		want, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, string(want), string(b))
		back, err := lake.DecodeLayouts(want)
		require.NoError(t, err)
		again, err := back.Encode()
		require.NoError(t, err)
		assert.True(t, bytes.Equal(want, again))
		assert.True(t, is.Newest().Equal(back.Newest()))
	}
}

func TestLayoutsThatAreRefused(t *testing.T) {
	b, err := adopted().Encode()
	require.NoError(t, err)
	good := string(b)
	for name, in := range map[string]string{
		"nothing":         "",
		"no JSON":         "layout",
		"no version":      `{"sink":"default"}`,
		"another version": strings.Replace(good, `"version":1`, `"version":2`, 1),
		"unknown field":   strings.Replace(good, `"sink"`, `"sync"`, 1),
		"no sink":         strings.Replace(good, `"eu-1"`, `""`, 1),
		"no layout":       `{"version":1,"sink":"a","layouts":[]}` + "\n",
		"no align":        strings.Replace(good, `"align":"hour"`, `"align":""`, 1),
		"no format":       strings.Replace(good, `"format":"parquet"`, `"format":""`, 1),
		"no level":        strings.Replace(good, `"as":"env"`, `"as":""`, 1),
		"white space":     strings.Replace(good, `,"sink"`, `, "sink"`, 1),
		"cut":             good[:len(good)-1],
		"twice":           good + good,
	} {
		_, err := lake.DecodeLayouts([]byte(in))
		assert.ErrorContains(t, err, "decode layouts: ", name)
	}
}

func FuzzDecodeLayouts(f *testing.F) {
	b, _ := adopted().Encode()
	f.Add(b)
	f.Fuzz(func(t *testing.T, in []byte) {
		is, err := lake.DecodeLayouts(in)
		if err != nil {
			return
		}
		again, err := is.Encode()
		require.NoError(t, err)
		require.Equal(t, string(in), string(again))
	})
}

// The first layout is created, and a later one takes the place of the version
// that was read.
func TestPutLayouts(t *testing.T) {
	b := laketest.NewMemory()
	l := lake.New(b, lake.Ref{Bucket: "lake", Prefix: "otel"})
	_, _, err := l.Layouts(t.Context(), "default")
	require.ErrorIs(t, err, lake.ErrNotExist)
	first := lake.Layouts{Version: 1, Sink: "default", Layouts: []lake.Layout{plain()}}
	require.NoError(t, l.PutLayouts(t.Context(), first, ""))
	require.NoError(t, l.PutLayouts(t.Context(), first, ""), "another replica says the same")
	second := first.With(adopted().Newest(), false)
	require.ErrorIs(t, l.PutLayouts(t.Context(), second, ""), lake.ErrExists)
	got, etag, err := l.Layouts(t.Context(), "default")
	require.NoError(t, err)
	assert.True(t, got.Newest().Equal(plain()))
	require.NoError(t, l.PutLayouts(t.Context(), second, etag))
	require.NoError(t, l.PutLayouts(t.Context(), second, etag), "another replica says the same")
	require.ErrorIs(t, l.PutLayouts(t.Context(), first, etag), lake.ErrChanged)
	got, _, err = l.Layouts(t.Context(), "default")
	require.NoError(t, err)
	require.Len(t, got.Layouts, 2)
	assert.True(t, got.Newest().Equal(adopted().Newest()))
	assert.Equal(t, []string{"otel/_s3window/sink=default/layout.json"}, b.Keys(""))
}

// An answer that was lost is no reason to be refused by one's own write.
func TestPutLayoutsThroughLostAnswers(t *testing.T) {
	b := laketest.NewMemory()
	l := lake.New(b, lake.Ref{Bucket: "lake"})
	first := lake.Layouts{Version: 1, Sink: "default", Layouts: []lake.Layout{plain()}}
	b.Script(func(op laketest.Op) laketest.Fault {
		if op.Kind == laketest.PutIfAbsent || op.Kind == laketest.Replace {
			return laketest.Fault{After: errors.New("EOF")}
		}
		return laketest.Fault{}
	})
	require.NoError(t, l.PutLayouts(t.Context(), first, ""))
	_, etag, err := l.Layouts(t.Context(), "default")
	require.NoError(t, err)
	require.NoError(t, l.PutLayouts(t.Context(), first.With(adopted().Newest(), true), etag))
	got, _, err := l.Layouts(t.Context(), "default")
	require.NoError(t, err)
	assert.Len(t, got.Layouts, 1, "it took the place of the one before")
}

func TestLayoutsAreOfTheirSink(t *testing.T) {
	b := laketest.NewMemory()
	l := lake.New(b, lake.Ref{Bucket: "lake"})
	is, err := adopted().Encode()
	require.NoError(t, err)
	require.NoError(t, b.PutIfAbsent(t.Context(), partition.LayoutKey("", "other"), lake.NewBody("", is)))
	_, _, err = l.Layouts(t.Context(), "other")
	assert.ErrorContains(t, err, `it says it is of sink "eu-1"`)
}

func TestOldLayoutsAreForgotten(t *testing.T) {
	is := lake.Layouts{Version: 1, Sink: "a"}
	for range 100 {
		is = is.With(plain(), false)
	}
	assert.Len(t, is.Layouts, 64)
}

func TestFormatOf(t *testing.T) {
	l := adopted().Newest()
	assert.Equal(t, "jsonl.zst", l.FormatOf("acme"))
	assert.Equal(t, "parquet", l.FormatOf("other"))
	assert.Empty(t, lake.Layout{}.FormatOf("a"))
}
