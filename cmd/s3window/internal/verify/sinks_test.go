package verify_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/cmd/s3window/internal/verify"
	"github.com/s3window/s3window/internal/lake/laketest"
	"github.com/s3window/s3window/internal/partition"
)

// renamed is acme's partition under another name of its sink, which sorts
// before or behind the first one.
func renamed(sink string) partition.ID {
	return partition.ID{Sink: sink, Tenant: acme.Tenant, Signal: acme.Signal}
}

// The records that a queue still holds when its sink is renamed are committed
// under the new name, by the writer that has windows under the old one. Each log
// is in order by itself, whichever name sorts first.
func TestSinkRenamed(t *testing.T) {
	for _, sink := range []string{"a-new-name", "z-new-name"} {
		t.Run(sink, func(t *testing.T) {
			l := goodLake(t)
			l.commit(win{id: renamed(sink), k: 1, writer: writerA, start: 40, end: 50, rows: 2})
			l.commit(win{id: renamed(sink), k: 2, writer: writerA, after: 50, start: 50, end: 60, rows: 2})
			l.head(renamed(sink), 2)
			// And back again.
			l.commit(win{id: acme, k: 5, writer: writerA, after: 40, start: 60, end: 70, rows: 2})
			leftover := laketest.ObjectKey(prefix, acme,
				partition.ObjectName{Start: at(45), End: at(48), Writer: writerA, Ext: "parquet"})
			l.Set(leftover, []byte("left behind"))
			r := judge(t, l, verify.Options{})
			require.Empty(t, r.Damage)
			require.Len(t, r.Notes, 1)
			require.Equal(t, verify.Leftover, r.Notes[0].Kind)
			for _, p := range r.Partitions {
				if p.Sink == sink {
					require.Equal(t, 1, p.Writers)
				}
			}
		})
	}
}

// Records that are committed under both names are there twice.
func TestWindowsOfTwoSinksOverlap(t *testing.T) {
	for _, sink := range []string{"a-new-name", "z-new-name"} {
		t.Run(sink, func(t *testing.T) {
			l := goodLake(t)
			l.commit(win{id: renamed(sink), k: 1, writer: writerA, start: 21, end: 26, rows: 2})
			l.commit(win{id: renamed(sink), k: 2, writer: writerA, after: 26, start: 26, end: 27, rows: 1})
			r := judge(t, l, verify.Options{})
			var pairs [][2]string
			for _, f := range r.Damage {
				require.Equal(t, verify.Overlap, f.Kind)
				require.Contains(t, f.Text, "of writer aaaaaaaaaaaaa shares stamps with [")
				pairs = append(pairs, [2]string{f.Key, f.Also})
			}
			manifest := partition.ManifestKey
			require.ElementsMatch(t, [][2]string{
				{manifest(prefix, acme, 3), manifest(prefix, renamed(sink), 1)},
				{manifest(prefix, renamed(sink), 2), manifest(prefix, acme, 3)},
			}, pairs)
			damaged := 0
			for _, p := range r.Partitions {
				damaged += p.Damage
			}
			require.Equal(t, 2, damaged)
		})
	}
}
