package commit

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/partition"
)

// filed is a window with an object in each of three directories, of which the
// last has two.
func (r *rig) filed(writer string, start, end int64) Window {
	r.t.Helper()
	w := Window{
		ID: testID, Writer: writer, Start: start, End: end, Reason: "age", Format: "jsonl", Compression: "none", Schema: 1,
	}
	for i := range 4 {
		place := partition.Place{Time: start, Align: partition.AlignHour, Levels: partition.Level("service", fmt.Sprint(min(i, 2)))}
		name := partition.ObjectName{Start: start, End: end, Writer: writer, Part: max(0, i-1), Ext: "jsonl"}
		o, err := r.lake.PutObject(r.t.Context(), partition.PlacedKey(testRef.Prefix, testID, place, name),
			lake.NewBody("application/x-ndjson", fmt.Appendf(nil, "%d %d\n", i, end)), lake.ObjectMeta{Records: 1, Encoder: "test/1"})
		require.NoError(r.t, err)
		w.Objects, w.Records, w.Bytes = append(w.Objects, o), w.Records+1, w.Bytes+o.Bytes
	}
	w.RawBytes = w.Bytes
	return w
}

// A sweep deletes what an attempt with other bounds left in every directory,
// and no object that a manifest names, whichever of its window it is.
func TestSweepOfWindowsWithSeveralObjects(t *testing.T) {
	r := newRig(t)
	p := r.process("a")
	committed := r.filed(writerA, 10, 21)
	r.commit(p, committed)
	var orphans []string
	for _, o := range r.filed(writerA, 10, 20).Objects {
		orphans = append(orphans, o.Key)
	}
	deleted, err := p.Sweep(t.Context(), writerA)
	require.NoError(t, err)
	require.ElementsMatch(t, orphans, deleted)
	for _, o := range committed.Objects {
		_, err := r.lake.Bucket().Stat(t.Context(), o.Key)
		require.NoError(t, err)
	}
}
