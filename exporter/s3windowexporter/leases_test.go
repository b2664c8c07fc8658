package s3windowexporter

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.uber.org/zap"

	"github.com/s3window/s3window/exporter/s3windowexporter/internal/metadatatest"
	"github.com/s3window/s3window/extension/leaseextension"
	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/testbed/s3test"
)

// Leases that cannot be written are in the status within ten seconds, long
// before the commit gives up, and every try counts.
func TestLeasesThatAreRefused(t *testing.T) {
	r := newRig(t)
	tel := componenttest.NewTelemetry()
	set := metadatatest.NewSettings(tel)
	set.ID = settings().ID
	e := r.create(set)
	require.NoError(t, e.Start(t.Context(), r.host))
	r.await(func() bool { return ready(t, tel) == 1 })
	r.proxy.Break(s3test.Rule{Method: "PUT", Key: "/_s3window/leases/", Do: s3test.Answer, Status: 403})
	begun := time.Now()
	require.NoError(t, e.ConsumeLogs(t.Context(), logs(1, "a")))
	r.awaitTrouble("write leases in bucket", "403 AccessDenied")
	assert.Less(t, time.Since(begun), 10*time.Second)
	assert.Positive(t, retriesOf(t, tel, "lease"))
	r.proxy.Heal()
	r.awaitCommitted("a", 1)
	r.await(func() bool { _, err := r.host.last(); return err == nil })
	r.shutdown(e)
}

// One slip does not show, reading and writing are two things, and the store's
// own words are told once.
func TestLeaseTroubles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tel := componenttest.NewTelemetry()
		s := &status{logger: zap.NewNop()}
		h := &host{}
		s.join(h)
		o, err := newObserver(metadatatest.NewSettings(tel).TelemetrySettings, settings().ID, false, s)
		require.NoError(t, err)
		all := &leaseTroubles{observer: o, status: s}
		a, b := all.of(lake.Ref{Bucket: "a"}), all.of(lake.Ref{Bucket: "b"})
		refused := errors.New("403 AccessDenied")
		fail := func(tr *leaseTrouble, op string, d time.Duration) {
			for range d / time.Second {
				time.Sleep(time.Second)
				tr.request(op, 0, refused)
			}
		}
		fail(a, "put", 3*time.Second)
		assert.Empty(t, h.statuses())
		a.request("put", 0, leaseextension.ErrConflict) // an answer
		fail(a, "put", 3*time.Second)
		a.request("get", 0, nil)
		assert.Empty(t, h.statuses())
		fail(a, "put", 10*time.Second)
		_, err = h.last()
		require.EqualError(t, err, `write leases in bucket "a": 403 AccessDenied`)
		require.Len(t, h.statuses(), 1)
		a.request("get", 5*time.Second, refused) // it took so long
		_, err = h.last()
		require.EqualError(t, err, `read leases in bucket "a": 403 AccessDenied`)
		b.request("get", 5*time.Second, refused)
		_, err = h.last()
		require.EqualError(t, err, "read leases in bucket \"a\": 403 AccessDenied\nread leases in bucket \"b\": 403 AccessDenied")
		a.request("put", 0, nil)
		a.request("get", 0, leaseextension.ErrNotFound)
		b.request("get", 0, context.Canceled) // says nothing
		_, err = h.last()
		require.EqualError(t, err, `read leases in bucket "b": 403 AccessDenied`)
		b.request("get", 0, nil)
		_, err = h.last()
		require.NoError(t, err)
		assert.EqualValues(t, 18, retriesOf(t, tel, "lease"))
		require.NoError(t, tel.Shutdown(context.Background()))
	})
}
