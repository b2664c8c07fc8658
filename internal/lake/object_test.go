package lake_test

import (
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/lake/laketest"
)

const key = "tenant=acme/signal=logs/dt=2026-11-30/hour=08/w-1-2-aaaaaaaaaaaaa.parquet"

var errStore = errors.New("503 SlowDown")

func meta() lake.ObjectMeta {
	return lake.ObjectMeta{Records: 3, MinTime: -5, MaxTime: 9, Encoder: "s3window/0.2.0 parquet-go/0.32.0"}
}

func ours() lake.Body {
	return lake.NewBody("application/vnd.apache.parquet", []byte("our "), []byte("bytes"))
}

func wantObject(b lake.Body, m lake.ObjectMeta) lake.Object {
	return lake.Object{
		Key: key, Bytes: b.Size, Records: m.Records, SHA256: hex.EncodeToString(b.SHA256[:]),
		Encoder: m.Encoder, MinTime: m.MinTime, MaxTime: m.MaxTime,
	}
}

// at breaks the nth call of the kind.
func at(kind string, n int, f laketest.Fault) func(laketest.Op) laketest.Fault {
	seen := 0
	return func(op laketest.Op) laketest.Fault {
		if op.Kind != kind {
			return laketest.Fault{}
		}
		if seen++; seen == n {
			return f
		}
		return laketest.Fault{}
	}
}

func kinds(ops []laketest.Op) string {
	var s []string
	for _, op := range ops {
		s = append(s, op.Kind)
	}
	return strings.Join(s, " ")
}

func TestPutObjectSaysWhatLiesInTheBucket(t *testing.T) {
	older := lake.ObjectMeta{Records: 3, MinTime: -5, MaxTime: 9, Encoder: "s3window/0.1.0 parquet-go/0.31.0"}
	theirs := lake.NewBody("application/vnd.apache.parquet", []byte("the same rows, encoded otherwise"))
	for name, tc := range map[string]struct {
		before func(m *laketest.Memory, l *lake.Lake) // what earlier attempts left
		script func(laketest.Op) laketest.Fault
		want   lake.Object
		stored lake.Body
		err    string
		ops    string
	}{
		"new": {
			want: wantObject(ours(), meta()), stored: ours(), ops: "put-if-absent",
		},
		"our own bytes of an earlier attempt": {
			before: func(_ *laketest.Memory, l *lake.Lake) { mustPut(t, l, ours(), meta()) },
			want:   wantObject(ours(), meta()), stored: ours(), ops: "put-if-absent open",
		},
		"our own bytes without metadata": {
			before: func(m *laketest.Memory, _ *lake.Lake) { m.Set(key, ours().Bytes()) },
			want:   wantObject(ours(), meta()), stored: ours(), ops: "put-if-absent open",
		},
		"bytes of another encoder": {
			before: func(_ *laketest.Memory, l *lake.Lake) { mustPut(t, l, theirs, older) },
			want:   wantObject(theirs, older), stored: theirs, ops: "put-if-absent open",
		},
		"torn: shorter than its metadata says": {
			before: func(m *laketest.Memory, l *lake.Lake) {
				mustPut(t, l, theirs, older)
				m.Set(key, theirs.Bytes()[:7])
			},
			want: wantObject(ours(), meta()), stored: ours(), ops: "put-if-absent open replace",
		},
		"torn: empty": {
			before: func(m *laketest.Memory, l *lake.Lake) {
				mustPut(t, l, theirs, older)
				m.Set(key, nil)
			},
			want: wantObject(ours(), meta()), stored: ours(), ops: "put-if-absent open replace",
		},
		"without metadata and not ours": {
			before: func(m *laketest.Memory, _ *lake.Lake) { m.Set(key, []byte("whatever")) },
			want:   wantObject(ours(), meta()), stored: ours(), ops: "put-if-absent open replace",
		},
		"answer lost": {
			script: at(laketest.PutIfAbsent, 1, laketest.Fault{After: errStore}),
			want:   wantObject(ours(), meta()), stored: ours(), ops: "put-if-absent open",
		},
		"answer lost, object torn": {
			script: at(laketest.PutIfAbsent, 1, laketest.Fault{After: errStore, Keep: 4}),
			want:   wantObject(ours(), meta()), stored: ours(), ops: "put-if-absent open replace",
		},
		"answer of the replacement lost": {
			before: func(m *laketest.Memory, _ *lake.Lake) { m.Set(key, []byte("torn")) },
			script: at(laketest.Replace, 1, laketest.Fault{After: errStore}),
			want:   wantObject(ours(), meta()), stored: ours(), ops: "put-if-absent open replace open",
		},
		"replacement torn": {
			before: func(m *laketest.Memory, _ *lake.Lake) { m.Set(key, []byte("torn")) },
			script: at(laketest.Replace, 1, laketest.Fault{After: errStore, Keep: 2}),
			want:   wantObject(ours(), meta()), stored: ours(), ops: "put-if-absent open replace open replace",
		},
		"refused": {
			script: at(laketest.PutIfAbsent, 1, laketest.Fault{Before: errStore}),
			err:    "put object \"" + key + "\": 503 SlowDown", ops: "put-if-absent open",
		},
		"read back refused": {
			before: func(_ *laketest.Memory, l *lake.Lake) { mustPut(t, l, theirs, older) },
			script: at(laketest.Open, 1, laketest.Fault{Before: errStore}),
			stored: theirs, err: "read back: 503 SlowDown", ops: "put-if-absent open",
		},
		"replacement refused for good": {
			before: func(m *laketest.Memory, _ *lake.Lake) { m.Set(key, []byte("torn")) },
			script: func(op laketest.Op) laketest.Fault {
				if op.Kind == laketest.Replace {
					return laketest.Fault{Before: errStore}
				}
				return laketest.Fault{}
			},
			stored: lake.NewBody("", []byte("torn")), err: "replace torn object \"" + key + "\": 503 SlowDown",
			ops: "put-if-absent open replace open replace open replace",
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := laketest.NewMemory()
			l := lake.New(m, lake.Ref{Bucket: "b"})
			if tc.before != nil {
				tc.before(m, l)
			}
			m.Script(tc.script)
			got, err := l.PutObject(t.Context(), key, ours(), meta())
			require.Equal(t, tc.ops, kinds(m.Ops()))
			require.Equal(t, tc.want, got)
			if tc.err == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, tc.err)
			}
			content, ok := m.Content(key)
			require.Equal(t, tc.stored.Segments != nil, ok)
			require.Equal(t, string(tc.stored.Bytes()), string(content))
		})
	}
}

func mustPut(t *testing.T, l *lake.Lake, b lake.Body, m lake.ObjectMeta) {
	t.Helper()
	_, err := l.PutObject(t.Context(), key, b, m)
	require.NoError(t, err)
}

// Metadata that is damaged or incomplete proves nothing, even if the content
// matches the hash in it.
func TestPutObjectTrustsWholeMetadataOnly(t *testing.T) {
	theirs := lake.NewBody("", []byte("other bytes"))
	whole := map[string]string{
		"s3window-sha256": hex.EncodeToString(theirs.SHA256[:]), "s3window-bytes": "11", "s3window-records": "3",
		"s3window-min-time": "1", "s3window-max-time": "2", "s3window-encoder": "e",
	}
	try := func(t *testing.T, change func(md map[string]string)) lake.Object {
		m := laketest.NewMemory()
		b := theirs
		b.Metadata = map[string]string{}
		for k, v := range whole {
			b.Metadata[k] = v
		}
		change(b.Metadata)
		require.NoError(t, m.PutIfAbsent(t.Context(), key, b))
		o, err := lake.New(m, lake.Ref{}).PutObject(t.Context(), key, ours(), meta())
		require.NoError(t, err)
		return o
	}
	require.Equal(t, "e", try(t, func(map[string]string) {}).Encoder, "whole metadata is taken")
	for name := range whole {
		for _, value := range []string{"", "x", "-1"} {
			if strings.HasSuffix(name, "-time") && value == "-1" || name == "s3window-encoder" && value != "" {
				continue // a value as good as any
			}
			t.Run(name+"="+value, func(t *testing.T) {
				o := try(t, func(md map[string]string) { md[name] = value })
				require.Equal(t, wantObject(ours(), meta()), o)
			})
		}
		t.Run("no "+name, func(t *testing.T) {
			o := try(t, func(md map[string]string) { delete(md, name) })
			require.Equal(t, wantObject(ours(), meta()), o)
		})
	}
}

func TestPutObjectKeepsTheCallersMetadata(t *testing.T) {
	m := laketest.NewMemory()
	b := ours()
	b.Metadata = map[string]string{"other": "1"}
	mustPut(t, lake.New(m, lake.Ref{}), b, meta())
	info, err := m.Stat(t.Context(), key)
	require.NoError(t, err)
	require.Equal(t, map[string]string{
		"other": "1", "s3window-sha256": hex.EncodeToString(b.SHA256[:]), "s3window-bytes": "9", "s3window-records": "3",
		"s3window-min-time": "-5", "s3window-max-time": "9", "s3window-encoder": "s3window/0.2.0 parquet-go/0.32.0",
	}, info.Metadata)
	require.Len(t, b.Metadata, 1, "the caller's map is not changed")
}

func TestPutObjectSteps(t *testing.T) {
	m := laketest.NewMemory()
	var steps []string
	l := lake.New(m, lake.Ref{}, lake.WithStep(func(s string) { steps = append(steps, s) }))
	m.Set(key, []byte("torn"))
	mustPut(t, l, ours(), meta())
	require.Equal(t, []string{"lake:put-object", "lake:read-back-object", "lake:replace-object", "lake:put-object done"}, steps)
}

func TestQuarantine(t *testing.T) {
	m := laketest.NewMemory()
	l := lake.New(m, lake.Ref{Prefix: "p"})
	e := lake.Entry{Writer: "aaaaaaaaaaaaa", Stamp: 1791009458377856, Seq: 255}
	const want = "p/_s3window/quarantine/sink=default/tenant=acme/signal=logs/e-1791009458377856-aaaaaaaaaaaaa-00000000000000ff.bin"
	for range 2 { // again after a crash
		got, err := l.Quarantine(t.Context(), id, e, []byte("raw"))
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	taken, err := l.Quarantine(t.Context(), id, e, []byte("other"))
	require.ErrorIs(t, err, lake.ErrExists)
	require.Equal(t, want, taken)
	e.Record = 3 // of the same entry
	got, err := l.Quarantine(t.Context(), id, e, []byte("the third"))
	require.NoError(t, err)
	require.Equal(t, strings.TrimSuffix(want, ".bin")+"-3.bin", got)
	content, _ := m.Content(want)
	require.Equal(t, "raw", string(content))

	m.Script(at(laketest.PutIfAbsent, 1, laketest.Fault{Before: errStore}))
	_, err = l.Quarantine(t.Context(), id, lake.Entry{Writer: "aaaaaaaaaaaaa"}, []byte("raw"))
	require.ErrorIs(t, err, errStore)
}

func TestDelete(t *testing.T) {
	m := laketest.NewMemory()
	l := lake.New(m, lake.Ref{})
	mustPut(t, l, ours(), meta())
	m.Script(at(laketest.Delete, 1, laketest.Fault{Before: errStore}))
	require.ErrorIs(t, l.Delete(t.Context(), key), errStore)
	require.NoError(t, l.Delete(t.Context(), key))
	require.NoError(t, l.Delete(t.Context(), key))
	require.Empty(t, m.Keys(""))
}
