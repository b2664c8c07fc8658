package verify_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/cmd/s3window/internal/verify"
	"github.com/s3window/s3window/extension/leaseextension/lease"
	"github.com/s3window/s3window/extension/leaseextension/lease/memory"
	"github.com/s3window/s3window/internal/commit"
	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/lake/laketest"
	"github.com/s3window/s3window/internal/partition"
)

// What the commit protocol itself writes is sound at every step, with writers
// that are pruned and come back.
func TestHeadsOfTheCommitProtocolAreSound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bucket := laketest.NewMemory()
		l := lake.New(bucket, lake.Ref{Bucket: "b", Prefix: prefix})
		leases := lease.NewParticipant(memory.New(), lease.Options{Holder: "test"})
		defer leases.Close()
		logs := map[string]*commit.Log{} // each writer is a process of its own
		name := partition.HeadName("b", prefix, acme)
		ends, pruned := map[string]int64{}, false
		writers := append([]string{writerA, writerB, writerA}, slices.Repeat([]string{"ccccccccccccc"}, lake.Span+2)...)
		for i, writer := range append(writers, writerB, writerA) {
			log := logs[writer]
			if log == nil {
				log = commit.New(l, leases, acme, commit.Options{Turns: true, Retention: 5 * time.Minute})
				logs[writer] = log
			}
			start := at(int64(10 * i))
			w := commit.Window{ID: acme, Writer: writer, After: ends[writer], Start: start, End: start + 5, Reason: "age",
				Format: "jsonl", Compression: "none", Schema: 1}
			key := laketest.ObjectKey(prefix, acme, partition.ObjectName{Start: start, End: start + 5, Writer: writer, Ext: "jsonl"})
			o, err := l.PutObject(t.Context(), key, lake.NewBody("application/jsonl", []byte("{}\n")),
				lake.ObjectMeta{Records: 1, MinTime: start, MaxTime: start, Encoder: "test"})
			require.NoError(t, err)
			w.Objects, w.Records, w.Bytes, w.MinTime, w.MaxTime = []lake.Object{o}, 1, o.Bytes, start, start
			_, err = log.Read(t.Context())
			require.NoError(t, err)
			n, err := log.Commit(t.Context(), []commit.Window{w})
			require.NoError(t, err)
			require.Equal(t, 1, n)
			ends[writer] = w.End

			state, err := leases.Read(t.Context(), name)
			require.NoError(t, err)
			pruned = pruned || !strings.Contains(string(state), `"pruned":0`)
			r, err := verify.Lake(t.Context(), l, verify.Options{HeadBucket: "b", ReadHead: leases.Read}, nil)
			require.NoError(t, err)
			require.Empty(t, r.Damage, "%s", state)
			require.EqualValues(t, i+1, r.Windows)
			time.Sleep(3 * time.Minute) // of simulated time
		}
		require.True(t, pruned, "no writer was ever pruned")
	})
}
