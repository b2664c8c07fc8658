package s3windowexporter

import (
	"context"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/config/configopaque"
	"go.uber.org/zap"
	zapobserver "go.uber.org/zap/zaptest/observer"

	"github.com/s3window/s3window/extension/leaseextension/lease"
	"github.com/s3window/s3window/extension/leaseextension/lease/memory"
	"github.com/s3window/s3window/internal/partition"
	"github.com/s3window/s3window/testbed/s3test"
)

// tenant gives the tenant settings that change makes of the exporter's. The
// configuration is a new one, as after an edit and a restart.
func (r *rig) tenant(name string, change func(*TenantSettings)) {
	cfg := *r.cfg
	cfg.Tenants = maps.Clone(cfg.Tenants)
	if cfg.Tenants == nil {
		cfg.Tenants = map[string]TenantSettings{}
	}
	t := cfg.common()
	change(&t)
	cfg.Tenants[name] = t
	r.cfg = &cfg
}

// forbid has every request for the bucket refused.
func (r *rig) forbid(bucket string) {
	r.proxy.Break(s3test.Rule{Key: "^/" + bucket + "(/|$)", Do: s3test.Answer, Status: 403})
}

func (r *rig) awaitStatus(want componentstatus.Status) {
	r.t.Helper()
	r.await(func() bool { s, _ := r.host.last(); return s == want })
}

// Three tenants in three buckets: one of the exporter's, one on another server
// with keys that no other takes, and one that is forbidden. The others do not
// wait for it, and it is committed when it is allowed.
func TestTenantsHaveLakesOfTheirOwn(t *testing.T) {
	r := newRig(t)
	other := s3test.Start(t)
	r.tenant("acme", func(s *TenantSettings) {
		s.S3.Endpoint, s.S3.Bucket, s.S3.Prefix = other.Endpoint, other.NewBucket(t), "otel"
		s.S3.AccessKeyID, s.S3.SecretAccessKey = other.AccessKey, configopaque.String(other.SecretKey)
	})
	r.tenant("beta", func(s *TenantSettings) { s.S3.Bucket = r.server.NewBucket(t) })
	bucket := r.cfg.Tenants["beta"].S3.Bucket
	r.forbid(bucket)
	e := r.start()
	require.NoError(t, e.ConsumeLogs(t.Context(), logs(3, "acme", "beta", "gamma")))
	r.awaitCommitted("acme", 3)
	r.awaitCommitted("gamma", 3)
	require.NoError(t, e.ConsumeLogs(t.Context(), logs(2, "acme", "beta", "gamma")))
	r.awaitCommitted("acme", 5)
	r.awaitCommitted("gamma", 5)
	r.await(func() bool {
		_, err := r.host.last()
		return err != nil && strings.Contains(err.Error(), `check bucket "`+bucket+`" of tenant "beta": 403 AccessDenied`) &&
			strings.Contains(err.Error(), `1 partitions wait, tenant "beta"`)
	})
	for _, seen := range r.proxy.Seen() {
		assert.NotContains(t, seen.Path, "tenant=acme", "it has its own bucket, for objects, manifests and leases")
		if strings.Contains(seen.Path, "/_s3window/leases/") {
			assert.Contains(t, seen.Path, "/"+r.cfg.S3.Bucket+"/", "and so have the others")
		}
	}
	require.Zero(t, r.committed("beta"))
	r.proxy.Heal()
	r.awaitCommitted("beta", 5)
	r.awaitStatus(componentstatus.StatusOK)

	r.forbid(bucket) // after it was proven
	require.NoError(t, e.ConsumeLogs(t.Context(), logs(1, "acme", "beta", "gamma")))
	r.awaitCommitted("acme", 6)
	r.awaitCommitted("gamma", 6)
	r.awaitStatus(componentstatus.StatusRecoverableError)
	_, err := r.host.last()
	require.ErrorContains(t, err, `tenant "beta"`)
	r.proxy.Heal()
	r.awaitCommitted("beta", 6)
	r.awaitStatus(componentstatus.StatusOK)
	r.shutdown(e)
}

// A tenant's bucket that hangs holds up neither the start nor the others.
func TestTenantBucketHangs(t *testing.T) {
	r := newRig(t)
	r.cfg.S3.Timeout = 30 * time.Second
	r.tenant("acme", func(s *TenantSettings) { s.S3.Bucket = r.server.NewBucket(t) })
	r.proxy.Break(s3test.Rule{Method: "PUT", Key: "^/" + r.cfg.Tenants["acme"].S3.Bucket, Do: s3test.Hang})
	begin := time.Now()
	e := r.start()
	require.NoError(t, e.ConsumeLogs(t.Context(), logs(1, "acme", "beta")))
	r.awaitCommitted("beta", 1)
	assert.Less(t, time.Since(begin), 10*time.Second)
	r.shutdown(e)
}

// What one tenant's store cannot do is that tenant's trouble alone.
func TestTenantsUnconditionalStoreIsRefused(t *testing.T) {
	store := startUnconditionalStore(t)
	r := newRig(t)
	r.tenant("acme", func(s *TenantSettings) { s.S3.Endpoint = store.URL })
	core, logged := zapobserver.New(zap.WarnLevel)
	set := settings()
	set.Logger = zap.New(core)
	e := r.create(set)
	require.NoError(t, e.Start(t.Context(), r.host))
	require.NoError(t, e.ConsumeLogs(t.Context(), logs(1, "acme", "beta")))
	r.awaitCommitted("beta", 1)
	r.awaitStatus(componentstatus.StatusRecoverableError)
	r.await(func() bool {
		_, err := r.host.last()
		return strings.Contains(err.Error(), `of tenant "acme": the store does not honour If-None-Match`) &&
			strings.Contains(err.Error(), `1 partitions wait, tenant "acme"`)
	})
	assert.Equal(t, 1, logged.FilterMessageSnippet("Bucket cannot be used").Len())
	r.shutdown(e)
	for _, path := range store.puts {
		assert.Contains(t, path, "/_s3window/probe/")
	}
}

// What an earlier configuration accepted for a tenant is committed under the
// new one, once, wherever its windows were sealed for.
func TestTenantBucketChangesInTheConfiguration(t *testing.T) {
	r := newRig(t)
	var lakes []S3Config
	committed := func() (n int64) {
		for _, at := range lakes {
			at.Endpoint = r.server.Endpoint
			n += r.committedIn(at, "acme")
		}
		return n
	}
	var want int64
	for _, move := range []func(*TenantSettings){
		func(s *TenantSettings) {}, // the exporter's
		func(s *TenantSettings) { s.S3.Bucket = r.server.NewBucket(t) },
		func(s *TenantSettings) { s.S3.Bucket, s.S3.Prefix = r.server.NewBucket(t), "otel" },
		func(s *TenantSettings) {},
	} {
		r.tenant("acme", move)
		if at := r.cfg.Tenants["acme"].S3; len(lakes) == 0 || at != lakes[0] {
			lakes = append(lakes, at)
		}
		e := r.start()
		require.NoError(t, e.ConsumeLogs(t.Context(), logs(2, "acme", "beta")))
		want += 2
		r.await(func() bool { return committed() >= want })
		r.awaitCommitted("beta", want)
		r.bucketDown()
		require.NoError(t, e.ConsumeLogs(t.Context(), logs(3, "acme", "beta")))
		r.awaitStatus(componentstatus.StatusRecoverableError)
		require.NoError(t, e.ConsumeLogs(t.Context(), logs(4, "acme", "beta")))
		want += 7
		r.shutdown(e)
		r.proxy.Heal()
		r.host.events = nil
	}
	e := r.start()
	r.await(func() bool { return committed() >= want })
	r.awaitCommitted("beta", want)
	r.shutdown(e)
	assert.Equal(t, want, committed())
	for _, at := range lakes {
		at.Endpoint = r.server.Endpoint
		assert.Positive(t, r.committedIn(at, "acme"), "%v", at.ref())
	}
}

// One store of leases serves all buckets: names in it differ by bucket.
func TestTenantsShareTheLeaseExtension(t *testing.T) {
	r := newRig(t)
	id := component.MustNewID("lease")
	r.cfg.Lease = &id
	own := &leases{Participant: lease.NewParticipant(memory.New(), lease.Options{})}
	defer own.Close()
	r.host.extensions[id] = own
	r.tenant("acme", func(s *TenantSettings) { s.S3.Bucket = r.server.NewBucket(t) })
	e := r.start()
	require.NoError(t, e.ConsumeLogs(t.Context(), logs(1, "acme", "beta")))
	r.awaitCommitted("acme", 1)
	r.awaitCommitted("beta", 1)
	r.shutdown(e)
	for tenant, bucket := range map[string]string{"acme": r.cfg.Tenants["acme"].S3.Bucket, "beta": r.cfg.S3.Bucket} {
		state, err := own.Read(context.Background(), partition.HeadName(bucket, "", partition.ID{Sink: "default", Tenant: tenant, Signal: partition.Logs}))
		require.NoError(t, err)
		assert.Contains(t, string(state), `"k":1`)
	}
}
