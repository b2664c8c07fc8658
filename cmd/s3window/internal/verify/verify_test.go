package verify_test

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/s3window/s3window/cmd/s3window/internal/verify"
	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/lake/laketest"
	"github.com/s3window/s3window/internal/partition"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func judge(t *testing.T, b lake.Bucket, o verify.Options) *verify.Report {
	r, err := verify.Lake(t.Context(), lake.New(b, lake.Ref{Bucket: "b", Prefix: prefix}), o, nil)
	require.NoError(t, err)
	return r
}

func TestSoundLake(t *testing.T) {
	r := judge(t, goodLake(t), verify.Options{})
	require.Empty(t, r.Damage)
	require.Empty(t, r.Notes)
	require.True(t, r.Sound)
	require.EqualValues(t, 5, r.Windows)
	require.EqualValues(t, 21, r.Records)
	require.Len(t, r.Partitions, 2)
	require.Equal(t, "acme", r.Partitions[0].Tenant)
	require.EqualValues(t, 4, r.Partitions[0].K)
	require.Equal(t, 2, r.Partitions[0].Writers)
}

func TestSizesOnlyReadsNoObject(t *testing.T) {
	l := goodLake(t)
	l.Script(func(op laketest.Op) laketest.Fault {
		if op.Kind == laketest.Open && bytes.Contains([]byte(op.Key), []byte("/tenant=acme/signal=logs/dt=")) {
			return laketest.Fault{Before: errors.New("objects must not be read")}
		}
		return laketest.Fault{}
	})
	require.True(t, judge(t, l, verify.Options{SizesOnly: true}).Sound)
	content, _ := l.Content(l.object(1))
	l.Set(l.object(1), content[1:])
	l.Remove(l.object(2))
	r := judge(t, l, verify.Options{SizesOnly: true})
	require.Equal(t, []verify.Kind{verify.WrongSize, verify.ObjectMissing}, []verify.Kind{r.Damage[1].Kind, r.Damage[0].Kind})
}

// Every way to damage a good lake must be refused for its own reason, with
// the key that is damaged.
func TestDamageIsRefusedForItsReason(t *testing.T) {
	manifest := func(k uint64) string { return partition.ManifestKey(prefix, acme, k) }
	for name, c := range map[string]struct {
		damage func(t *testing.T, l *testLake)
		kind   verify.Kind
		text   string
	}{
		"a manifest is gone": {func(_ *testing.T, l *testLake) { l.Remove(manifest(2)) },
			verify.Gap, "0000000002.json: does not exist, but otel/_s3window/sink=default/tenant=acme/signal=logs/windows/0000000003.json does: window 2 is missing"},
		"the first manifests are gone": {func(_ *testing.T, l *testLake) { l.Remove(manifest(1)); l.Remove(manifest(2)) },
			verify.Gap, "windows 1 to 2 are missing"},
		"the newest manifests are gone": {func(_ *testing.T, l *testLake) { l.Remove(manifest(4)); l.Remove(manifest(3)) },
			verify.CutOff, "0000000003.json: does not exist, but the head otel/_s3window/leases/"},
		"all manifests are gone": {func(_ *testing.T, l *testLake) {
			for k := range uint64(4) {
				l.Remove(manifest(k + 1))
			}
		}, verify.CutOff, "the log ends at window 0"},
		"the newest manifest was rewritten": {func(_ *testing.T, l *testLake) {
			l.head(acme, 4)
			l.edit(4, func(m *lake.Manifest) { m.Reason = "size" })
		}, verify.BrokenChain, "0000000004.json: has sha256"},
		"a manifest is cut short": {func(_ *testing.T, l *testLake) {
			content, _ := l.Content(manifest(4))
			l.Set(manifest(4), content[:len(content)/2])
		}, verify.BadManifest, "0000000004.json: cannot be read"},
		"a manifest of a later version": {func(_ *testing.T, l *testLake) {
			content, _ := l.Content(manifest(4))
			l.Set(manifest(4), bytes.Replace(content, []byte(`"version":2`), []byte(`"version":3`), 1))
		}, verify.BadManifest, "version 3"},
		"a manifest forgets a writer": {func(_ *testing.T, l *testLake) {
			l.edit(4, func(m *lake.Manifest) { delete(m.Writers, writerA) })
		}, verify.WrongWriters, "says writer aaaaaaaaaaaaa is committed up to 0 by window 0, but the log"},
		"a manifest sets a writer back": {func(_ *testing.T, l *testLake) {
			l.edit(4, func(m *lake.Manifest) {
				r := m.Writers[writerA]
				m.Writers[writerA] = lake.Reach{End: r.End - 1, K: r.K}
			})
		}, verify.WrongWriters, "but the log before it up to"},
		"a manifest names a writer that committed nothing": {func(_ *testing.T, l *testLake) {
			l.edit(4, func(m *lake.Manifest) { m.Writers["ccccccccccccc"] = lake.Reach{End: 7, K: 1} })
		}, verify.WrongWriters, "says writer ccccccccccccc is committed up to 7 by window 1, which is of another writer"},
		"a manifest's bytes are not canonical": {func(_ *testing.T, l *testLake) {
			content, _ := l.Content(manifest(4))
			l.Set(manifest(4), bytes.Replace(content, []byte(`{"version"`), []byte(`{ "version"`), 1))
		}, verify.BadManifest, "not in its canonical form"},
		"a manifest is forged at the end of the log": {func(_ *testing.T, l *testLake) {
			l.commit(win{id: acme, k: 5, writer: writerA, after: 40, start: 40, end: 50, rows: 2, edit: func(m *lake.Manifest) {
				m.Prev.SHA256 = sum(nil)
			}})
		}, verify.BrokenChain, "0000000005.json: names"},
		"a manifest is another partition's": {func(_ *testing.T, l *testLake) {
			l.edit(4, func(m *lake.Manifest) { m.Tenant = "globex" })
		}, verify.Misplaced, "says it is window 4 of sink=default/tenant=globex/signal=logs"},
		"a manifest has another number": {func(_ *testing.T, l *testLake) {
			content, _ := l.Content(manifest(3))
			l.Set(manifest(4), content)
		}, verify.Misplaced, "0000000004.json: says it is window 3"},
		"a manifest was rewritten": {func(t *testing.T, l *testLake) {
			content, _ := l.Content(manifest(2))
			m, err := lake.DecodeManifest(content)
			require.NoError(t, err)
			m.Reason = "size"
			l.manifest(manifest(2), m)
		}, verify.BrokenChain, "0000000003.json: names"},
		"prev names another key": {func(_ *testing.T, l *testLake) {
			l.edit(3, func(m *lake.Manifest) { m.Prev.Key = manifest(1) })
		}, verify.BrokenChain, "0000000003.json: names"},
		"a writer's window was skipped": {func(_ *testing.T, l *testLake) {
			l.edit(3, func(m *lake.Manifest) { m.After++ })
		}, verify.OutOfOrder, "a window is missing or out of its order"},
		"a writer's first window follows nothing": {func(_ *testing.T, l *testLake) {
			l.edit(1, func(m *lake.Manifest) { m.After = at(1) })
		}, verify.OutOfOrder, "no window of that writer comes before it"},
		"two windows overlap": {func(_ *testing.T, l *testLake) {
			l.commit(win{id: acme, k: 5, writer: writerA, after: 20, start: 39, end: 50, rows: 2})
		}, verify.Overlap, "0000000005.json: window ["},
		"a window is committed twice": {func(_ *testing.T, l *testLake) {
			l.commit(win{id: acme, k: 5, writer: writerA, after: 20, start: 25, end: 40, rows: 4})
		}, verify.NamedTwice, "is named by"},
		"record times are wrong": {func(_ *testing.T, l *testLake) {
			l.edit(2, func(m *lake.Manifest) { m.MinTime-- })
		}, verify.BadTimes, "0000000002.json: says its records are of"},
		"an object of another tenant": {func(_ *testing.T, l *testLake) {
			l.edit(3, func(m *lake.Manifest) {
				content, _ := l.Content(m.Objects[0].Key)
				m.Objects[0].Key = string(bytes.Replace([]byte(m.Objects[0].Key), []byte("tenant=acme"), []byte("tenant=globex"), 1))
				l.Set(m.Objects[0].Key, content)
			})
		}, verify.ForeignKey, "it lies under another tenant or signal"},
		"an object of another window": {func(_ *testing.T, l *testLake) {
			l.edit(3, func(m *lake.Manifest) {
				m.End++
				m.Writers[m.Writer] = lake.Reach{End: m.End, K: m.K}
			})
		}, verify.ForeignKey, "its name is of another window"},
		"an object under another hour": {func(_ *testing.T, l *testLake) {
			l.edit(3, func(m *lake.Manifest) {
				content, _ := l.Content(m.Objects[0].Key)
				m.Objects[0].Key = string(bytes.Replace([]byte(m.Objects[0].Key), []byte("hour=08"), []byte("hour=09"), 1))
				l.Set(m.Objects[0].Key, content)
			})
		}, verify.ForeignKey, "dt and hour are of neither"},
		"an object is gone": {func(_ *testing.T, l *testLake) { l.Remove(l.object(2)) },
			verify.ObjectMissing, "does not exist, but otel/_s3window/sink=default/tenant=acme/signal=logs/windows/0000000002.json names it with 7 records"},
		"an object is cut short": {func(_ *testing.T, l *testLake) {
			content, _ := l.Content(l.object(2))
			l.Set(l.object(2), content[:len(content)-1])
		}, verify.WrongSize, "bytes, but"},
		"a byte of an object is flipped": {func(_ *testing.T, l *testLake) {
			content, _ := l.Content(l.object(2))
			content[len(content)/2] ^= 1
			l.Set(l.object(2), content)
		}, verify.WrongHash, "its bytes were changed"},
		"an object holds fewer rows": {func(_ *testing.T, l *testLake) {
			l.edit(2, func(m *lake.Manifest) { m.Records++; m.Objects[0].Records++ })
		}, verify.WrongRows, "has 7 rows, but"},
		"a JSONL object holds fewer rows": {func(_ *testing.T, l *testLake) {
			l.edit(4, func(m *lake.Manifest) { m.Records++; m.Objects[0].Records++ })
		}, verify.WrongRows, "has 2 rows, but"},
		"an object is no Parquet file": {func(_ *testing.T, l *testLake) {
			junk := bytes.Repeat([]byte("junk"), 20)
			l.Set(l.object(2), junk)
			l.edit(2, func(m *lake.Manifest) { m.Objects[0].SHA256, m.Objects[0].Bytes, m.Bytes = sum(junk), 80, 80 })
		}, verify.Unreadable, "does not begin and end with PAR1"},
		"a Parquet footer is destroyed": {func(_ *testing.T, l *testLake) {
			content, _ := l.Content(l.object(2))
			content[len(content)-5] = 0x7f
			l.Set(l.object(2), content)
			l.edit(2, func(m *lake.Manifest) { m.Objects[0].SHA256 = sum(content) })
		}, verify.Unreadable, "its footer of"},
		"a JSONL object ends in a line": {func(_ *testing.T, l *testLake) {
			content, _ := l.Content(l.object(4))
			content = content[:len(content)-1]
			l.Set(l.object(4), content)
			l.edit(4, func(m *lake.Manifest) {
				m.Objects[0].SHA256, m.Objects[0].Bytes, m.Bytes = sum(content), int64(len(content)), int64(len(content))
			})
		}, verify.Unreadable, "the last line has no end"},
		"the rows are another tenant's": {func(_ *testing.T, l *testLake) {
			l.commit(win{id: acme, k: 5, writer: writerA, after: 40, start: 40, end: 50, rows: 2, footer: map[string]string{"s3window.tenant": "globex"}})
		}, verify.ForeignContent, `of tenant "globex"`},
		"the rows are another writer's": {func(_ *testing.T, l *testLake) {
			l.commit(win{id: acme, k: 5, writer: writerA, after: 40, start: 40, end: 50, rows: 2, footer: map[string]string{"s3window.writer": writerB}})
		}, verify.ForeignContent, `of writer "bbbbbbbbbbbbb"`},
		"a row was received outside the window": {func(_ *testing.T, l *testLake) {
			l.commit(win{id: acme, k: 5, writer: writerA, after: 40, start: 40, end: 50, rows: 7, received: func(i int64) int64 { return at(44 + i) }})
		}, verify.OutOfBounds, "holds records received in"},
	} {
		t.Run(name, func(t *testing.T) {
			l := goodLake(t)
			c.damage(t, l)
			r := judge(t, l, verify.Options{})
			require.False(t, r.Sound)
			var kinds []verify.Kind
			text := ""
			for _, f := range r.Damage {
				kinds = append(kinds, f.Kind)
				if f.Kind == c.kind {
					text += f.String() + "\n"
				}
			}
			require.Contains(t, kinds, c.kind)
			require.Contains(t, text, c.text)
			// A consequence may be named too, but never many: the reader must see the cause.
			require.LessOrEqual(t, len(kinds), 2, "%v", r.Damage)
			require.Equal(t, 0, r.Partitions[1].Damage, "the other partition is sound")
		})
	}
}

func TestNotes(t *testing.T) {
	l := goodLake(t)
	object := func(start, end int64, writer string) string {
		return laketest.ObjectKey(prefix, acme, partition.ObjectName{Start: at(start), End: at(end), Writer: writer, Ext: "parquet"})
	}
	l.Set(object(41, 50, writerA), []byte("on its way"))
	l.Set(object(12, 13, writerA), []byte("leftover"))
	l.Set("otel/tenant=new/signal=logs/dt=2026-11-30/hour=08/w-0000000000000001-0000000000000002-ccccccccccccc.parquet", []byte("a tenant without a manifest"))
	l.Set("otel/tenant=acme/signal=logs/dt=2026-11-30/notes.txt", []byte("stray"))
	l.Set("otel/tenant=acme/0", []byte("stray"))
	l.Set("otel/_s3window/sink=default/tenant=acme/signal=logs/windows/0000000001.json.bak", []byte("stray"))
	l.edit(4, func(m *lake.Manifest) {
		m.Lost = []lake.Lost{{Writer: writerB, Stamp: at(30), Seq: 7, Records: 3, Reason: "checksum"}}
	})
	r := judge(t, l, verify.Options{})
	require.Empty(t, r.Damage)
	require.True(t, r.Sound)
	require.Equal(t, 2, r.Count(verify.Uncommitted))
	require.Equal(t, 1, r.Count(verify.Leftover))
	require.Equal(t, 3, r.Count(verify.Stray))
	require.Equal(t, 1, r.Count(verify.Lost))
	texts := map[string]string{}
	for _, f := range r.Notes {
		texts[f.Key] = f.Text
	}
	require.Contains(t, texts[object(41, 50, writerA)], "may be the only copy")
	require.Contains(t, texts[object(12, 13, writerA)], "in other windows")
}

func TestReadsThatBreakOffAreTriedAgain(t *testing.T) {
	l := goodLake(t)
	failed := map[string]bool{}
	l.Script(func(op laketest.Op) laketest.Fault {
		if op.Kind != laketest.Open || failed[op.Key] {
			return laketest.Fault{}
		}
		failed[op.Key] = true
		return laketest.Fault{Before: errors.New("reset")}
	})
	require.True(t, judge(t, l, verify.Options{}).Sound)
}

func TestCannotJudge(t *testing.T) {
	ref := lake.Ref{Bucket: "b", Prefix: prefix}
	_, err := verify.Lake(t.Context(), lake.New(laketest.NewMemory(), ref), verify.Options{}, nil)
	require.ErrorIs(t, err, verify.ErrEmpty)

	for _, kind := range []string{laketest.List, laketest.Open} {
		l := goodLake(t)
		denied := errors.New("denied")
		l.Script(func(op laketest.Op) laketest.Fault {
			if op.Kind == kind {
				return laketest.Fault{Before: denied}
			}
			return laketest.Fault{}
		})
		_, err = verify.Lake(t.Context(), lake.New(l, ref), verify.Options{}, nil)
		require.ErrorIs(t, err, denied)
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = verify.Lake(ctx, lake.New(goodLake(t), ref), verify.Options{}, nil)
	require.ErrorIs(t, err, context.Canceled)
}
