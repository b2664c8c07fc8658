package s3windowexporter

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/otel/attribute"
	"go.uber.org/zap"
	zapobserver "go.uber.org/zap/zaptest/observer"

	"github.com/s3window/s3window/exporter/s3windowexporter/internal/metadatatest"
	"github.com/s3window/s3window/internal/partition"
	"github.com/s3window/s3window/testbed/s3test"
)

// sealedAndQueued leaves a window of n sealed records of a tenant in the queue,
// and as many records that are in no window.
func (r *rig) sealedAndQueued(tenant string, n int) {
	r.t.Helper()
	age := r.cfg.Flush.MaxAge
	e := r.start()
	r.proxy.Break(s3test.Rule{Key: "/w-", Do: s3test.Answer, Status: 500})
	require.NoError(r.t, e.ConsumeLogs(r.t.Context(), logs(n, tenant)))
	r.awaitTrouble("500 InternalError")
	r.shutdown(e)
	r.cfg.Flush.MaxAge = 10 * time.Minute
	e = r.start()
	require.NoError(r.t, e.ConsumeLogs(r.t.Context(), logs(n, tenant)))
	r.shutdown(e)
	r.cfg.Flush.MaxAge = age
	r.proxy.Heal()
}

// docs/fleet.md: where `s3::prefix` changes with a full queue, windows that are
// sealed are finished in the old place, and queued records that are in no sealed
// window go to the new one.
func TestPrefixIsChangedWithAFullQueue(t *testing.T) {
	r := newRig(t)
	r.cfg.S3.Prefix = "eu"
	r.sealedAndQueued("a", 3)
	old := r.cfg.S3
	old.Endpoint = r.server.Endpoint
	changed := *r.cfg
	changed.S3.Prefix = "us"
	r.cfg = &changed
	e := r.start()
	r.awaitCommitted("a", 3)
	r.await(func() bool { return r.committedIn(old, "a") == 3 })
	require.NoError(t, e.ConsumeLogs(t.Context(), logs(1, "a")))
	r.awaitCommitted("a", 4)
	assert.EqualValues(t, 3, r.committedIn(old, "a"))
	r.shutdown(e)
}

// The process is killed with records queued, and the next one has another
// `s3::endpoint`, while the old one is gone: who owes nothing there goes on.
func TestEndpointIsChangedWhileTheOldOneIsGone(t *testing.T) {
	r := newRig(t)
	r.sealedAndQueued("owes", 2)
	gone := *r.cfg
	gone.S3.Endpoint = "http://127.0.0.1:1"
	old := r.cfg
	r.cfg = &gone
	e := r.start() // the queue was last used with what is gone now
	require.NoError(t, e.ConsumeLogs(t.Context(), logs(1, "owes too")))
	r.shutdown(e)
	r.cfg = old
	r.host.events = nil
	e = r.start()
	require.NoError(t, e.ConsumeLogs(t.Context(), logs(5, "new")))
	r.awaitCommitted("new", 5)
	r.awaitTrouble(`2 partitions wait, tenant "owes"`, "connection refused")
	require.NoError(t, e.ConsumeLogs(t.Context(), logs(5, "new")))
	r.awaitCommitted("new", 10)
	for _, tenant := range []string{"owes", partition.Tenant("owes too")} {
		assert.Zero(t, r.committed(tenant), "the place that is gone may have it")
	}
	r.shutdown(e)
}

// An operator parks what is queued for a tenant, and then drops it: both are
// said, and no queue has to be deleted. Others go on, and what comes later.
func TestBacklogIsParkedAndDropped(t *testing.T) {
	r := newRig(t)
	r.tenant("acme", func(s *TenantSettings) { s.S3.Bucket = "gone" })
	start := func() (e interface {
		Shutdown(ctx context.Context) error
	}, consume func(n int, tenants ...string), logged *zapobserver.ObservedLogs, lost func() int64) {
		core, logged := zapobserver.New(zap.WarnLevel)
		tel := componenttest.NewTelemetry()
		set := metadatatest.NewSettings(tel)
		set.ID, set.Logger = settings().ID, zap.New(core)
		x := r.create(set)
		require.NoError(t, x.Start(t.Context(), r.host))
		consume = func(n int, tenants ...string) { require.NoError(t, x.ConsumeLogs(t.Context(), logs(n, tenants...))) }
		lost = func() int64 {
			return counter(t, tel, "lost_records", attribute.String("exporter", "s3window/test"), attribute.String("signal", "logs"))
		}
		return x, consume, logged, lost
	}
	e, consume, _, _ := start()
	consume(3, "acme", "beta")
	r.awaitCommitted("beta", 3)
	r.awaitTrouble(`tenant "acme"`, "NoSuchBucket")
	require.NoError(t, e.Shutdown(context.Background()))

	r.tenant("acme", func(s *TenantSettings) { s.S3.Bucket, s.Backlog.Park = "gone", true })
	e, consume, logged, _ := start()
	consume(1, "acme", "beta")
	r.awaitCommitted("beta", 4)
	r.await(func() bool {
		return logged.FilterMessageSnippet("left in the queue, as the configuration says").FilterField(zap.String("tenant", "acme")).Len() == 1
	})
	require.NoError(t, e.Shutdown(context.Background()))

	r.host.events = nil
	bucket := r.server.NewBucket(t)
	r.tenant("acme", func(s *TenantSettings) {
		s.S3.Bucket, s.Backlog.DropBefore = bucket, time.Now().UTC().Format(time.RFC3339Nano)
	})
	e, consume, logged, lost := start()
	r.await(func() bool { return lost() == 4 })
	assert.Equal(t, 1, logged.FilterMessageSnippet("are dropped, as the configuration says").FilterField(zap.String("tenant", "acme")).Len())
	consume(2, "acme", "beta")
	r.awaitCommitted("beta", 6)
	r.awaitCommitted("acme", 2)
	require.NoError(t, e.Shutdown(context.Background()))
	s, _ := r.host.last()
	assert.NotEqual(t, componentstatus.StatusRecoverableError, s)
}
