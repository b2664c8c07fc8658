package verify_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/cmd/s3window/internal/verify"
	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/lake/laketest"
	"github.com/s3window/s3window/internal/partition"
)

// What no manifest names may be deleted only where it is sure that no manifest
// named it: where the log is damaged, nothing is.
func TestOrphansAreToldFromOnlyCopies(t *testing.T) {
	object := func(start, end int64, writer string) string {
		return laketest.ObjectKey(prefix, acme, partition.ObjectName{Start: at(start), End: at(end), Writer: writer, Ext: "parquet"})
	}
	manifest := func(k uint64) string { return partition.ManifestKey(prefix, acme, k) }
	nothing := func(*testLake) {}
	for name, c := range map[string]struct {
		damage func(l *testLake)
		key    string
		kind   verify.Kind
		text   string
	}{
		"behind its writer's end":        {nothing, object(40, 50, writerA), verify.Uncommitted, "may be the only copy"},
		"of a writer that never commits": {nothing, object(12, 13, "ccccccccccccc"), verify.Uncommitted, "may be the only copy"},
		"below its writer's end":         {nothing, object(12, 40, writerA), verify.Leftover, "its records are in other windows"},
		"across its writer's end":        {nothing, object(12, 50, writerA), verify.Leftover, "the others will be or are in the WAL"},
		"its manifest is missing": {func(l *testLake) { l.Remove(manifest(2)) },
			object(5, 30, writerB), verify.Uncommitted, "a window that is missing"},
		"its manifest does not decode": {func(l *testLake) { l.Set(manifest(2), []byte("{}")) },
			object(5, 30, writerB), verify.Uncommitted, "a window that is missing"},
		"its manifest was forged and names it no more": {func(l *testLake) {
			content, _ := l.Content(manifest(2))
			m, err := lake.DecodeManifest(content)
			require.NoError(l.t, err)
			m.Objects, m.Records, m.Bytes, m.MinTime, m.MaxTime = nil, 0, 0, 0, 0
			l.manifest(manifest(2), m)
		}, object(5, 30, writerB), verify.Uncommitted, "was changed"},
		"the newest manifests are missing": {func(l *testLake) { l.head(acme, 4); l.Remove(manifest(4)); l.Remove(manifest(3)) },
			object(25, 40, writerA), verify.Uncommitted, "a window that is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			l := goodLake(t)
			if _, ok := l.Content(c.key); !ok {
				l.Set(c.key, []byte("x"))
			}
			c.damage(l)
			for _, n := range judge(t, l, verify.Options{}).Notes {
				if n.Key == c.key {
					require.Equal(t, c.kind, n.Kind)
					require.Contains(t, n.Text, c.text)
					return
				}
			}
			require.Fail(t, "nothing is said of it")
		})
	}
}
