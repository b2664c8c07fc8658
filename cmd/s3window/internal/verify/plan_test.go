package verify_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/cmd/s3window/internal/verify"
	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/lake/laketest"
	"github.com/s3window/s3window/internal/partition"
)

// Every kind of finding has a plan of its own that names the keys in question.
func TestPlanHasStepsForEveryKind(t *testing.T) {
	kinds := []verify.Kind{
		verify.Gap, verify.BadManifest, verify.CutOff, verify.WrongHead, verify.Misplaced, verify.BrokenChain, verify.OutOfOrder, verify.WrongWriters,
		verify.Overlap, verify.BadTimes, verify.ForeignKey, verify.NamedTwice, verify.ObjectMissing, verify.WrongSize, verify.WrongHash,
		verify.WrongRows, verify.Unreadable, verify.ForeignContent, verify.OutOfBounds,
		verify.Uncommitted, verify.Leftover, verify.Stray, verify.Lost, verify.Duplicate,
	}
	keyless := []verify.Kind{verify.NamedTwice, verify.BadTimes, verify.Overlap, verify.Duplicate, verify.Lost}
	for _, kind := range kinds {
		r := &verify.Report{Damage: []verify.Finding{{Kind: kind, Key: "a key", Also: "another key"}}}
		plan := verify.Plan(r, lake.Ref{Bucket: "b"})
		require.Len(t, plan, 1)
		require.NotEmpty(t, plan[0].Steps, kind)
		text := strings.Join(plan[0].Steps, "\n")
		require.NotContains(t, text, "''", kind)
		for _, k := range keyless {
			if k == kind {
				text += "a key"
			}
		}
		require.Contains(t, text, "a key", kind)
	}
}

func TestPlanNamesCommands(t *testing.T) {
	object := func(start, end int64, writer string) string {
		return laketest.ObjectKey(prefix, acme, partition.ObjectName{Start: at(start), End: at(end), Writer: writer, Ext: "parquet"})
	}
	manifest := func(k uint64) string { return partition.ManifestKey(prefix, acme, k) }
	bucket := lake.Ref{Bucket: "b", Prefix: prefix, Endpoint: "http://store:9000"}
	for name, c := range map[string]struct {
		damage func(l *testLake)
		ref    lake.Ref
		kind   verify.Kind
		says   []string
		never  string
	}{
		"an orphan": {func(l *testLake) { l.Set(object(12, 13, writerA), nil) }, bucket, verify.Leftover,
			[]string{"aws --endpoint-url 'http://store:9000' s3 rm 's3://b/" + object(12, 13, writerA) + "'"}, "Repair"},
		"an orphan in a directory": {func(l *testLake) { l.Set(object(12, 13, writerA), nil) }, lake.Ref{Bucket: "/it's"}, verify.Leftover,
			[]string{`rm '/it'\''s/` + object(12, 13, writerA) + "'"}, "aws"},
		"an orphan beside damage": {func(l *testLake) { l.Set(object(12, 13, writerA), nil); l.Remove(l.object(1)) }, bucket, verify.Leftover,
			[]string{"Repair the damage first"}, ""},
		"an orphan that reaches beyond": {func(l *testLake) { l.Set(object(12, 50, writerA), nil) }, bucket, verify.Leftover,
			[]string{"Leave it until then"}, " rm "},
		"an only copy": {func(l *testLake) { l.Set(object(40, 50, writerA), nil) }, bucket, verify.Uncommitted,
			[]string{"Do not delete it", "s3 cp 's3://b/" + object(40, 50, writerA) + "' ."}, " rm "},
		"a gap": {func(l *testLake) { l.Remove(manifest(2)) }, bucket, verify.Gap,
			[]string{"list-object-versions --bucket 'b' --prefix '" + manifest(2) + "'", "prev names in " + manifest(3)}, " rm "},
		"a head that is ahead": {func(l *testLake) { l.head(acme, 4); l.Remove(manifest(4)) }, bucket, verify.CutOff,
			[]string{"s3 rm 's3://b/" + headKey(acme) + "'", manifest(4)}, ""},
		"a missing object": {func(l *testLake) { l.Remove(l.object(2)) }, lake.Ref{Bucket: "b"}, verify.ObjectMissing,
			[]string{"aws s3api list-object-versions --bucket 'b' --prefix '" + object(5, 30, writerB), manifest(2)}, " rm "},
		"a lost entry": {func(l *testLake) {
			l.edit(4, func(m *lake.Manifest) {
				m.Lost = []lake.Lost{{Writer: writerB, Stamp: at(30), Seq: 7, Reason: "checksum", Key: "otel/_s3window/quarantine/x"}}
			})
		}, bucket, verify.Lost, []string{"s3 cp 's3://b/otel/_s3window/quarantine/x' ."}, " rm "},
	} {
		t.Run(name, func(t *testing.T) {
			l := goodLake(t)
			c.damage(l)
			text := ""
			for _, p := range verify.Plan(judge(t, l, verify.Options{}), c.ref) {
				if p.Kind == c.kind {
					text += strings.Join(p.Steps, "\n")
				}
			}
			for _, s := range c.says {
				require.Contains(t, text, s)
			}
			if c.never != "" {
				require.NotContains(t, text, c.never)
			}
		})
	}
	require.Empty(t, verify.Plan(judge(t, goodLake(t), verify.Options{}), bucket))
}
