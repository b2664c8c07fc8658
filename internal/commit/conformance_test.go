package commit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/config/configopaque"

	"github.com/s3window/s3window/extension/leaseextension/lease"
	"github.com/s3window/s3window/extension/leaseextension/lease/memory"
	leases3 "github.com/s3window/s3window/extension/leaseextension/lease/s3"
	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/lake/laketest"
	"github.com/s3window/s3window/internal/partition"
	"github.com/s3window/s3window/internal/s3client"
	"github.com/s3window/s3window/testbed/s3test"
)

const (
	fleetReplicas = 3
	fleetWindows  = 8 // of each replica
)

// backend is what a fleet shares.
type backend struct {
	bucket lake.Bucket
	store  lease.Store
	ref    lake.Ref
}

// TestFleet has replicas commit side by side over each pair of stores, reads
// the bucket and judges it.
func TestFleet(t *testing.T) {
	for _, k := range []kind{takesTurns, takesNone, mixed} {
		t.Run("memory, "+k.String(), func(t *testing.T) {
			b := backend{laketest.NewMemory(), memory.New(), testRef}
			fleet(t, b, k)
			b.judge(t)
		})
	}
	t.Run("versitygw", func(t *testing.T) {
		s := s3test.Start(t)
		b := serverBackend(t, s, s.Endpoint)
		fleet(t, b, mixed)
		b.judge(t)
	})
	t.Run("versitygw that loses answers", func(t *testing.T) {
		s := s3test.Start(t)
		proxy, url := s3test.StartProxy(t, s.Endpoint)
		b := serverBackend(t, s, url)
		proxy.Break(
			s3test.Rule{Method: http.MethodPut, Key: "/windows/", Count: 3, Skip: 1, Do: s3test.LoseAnswer},
			s3test.Rule{Method: http.MethodPut, Key: "/leases/", Count: 3, Skip: 2, Do: s3test.LoseAnswer},
			s3test.Rule{Method: http.MethodGet, Count: 5, Skip: 9, Do: s3test.Answer, Status: 503},
			s3test.Rule{Method: http.MethodPut, Count: 5, Skip: 20, Do: s3test.Answer, Status: 500},
		)
		fleet(t, b, mixed)
		proxy.Heal()
		b.judge(t)
	})
}

func serverBackend(t *testing.T, s *s3test.Server, endpoint string) backend {
	c := s3client.Default()
	c.Bucket, c.Endpoint, c.PathStyle = s.NewBucket(t), endpoint, true
	c.AccessKeyID, c.SecretAccessKey = s.AccessKey, configopaque.String(s.SecretKey)
	client, err := s3client.New(t.Context(), c)
	require.NoError(t, err)
	t.Cleanup(func() { s3client.CloseIdle(client) })
	ref := lake.Ref{Endpoint: endpoint, Bucket: c.Bucket, Prefix: testRef.Prefix, PathStyle: true}
	return backend{lake.NewS3(client, lake.S3Options{Settings: c}), leases3.New(client, c.Bucket, partition.LeasePrefix(ref.Prefix)), ref}
}

// fleet commits the windows of all replicas at once, one replica a window or
// two at a time.
func fleet(t *testing.T, b backend, k kind) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	l := lake.New(b.bucket, b.ref)
	var work sync.WaitGroup
	for i := range fleetReplicas {
		work.Go(func() {
			writer := fmt.Sprintf("%caaaaaaaaaaaa", 'a'+i)
			leases := lease.NewParticipant(b.store, lease.Options{Holder: writer})
			defer leases.Close()
			log := New(l, leases, testID, Options{Holder: writer, Turns: k == takesTurns || k == mixed && i > 0})
			var ws []Window
			for n := range fleetWindows {
				w, err := fleetWindow(ctx, l, writer, int64(n))
				if err != nil {
					t.Errorf("upload: %v", err)
					return
				}
				ws = append(ws, w)
			}
			for len(ws) > 0 {
				n, err := log.Commit(ctx, ws[:min(len(ws), 1+i%2)])
				ws = ws[n:]
				if err != nil {
					t.Logf("%s: %d, %v", writer, n, err)
				}
				if ctx.Err() != nil {
					t.Errorf("%s: %d windows left at the end of time", writer, len(ws))
					return
				}
			}
		})
	}
	work.Wait()
}

func fleetWindow(ctx context.Context, l *lake.Lake, writer string, n int64) (Window, error) {
	w := Window{
		ID: testID, Writer: writer, After: 10 * n, Start: 10*n + 1, End: 10*n + 10,
		Reason: "age", Format: "jsonl", Compression: "none", Schema: 1, Records: 1,
	}
	name := partition.ObjectName{Start: w.Start, End: w.End, Writer: writer, Ext: "jsonl"}
	key := laketest.ObjectKey(l.Prefix(), testID, name)
	body := lake.NewBody("text/plain", fmt.Appendf(nil, "%s %d\n", writer, n))
	for {
		o, err := l.PutObject(ctx, key, body, lake.ObjectMeta{Records: 1, Encoder: "test/1"})
		if err == nil {
			w.Objects, w.Bytes = []lake.Object{o}, o.Bytes
			return w, nil
		}
		if ctx.Err() != nil {
			return w, err
		}
	}
}

// judge copies the bucket and judges the copy; then the head is deleted, read
// again, and an orphan swept.
func (b backend) judge(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	ws, bad := judgeLog(b.download(t), b.ref.Prefix, testID, lake.Span)
	require.Empty(t, bad)
	require.Len(t, ws, fleetReplicas*fleetWindows)
	rows := map[string]int{}
	for _, w := range ws {
		for _, row := range w.rows {
			rows[row]++
		}
	}
	require.Len(t, rows, fleetReplicas*fleetWindows)

	name := partition.HeadName(b.ref.Bucket, b.ref.Prefix, testID)
	if rec, err := b.store.Get(ctx, name); !errors.Is(err, lease.ErrNotFound) {
		require.NoError(t, err)
		require.NoError(t, b.store.Delete(ctx, name, rec.Revision))
	}
	leases := lease.NewParticipant(b.store, lease.Options{})
	defer leases.Close()
	l := lake.New(b.bucket, b.ref)
	log := New(l, leases, testID, Options{})
	ends, err := log.Read(ctx)
	require.NoError(t, err)
	require.Equal(t, uint64(len(ws)), ends.K())
	end, _ := ends.End("aaaaaaaaaaaaa")
	require.Equal(t, int64(10*fleetWindows), end)

	orphan := laketest.ObjectKey(l.Prefix(), testID,
		partition.ObjectName{Start: 1, End: 25, Writer: "aaaaaaaaaaaaa", Ext: "jsonl"})
	_, err = l.PutObject(ctx, orphan, lake.NewBody("text/plain", []byte("x\n")), lake.ObjectMeta{Records: 1, Encoder: "test/1"})
	require.NoError(t, err)
	deleted, err := log.Sweep(ctx, "aaaaaaaaaaaaa")
	require.NoError(t, err)
	require.Equal(t, []string{orphan}, deleted)
	_, bad = judgeLog(b.download(t), b.ref.Prefix, testID, lake.Span)
	require.Empty(t, bad)
}

func (b backend) download(t *testing.T) *laketest.Memory {
	t.Helper()
	m := laketest.NewMemory()
	var keys []string
	require.NoError(t, b.bucket.List(t.Context(), "", "", func(i lake.Info) error {
		keys = append(keys, i.Key)
		return nil
	}))
	for _, key := range keys {
		r, _, err := b.bucket.Open(t.Context(), key)
		require.NoError(t, err)
		content, err := io.ReadAll(r)
		require.NoError(t, err)
		require.NoError(t, r.Close())
		m.Set(key, content)
	}
	return m
}
