package s3windowexporter

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/exporter"
	"go.uber.org/zap"
	zapobserver "go.uber.org/zap/zaptest/observer"

	"github.com/s3window/s3window/internal/wal"
)

func TestStartErrorsSayWhatToDo(t *testing.T) {
	id := component.MustNewIDWithName("lease", "etcd")
	for name, c := range map[string]struct {
		prepare func(*rig)
		want    string
	}{
		"no storage extension": {
			func(r *rig) { r.host.extensions = nil },
			"`sending_queue::storage` (file_storage) names no running extension: configure it under `extensions` and list it in `service::extensions`",
		},
		"not a storage extension": {
			func(r *rig) { r.host.extensions[storageID()] = struct{ component.Component }{} },
			"`sending_queue::storage` (file_storage) is not a storage extension: name one such as file_storage",
		},
		"storage is taken": {
			func(r *rig) { r.storage.refuse = errors.New("timeout") },
			"`sending_queue::storage` (file_storage) gives no storage: timeout: check that it can be written, and that no other collector uses it",
		},
		"storage fails": {
			func(r *rig) { r.storage.fail = errors.New("disk is gone") },
			"`sending_queue::storage` (file_storage): open queue: ",
		},
		"no lease extension": {
			func(r *rig) { r.cfg.Lease = &id },
			"`lease` (lease/etcd) names no running extension: configure it under `extensions` and list it in `service::extensions`",
		},
		"not a lease extension": {
			func(r *rig) { r.cfg.Lease = &id; r.host.extensions[id] = r.storage },
			"`lease` (lease/etcd) is not a lease extension: name one, or leave it out for leases in the bucket",
		},
		"crash point": {
			func(r *rig) { r.t.Setenv(crashVariable, ":0") },
			`read S3WINDOW_CRASH_AT (":0"): must be the label of a step, or a label and how often it is passed, such as wal:seal:3`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newOfflineRig(t, "http://127.0.0.1:1")
			c.prepare(r)
			e := r.create(settings())
			require.ErrorContains(t, e.Start(t.Context(), r.host), c.want)
			require.ErrorIs(t, e.ConsumeLogs(t.Context(), logs(1, "a")), errNotStarted)
			r.storage.set(nil)
			r.shutdown(e)
			_, open := r.storage.opens()
			assert.Zero(t, open, "a start that failed leaves nothing open")
		})
	}
}

func TestShutdownAtTheEndOfItsTime(t *testing.T) {
	r := newRig(t)
	r.cfg.Flush.ShutdownGrace = time.Minute
	e := r.start()
	require.NoError(t, e.ConsumeLogs(t.Context(), logs(1, "a")))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	require.NoError(t, e.Shutdown(ctx), "what is left is in the queue")
	e = r.start()
	r.awaitCommitted("a", 1)
	r.shutdown(e)
}

// What an earlier configuration accepted is committed under the new one, once,
// wherever its windows were sealed for.
func TestBucketChangesInTheConfiguration(t *testing.T) {
	r := newRig(t)
	old := r.cfg.S3.Bucket
	e := r.start()
	require.NoError(t, e.ConsumeLogs(t.Context(), logs(2, "a")))
	r.awaitCommitted("a", 2)
	r.bucketDown()
	require.NoError(t, e.ConsumeLogs(t.Context(), logs(3, "a")))
	r.await(func() bool { s, _ := r.host.last(); return s == componentstatus.StatusRecoverableError })
	require.NoError(t, e.ConsumeLogs(t.Context(), logs(4, "a")))
	r.shutdown(e)
	r.proxy.Heal()

	changed := *r.cfg
	changed.S3.Bucket = r.server.NewBucket(t)
	r.cfg = &changed
	e = r.start()
	require.NoError(t, e.ConsumeLogs(t.Context(), logs(5, "a")))
	both := func() int64 {
		n := r.committed("a")
		before := changed
		before.S3.Bucket = old
		r.cfg = &before
		defer func() { r.cfg = &changed }()
		return n + r.committed("a")
	}
	r.await(func() bool { return both() >= 14 })
	assert.EqualValues(t, 14, both())
	r.shutdown(e)
}

func TestOtherSinkUnderThePrefixIsNoticed(t *testing.T) {
	for _, name := range []string{"alpha", "omega", "main-2"} { // before, behind, and one that begins like it
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.cfg.Sink = name
			e := r.start()
			require.NoError(t, e.ConsumeLogs(t.Context(), logs(1, "a")))
			r.awaitCommitted("a", 1)
			r.shutdown(e)

			core, logged := zapobserver.New(zap.WarnLevel)
			mine := *r.cfg
			mine.Sink = "main"
			r.cfg = &mine
			for range 2 { // the second time beside windows of its own
				set := settings()
				set.Logger = zap.New(core)
				e := r.create(set)
				require.NoError(t, e.Start(t.Context(), r.host))
				require.NoError(t, e.ConsumeLogs(t.Context(), logs(1, "b")))
				r.await(func() bool { return logged.FilterField(zap.String("other_sink", name)).Len() > 0 })
				logged.TakeAll()
				r.await(func() bool { return r.committed("b") > 0 })
				r.shutdown(e)
			}
		})
	}
}

func TestShutdownWithoutStart(t *testing.T) {
	r := newOfflineRig(t, "http://127.0.0.1:1")
	e := r.create(settings())
	require.ErrorIs(t, e.ConsumeLogs(t.Context(), logs(1, "a")), errNotStarted)
	r.shutdown(e)
}

// Two signals of one exporter share one core: it starts with the first and
// stops with the last.
func TestSignalsShareOneCore(t *testing.T) {
	r := newRig(t)
	first, second := r.create(settings()), r.create(settings())
	other := &host{extensions: r.host.extensions}
	require.NoError(t, first.Start(t.Context(), r.host))
	require.NoError(t, second.Start(t.Context(), other))
	names, _ := r.storage.opens()
	assert.Equal(t, []string{"s3window/test/wal"}, names, "one queue is open")

	require.NoError(t, first.ConsumeLogs(t.Context(), logs(1, "a")))
	r.shutdown(first)
	r.shutdown(first) // again: it counts once
	require.NoError(t, second.ConsumeLogs(t.Context(), logs(1, "a")))
	r.awaitCommitted("a", 2)

	r.bucketDown()
	require.NoError(t, second.ConsumeLogs(t.Context(), logs(1, "a")))
	r.await(func() bool { s, _ := other.last(); return s == componentstatus.StatusRecoverableError })
	assert.Equal(t, r.host.statuses(), other.statuses(), "both are told")
	r.shutdown(second)
	require.ErrorIs(t, second.ConsumeLogs(t.Context(), logs(1, "a")), wal.ErrClosed)
	_, open := r.storage.opens()
	assert.Zero(t, open)
}

func TestExportersOfOtherIDsShareNothing(t *testing.T) {
	r := newOfflineRig(t, "http://127.0.0.1:1")
	set := settings()
	a := r.create(set)
	set.ID = component.MustNewIDWithName("s3window", "other")
	other := *r.cfg
	r.cfg = &other
	r.cfg.S3.Prefix = "other"
	b := r.create(set)
	for _, e := range []exporter.Logs{a, b} {
		require.NoError(t, e.Start(t.Context(), r.host))
		defer r.shutdown(e)
	}
	names, _ := r.storage.opens()
	assert.Equal(t, []string{"s3window/test/wal", "s3window/other/wal"}, names)
}

// Two exporters of one process that would write the same records twice are
// refused; those of other signals, sinks or prefixes are not, and a reload that
// stops one first is none.
func TestTwinsAreRefused(t *testing.T) {
	r := newOfflineRig(t, "http://127.0.0.1:1")
	twin := func(name string, change func(*Config)) exporter.Logs {
		cfg := *r.cfg
		change(&cfg)
		set := settings()
		set.ID = component.MustNewIDWithName("s3window", name)
		e, err := r.factory.CreateLogs(t.Context(), set, &cfg)
		require.NoError(t, err)
		return e
	}
	const refused = "exporters \"s3window/twin\" and \"s3window/first\" both write to "
	first := twin("first", func(*Config) {})
	require.NoError(t, first.Start(t.Context(), r.host))
	for name, c := range map[string]struct {
		change func(*Config)
		want   string
	}{
		"the same":               {func(*Config) {}, refused + `"lake" with ` + "`sink` (\"default\")"},
		"another region":         {func(c *Config) { c.S3.Region = "eu-1" }, refused},
		"its tenant's lake":      {func(c *Config) { c.Tenants = tenantIn(c, c.S3); c.S3.Prefix = "other" }, refused},
		"another prefix":         {func(c *Config) { c.S3.Prefix = "other" }, ""},
		"another bucket":         {func(c *Config) { c.S3.Bucket = "other" }, ""},
		"another store":          {func(c *Config) { c.S3.Endpoint = "http://127.0.0.1:2" }, ""},
		"another sink, as asked": {func(c *Config) { c.Sink = "other" }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			e := twin("twin", c.change)
			err := e.Start(t.Context(), r.host)
			r.shutdown(e)
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.want)
			_, open := r.storage.opens()
			assert.Equal(t, 1, open, "of the first alone")
		})
	}
	set := settings()
	set.ID = component.MustNewIDWithName("s3window", "traces")
	traces, err := r.factory.CreateTraces(t.Context(), set, r.cfg)
	require.NoError(t, err)
	require.NoError(t, traces.Start(t.Context(), r.host), "nothing is written by both")
	require.NoError(t, traces.Shutdown(t.Context()))
	r.shutdown(first)
	again := twin("twin", func(*Config) {})
	require.NoError(t, again.Start(t.Context(), r.host))
	r.shutdown(again)
}

// tenantIn is a tenant whose lake is at.
func tenantIn(c *Config, at S3Config) map[string]TenantSettings {
	acme := c.common()
	acme.S3 = at
	return map[string]TenantSettings{"acme": acme}
}
