package s3windowexporter

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.uber.org/zap"
	zapobserver "go.uber.org/zap/zaptest/observer"

	"github.com/s3window/s3window/exporter/s3windowexporter/internal/metadatatest"
	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/testbed/s3test"
)

// The status names the buckets that do not answer and whose they are, a few of
// them, and tells of each change of a reason once.
func TestBucketChecksAreSummed(t *testing.T) {
	s := &status{logger: zap.NewNop()}
	h := &host{}
	s.join(h)
	b := newBucketChecks(&core{status: s})
	at := func(i int, tenants ...string) *gate {
		g := &gate{tenants: tenants}
		g.settings.Bucket = fmt.Sprintf("lake-%d", i)
		return g
	}
	last := func() string {
		_, err := h.last()
		return errors.Join(err).Error()
	}
	gates := []*gate{at(0), at(1, "acme"), at(2, "a", "b", "c", "d", "e"), at(3, "f"), at(4, "g")}
	assert.True(t, b.report(gates[0], "403 AccessDenied"))
	assert.False(t, b.report(gates[0], "403 AccessDenied"))
	assert.Equal(t, `check bucket "lake-0": 403 AccessDenied`, last())
	assert.True(t, b.report(gates[1], "read 127.0.0.1:1: reset"))
	assert.False(t, b.report(gates[1], "read 127.0.0.1:2: reset"))
	assert.True(t, b.report(gates[2], "404 NoSuchBucket"))
	assert.True(t, b.report(gates[3], "404 NoSuchBucket"))
	assert.True(t, b.report(gates[4], "404 NoSuchBucket"))
	assert.Equal(t, "check bucket \"lake-0\": 403 AccessDenied\ncheck bucket \"lake-1\" of tenant \"acme\": read 127.0.0.1:1: reset\n"+
		"check bucket \"lake-2\" of tenant \"a\", \"b\", \"c\", 2 more: 404 NoSuchBucket\ncheck 2 more buckets", last())
	b.report(gates[0], "")
	b.report(gates[2], "")
	b.report(gates[4], "")
	assert.Equal(t, "check bucket \"lake-1\" of tenant \"acme\": read 127.0.0.1:1: reset\ncheck bucket \"lake-3\" of tenant \"f\": 404 NoSuchBucket", last())
	b.report(gates[1], "")
	b.report(gates[3], "")
	_, err := h.last()
	assert.NoError(t, err)
	before := len(h.statuses())
	b.report(gates[0], "")
	assert.Len(t, h.statuses(), before, "nothing new")
}

// ready is the gauge of whether every bucket can be used.
func ready(t *testing.T, tel *componenttest.Telemetry) int64 {
	t.Helper()
	m, err := tel.GetMetric("otelcol_exporter_s3window_bucket_ready")
	require.NoError(t, err)
	return m.Data.(metricdata.Gauge[int64]).DataPoints[0].Value
}

func retriesOf(t *testing.T, tel *componenttest.Telemetry, operation string) int64 {
	t.Helper()
	return counter(t, tel, "retries", attribute.String("exporter", "s3window/test"), attribute.String("operation", operation))
}

// Whether the buckets can be used is a gauge, and every check that went wrong
// counts, also while nothing is to be written.
func TestBucketsAreReady(t *testing.T) {
	r := newRig(t)
	r.tenant("acme", func(s *TenantSettings) { s.S3.Bucket = r.server.NewBucket(t) })
	r.proxy.Break(s3test.Rule{Key: "^/" + r.cfg.S3.Bucket + "/", Do: s3test.Answer, Status: 404, Code: "NoSuchBucket"})
	tel := componenttest.NewTelemetry()
	set := metadatatest.NewSettings(tel)
	set.ID = settings().ID
	e := r.create(set)
	require.NoError(t, e.Start(t.Context(), r.host))
	r.await(func() bool { return retriesOf(t, tel, "probe") > 2 })
	assert.Zero(t, ready(t, tel))
	r.awaitTrouble("check bucket", "NoSuchBucket")
	r.proxy.Heal()
	r.await(func() bool { return ready(t, tel) == 1 })
	r.shutdown(e)

	r.host.events = nil
	r.forbid(r.cfg.Tenants["acme"].S3.Bucket)
	tel = componenttest.NewTelemetry()
	set = metadatatest.NewSettings(tel)
	set.ID = settings().ID
	e = r.create(set)
	require.NoError(t, e.Start(t.Context(), r.host))
	r.awaitTrouble("of tenant \"acme\": 403")
	assert.Zero(t, ready(t, tel), "one of two")
	r.shutdown(e)
}

func TestRequiredBucket(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(*rig)
		want    string
	}{
		"missing": {
			func(r *rig) { r.cfg.S3.Bucket = "typo" },
			"`require_bucket` (true): bucket \"typo\" cannot be used: 404 NoSuchBucket",
		},
		"forbidden": {
			func(r *rig) { r.forbid(r.cfg.S3.Bucket) },
			"cannot be used: 403 AccessDenied",
		},
		"down": {func(r *rig) { r.bucketDown() }, "cannot be used: 500 InternalError"},
		"another layout": {
			func(r *rig) {
				at := r.cfg.S3
				at.Endpoint = r.server.Endpoint
				l, done := r.lakeAt(at)
				defer done()
				require.NoError(r.t, l.PutLayouts(r.t.Context(), lake.Layouts{
					Version: 1, Sink: "default", Layouts: []lake.Layout{{Align: "day", Time: "received", Format: "parquet"}},
				}, ""))
			},
			"cannot be used: set `layout: adopt`",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.cfg.RequireBucket = true
			c.prepare(r)
			e := r.create(settings())
			require.ErrorContains(t, e.Start(t.Context(), r.host), c.want)
			_, open := r.storage.opens()
			assert.Zero(t, open, "a start that failed leaves nothing open")
			r.shutdown(e)
		})
	}
	t.Run("there", func(t *testing.T) {
		r := newRig(t)
		r.cfg.RequireBucket = true
		r.tenant("acme", func(s *TenantSettings) { s.S3.Bucket = "typo" })
		e := r.start()
		require.NoError(t, e.ConsumeLogs(t.Context(), logs(1, "a")), "a tenant's bucket stops nobody else")
		r.awaitCommitted("a", 1)
		r.shutdown(e)
	})
	t.Run("silent", func(t *testing.T) {
		r := newRig(t)
		r.cfg.RequireBucket = true
		r.proxy.Break(s3test.Rule{Do: s3test.Hang})
		e := r.create(settings())
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		require.ErrorContains(t, e.Start(ctx, r.host), "cannot be used: it did not answer in time")
		r.shutdown(e)
	})
}

// Without the permission to delete objects everything goes on, and the log says
// what stays.
func TestDeletionsThatAreRefused(t *testing.T) {
	r := newRig(t)
	r.proxy.Break(s3test.Rule{Method: "DELETE", Do: s3test.Answer, Status: 403, Code: "AccessDenied"})
	core, logged := zapobserver.New(zap.WarnLevel)
	set := settings()
	set.Logger = zap.New(core)
	e := r.create(set)
	require.NoError(t, e.Start(t.Context(), r.host))
	for i := range int64(3) {
		require.NoError(t, e.ConsumeLogs(t.Context(), logs(1, "a")))
		r.awaitCommitted("a", i+1)
	}
	r.shutdown(e)
	assert.Equal(t, 1, logged.FilterMessageSnippet("grant s3:DeleteObject").Len())
	assert.Empty(t, r.host.statuses())
}

// A store that does not answer its first probe is in the status before the probe
// is given up.
func TestSilentBucket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &status{logger: zap.NewNop()}
		h := &host{}
		s.join(h)
		b := newBucketChecks(&core{status: s})
		g, other := &gate{}, &gate{}
		g.settings.Bucket, other.settings.Bucket = "slow", "fast"
		for _, one := range []*gate{g, other} {
			time.AfterFunc(silentFor, func() { b.silent(one) })
		}
		b.report(other, "")
		time.Sleep(silentFor - 1)
		assert.Empty(t, h.statuses())
		time.Sleep(2 * time.Nanosecond)
		synctest.Wait()
		_, err := h.last()
		require.EqualError(t, err, `check bucket "slow": the store has not answered yet`)
		b.report(g, "")
		_, err = h.last()
		assert.NoError(t, err)
	})
}
