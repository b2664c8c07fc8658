package s3windowexporter

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/otel/attribute"
	"google.golang.org/grpc/codes"

	"github.com/s3window/s3window/exporter/s3windowexporter/internal/metadatatest"
)

// disable has the tenant disabled.
func (r *rig) disable(tenant, otherwise string) {
	r.tenant(tenant, func(s *TenantSettings) { s.Enabled, s.OnDisabled = false, otherwise })
}

func TestDisabledTenants(t *testing.T) {
	r := newRig(t)
	r.cfg.Telemetry.PerTenant = true
	r.disable("refused", "refuse")
	r.disable("dropped", "discard")
	tel := componenttest.NewTelemetry()
	set := metadatatest.NewSettings(tel)
	set.ID = settings().ID
	e := r.create(set)
	require.NoError(t, e.Start(t.Context(), r.host))
	for _, tenants := range [][]string{{"refused"}, {"acme", "refused"}, {"dropped", "acme", "refused"}} {
		err := e.ConsumeLogs(t.Context(), logs(1, tenants...))
		require.True(t, consumererror.IsPermanent(err))
		requireRefusal(t, err, codes.PermissionDenied, `tenant "refused" is not accepted`)
	}
	require.NoError(t, e.ConsumeLogs(t.Context(), logs(2, "dropped")))
	require.NoError(t, e.ConsumeLogs(t.Context(), logs(5, "dropped", "acme", "dropped")))
	r.awaitCommitted("acme", 5)
	assert.Zero(t, r.committed("refused"))
	assert.Zero(t, r.committed("dropped"))
	for outcome, want := range map[[2]string]int64{{"refused", "refused"}: 3, {"dropped", "refused"}: 1, {"dropped", "discarded"}: 12} {
		assert.Equal(t, want, counter(t, tel, "disabled_records", attribute.String("exporter", "s3window/test"),
			attribute.String("tenant", outcome[0]), attribute.String("outcome", outcome[1]), attribute.String("signal", "logs")), "%v", outcome)
	}
	r.shutdown(e)
	require.NoError(t, tel.Shutdown(context.Background()))
}

// Records that cannot be accepted are not counted as dropped: they come again.
func TestDiscardsAreCountedOnce(t *testing.T) {
	r := newOfflineRig(t, "http://127.0.0.1:1")
	r.disable("dropped", "discard")
	tel := componenttest.NewTelemetry()
	set := metadatatest.NewSettings(tel)
	set.ID = settings().ID
	e := r.create(set)
	require.NoError(t, e.Start(t.Context(), r.host))
	r.storage.set(context.DeadlineExceeded)
	require.Error(t, e.ConsumeLogs(t.Context(), logs(1, "acme", "dropped")))
	r.storage.set(nil)
	require.NoError(t, e.ConsumeLogs(t.Context(), logs(1, "acme", "dropped")))
	assert.EqualValues(t, 1, counter(t, tel, "disabled_records", attribute.String("exporter", "s3window/test"),
		attribute.String("outcome", "discarded"), attribute.String("signal", "logs")))
	r.shutdown(e)
	require.NoError(t, tel.Shutdown(context.Background()))
}

// What was accepted of a tenant before it was disabled is committed; the
// bucket of one that is owed nothing is left alone.
func TestDisabledTenantsAreOwedWhatWasAccepted(t *testing.T) {
	r := newRig(t)
	for _, tenant := range []string{"acme", "idle"} {
		r.tenant(tenant, func(s *TenantSettings) { s.S3.Bucket = r.server.NewBucket(t) })
	}
	r.bucketDown()
	e := r.start()
	require.NoError(t, e.ConsumeLogs(t.Context(), logs(4, "acme")))
	r.shutdown(e)
	r.proxy.Heal()
	r.host.events = nil
	for name, tenant := range r.cfg.Tenants {
		tenant.Enabled = false
		r.cfg.Tenants[name] = tenant
	}
	e = r.start()
	requireRefusal(t, e.ConsumeLogs(t.Context(), logs(4, "acme")), codes.PermissionDenied, `tenant "acme" is not accepted`)
	r.awaitCommitted("acme", 4)
	r.await(func() bool {
		s, _ := r.host.last()
		return s == componentstatus.StatusOK || s == componentstatus.StatusNone
	})
	for _, seen := range r.proxy.Seen() {
		assert.False(t, strings.HasPrefix(seen.Path, "/"+r.cfg.Tenants["idle"].S3.Bucket), "%v", seen)
	}
	r.shutdown(e)
}

// A tenant's limits are its own.
func TestTenantsLimits(t *testing.T) {
	r := newRig(t)
	r.cfg.Flush.MaxAge = time.Minute
	r.tenant("hasty", func(s *TenantSettings) { s.Flush.MaxAge = 100 * time.Millisecond })
	e := r.start()
	require.NoError(t, e.ConsumeLogs(t.Context(), logs(2, "hasty", "patient")))
	r.awaitCommitted("hasty", 2)
	assert.Zero(t, r.committed("patient"))
	r.shutdown(e)
}
