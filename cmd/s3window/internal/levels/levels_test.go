package levels_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/s3window/s3window/cmd/s3window/internal/levels"
	"github.com/s3window/s3window/internal/lake/laketest"
	"github.com/s3window/s3window/internal/partition"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// walk collects what is found, sorted.
type walk struct {
	levels.Walk
	ids    []string
	strays []string
}

func newWalk(b *laketest.Memory, prefix string) *walk {
	w := &walk{}
	w.Bucket, w.Prefix, w.Workers = b, prefix, 8
	w.Found = func(id partition.ID) { w.ids = append(w.ids, id.String()) }
	w.Stray = func(key string) { w.strays = append(w.strays, key) }
	return w
}

func (w *walk) run(t *testing.T, find func(context.Context) error) {
	require.NoError(t, find(t.Context()))
	slices.Sort(w.ids)
	slices.Sort(w.strays)
}

// tree is a bucket with two lakes, and with keys that are of no lake.
func tree(prefix string) *laketest.Memory {
	b := laketest.NewMemory()
	for _, key := range []string{
		"_s3window/sink=a/layout.json",
		"_s3window/sink=a/notes.txt",
		"_s3window/sink=a/other/x",
		"_s3window/sink=a/tenant=t/signal=logs/windows/0000000001.json",
		"_s3window/sink=a/tenant=t/signal=logs/windows/0000000002.json",
		"_s3window/sink=a/tenant=t/signal=traces/windows/0000000007.json",
		"_s3window/sink=a/tenant=t/x",
		"_s3window/sink=a/tenant=%74/signal=logs/windows/0000000001.json", // t, not as it is written
		"_s3window/sink=b/tenant=u%2Fv/signal=metrics/windows/0000000001.json",
		"_s3window/sink=c",
		"_s3window/leases/sink=z/tenant=t/signal=logs/windows/0000000001.json",
		"_s3window/quarantine/x",
		"tenant=t/signal=logs/dt=2026-11-30/hour=08/x.parquet",
		"tenant=u%2Fv/signal=logs/x",
		"tenant=u%2Fv/signal=smoke/x/y",
		"tenant=u%2Fv/x",
		"tenant=w",
		"elsewhere/tenant=no/signal=logs/x",
		"another/_s3window/sink=a/tenant=no/signal=logs/windows/0000000001.json",
		"README",
	} {
		b.Set(prefix+key, nil)
	}
	return b
}

func TestWalk(t *testing.T) {
	for _, prefix := range []string{"", "otel", "a/b"} {
		base := prefix
		if base != "" {
			base += "/"
		}
		b := tree(base)
		w := newWalk(b, prefix)
		w.run(t, w.Logs)
		require.Equal(t, []string{"sink=a/tenant=t/signal=logs", "sink=a/tenant=t/signal=traces", "sink=b/tenant=u%2Fv/signal=metrics"}, w.ids, prefix)
		require.Equal(t, []string{
			base + "_s3window/sink=a/notes.txt", base + "_s3window/sink=a/other/", base + "_s3window/sink=a/tenant=%74/signal=logs/",
			base + "_s3window/sink=a/tenant=t/x", base + "_s3window/sink=c",
		}, w.strays, prefix)

		w = newWalk(b, prefix)
		w.run(t, w.Data)
		require.Equal(t, []string{"sink=%/tenant=t/signal=logs", "sink=%/tenant=u%2Fv/signal=logs"}, w.ids, prefix)
		require.Equal(t, []string{base + "tenant=u%2Fv/signal=smoke/", base + "tenant=u%2Fv/x", base + "tenant=w"}, w.strays, prefix)

		w = newWalk(b, prefix)
		w.Sink, w.Tenant = "b", "u/v"
		b.Script(nil)
		w.run(t, w.Logs)
		require.Equal(t, []string{"sink=b/tenant=u%2Fv/signal=metrics"}, w.ids, prefix)
		require.Len(t, b.Ops(), 3, "nothing else is listed")
	}
}

// 600 partitions of 300 tenants, 10 windows each, in a store that answers a
// listing after 90 ms: one listing a tenant, 16 at once.
func TestWalkListsInParallel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := laketest.NewMemory()
		for tenant := range 300 {
			for _, signal := range []partition.Signal{partition.Logs, partition.Traces} {
				id := partition.ID{Sink: "default", Tenant: fmt.Sprint("tenant-", tenant), Signal: signal}
				for k := range uint64(10) {
					b.Set(partition.ManifestKey("otel", id, k+1), nil)
				}
			}
		}
		b.Script(func(laketest.Op) laketest.Fault {
			return laketest.Fault{Pause: func(context.Context) { time.Sleep(90 * time.Millisecond) }}
		})
		w := newWalk(b, "otel")
		w.Workers = 16
		started := time.Now()
		w.run(t, w.Logs)
		require.Len(t, w.ids, 600)
		require.Len(t, b.Ops(), 302)
		require.LessOrEqual(t, time.Since(started), 2*time.Second, "one after the other takes 27 s")
	})
}

func TestWalkThatFails(t *testing.T) {
	down := errors.New("down")
	for fails := range 7 {
		b := tree("")
		b.Script(func(op laketest.Op) laketest.Fault {
			if op.N == fails {
				return laketest.Fault{Before: down}
			}
			return laketest.Fault{}
		})
		w := newWalk(b, "")
		require.ErrorIs(t, errors.Join(w.Logs(t.Context()), w.Data(t.Context())), down, "listing %d", fails)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, newWalk(tree(""), "").Logs(ctx), context.Canceled)
}
