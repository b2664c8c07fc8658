package s3windowexporter

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/client"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.uber.org/zap"
	zapobserver "go.uber.org/zap/zaptest/observer"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	grpcstatus "google.golang.org/grpc/status"

	"github.com/s3window/s3window/exporter/s3windowexporter/internal/metadatatest"
)

// requireRefusal says what a receiver answers with: a code, and a text that
// names no setting.
func requireRefusal(t *testing.T, err error, code codes.Code, text string) *grpcstatus.Status {
	t.Helper()
	s, ok := grpcstatus.FromError(err)
	require.True(t, ok, "%v", err)
	require.Equal(t, code, s.Code(), "%v", err)
	require.Contains(t, s.Message(), text)
	require.NotContains(t, s.Message(), "::")
	require.NotContains(t, s.Message(), "`")
	return s
}

// doorRig is an exporter without a bucket, whose log and metrics are kept.
type doorRig struct {
	*rig
	exporter.Logs
	logged *zapobserver.ObservedLogs
	tel    *componenttest.Telemetry
}

func newDoorRig(t *testing.T, change func(*Config)) *doorRig {
	t.Helper()
	r := &doorRig{rig: newOfflineRig(t, "http://127.0.0.1:1"), tel: componenttest.NewTelemetry()}
	change(r.cfg)
	set := metadatatest.NewSettings(r.tel)
	set.ID = settings().ID
	core, logged := zapobserver.New(zap.WarnLevel)
	set.Logger, r.logged = zap.New(core), logged
	r.Logs = r.create(set)
	require.NoError(t, r.Start(t.Context(), r.host))
	t.Cleanup(func() {
		r.shutdown(r.Logs)
		require.NoError(t, r.tel.Shutdown(context.Background()))
	})
	return r
}

func (r *doorRig) assertRefused(reason string, n int64) {
	r.t.Helper()
	assert.Equal(r.t, n, counter(r.t, r.tel, "refused_records", attribute.String("exporter", "s3window/test"),
		attribute.String("reason", reason), attribute.String("signal", "logs")), reason)
}

func (r *doorRig) assertDefaulted(n int64) {
	r.t.Helper()
	assert.Equal(r.t, n, counter(r.t, r.tel, "defaulted_records", attribute.String("exporter", "s3window/test"), attribute.String("signal", "logs")))
}

// entries is how much the queue holds.
func (r *doorRig) entries() int64 {
	r.t.Helper()
	m, err := r.tel.GetMetric("otelcol_exporter_s3window_wal_entries")
	require.NoError(r.t, err)
	return m.Data.(metricdata.Gauge[int64]).DataPoints[0].Value
}

// said counts the lines of the log that name a setting.
func (r *doorRig) said(setting string) int {
	return r.logged.FilterField(zap.String("setting", setting)).Len()
}

// from is the context of a request whose client is known by metadata, which may
// be nil, and by what an authenticator says.
func from(metadata map[string][]string, auth client.AuthData) context.Context {
	return client.NewContext(context.Background(), client.Info{Metadata: client.NewMetadata(metadata), Auth: auth})
}

type authData map[string]any

func (a authData) GetAttribute(name string) any { return a[name] }

func (a authData) GetAttributeNames() []string { return slices.Sorted(maps.Keys(a)) }

func TestOnMissing(t *testing.T) {
	attribute, metadata, auth := TenantRule{ResourceAttribute: "a"}, TenantRule{Metadata: "m"}, TenantRule{Auth: "s"}
	for _, c := range []struct {
		from []TenantRule
		set  string
		want bool
	}{
		{nil, "", false},
		{[]TenantRule{attribute}, "", false},
		{[]TenantRule{attribute, metadata}, "", true},
		{[]TenantRule{auth, attribute}, "", true},
		{[]TenantRule{metadata}, "default", false},
		{[]TenantRule{attribute}, "refuse", true},
	} {
		assert.Equal(t, c.want, (&TenantConfig{From: c.from, OnMissing: c.set}).refuses(), "%v %q", c.from, c.set)
	}
}

// Where a tenant is to come from the client and does not, nobody's records go to
// the default tenant, and the operator is told why it does not come.
func TestRecordsOfNobodyAreRefused(t *testing.T) {
	r := newDoorRig(t, func(c *Config) {
		c.Tenant.From = []TenantRule{{Metadata: "x-scope-orgid"}, {Auth: "subject"}}
	})
	for _, ctx := range []context.Context{context.Background(), from(nil, nil), from(map[string][]string{"x-scope-orgid": {""}}, authData{"subject": ""})} {
		err := r.ConsumeLogs(ctx, logs(5, "a"))
		require.True(t, consumererror.IsPermanent(err))
		requireRefusal(t, err, codes.PermissionDenied, "the request does not say whose its records are")
	}
	require.NoError(t, r.ConsumeLogs(from(map[string][]string{"X-Scope-OrgID": {"acme"}}, nil), logs(5, "a")))
	require.NoError(t, r.ConsumeLogs(from(nil, authData{"subject": "acme"}), logs(5, "a")))
	assert.EqualValues(t, 2, r.entries())
	r.assertRefused("missing", 15)
	assert.Equal(t, 1, r.said("tenant::on_missing (refuse)"), "once a minute")
	assert.Equal(t, 1, r.logged.FilterMessageSnippet("include_metadata: true").Len(), "said once")
	assert.Equal(t, 1, r.logged.FilterMessageSnippet("what an authenticator says").Len(), "said once")
	r.assertDefaulted(0)
}

// Records that the default tenant has for want of another are counted when they
// are accepted, and what is missing is said.
func TestDefaultedRecordsAreCounted(t *testing.T) {
	r := newDoorRig(t, func(c *Config) {
		c.Tenant.From, c.Tenant.OnMissing = []TenantRule{{Metadata: "x-scope-orgid"}, {ResourceAttribute: "tenant.id"}}, "default"
	})
	ld := plog.NewLogs()
	logs(2, "a").CopyTo(ld)
	ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
	r.storage.set(context.DeadlineExceeded)
	require.Error(t, r.ConsumeLogs(t.Context(), ld))
	r.storage.set(nil)
	require.NoError(t, r.ConsumeLogs(t.Context(), ld))
	require.NoError(t, r.ConsumeLogs(t.Context(), logs(3, "default")), "who names the default tenant is in no doubt")
	r.assertDefaulted(1)
	assert.Equal(t, 1, r.logged.FilterMessageSnippet("include_metadata: true").Len())
}

func TestKnownTenantsOnly(t *testing.T) {
	r := newDoorRig(t, func(c *Config) {
		c.Tenants = map[string]TenantSettings{"acme": c.common()}
		c.Tenant.KnownOnly, c.Tenant.OnMissing = true, "refuse"
	})
	require.NoError(t, r.ConsumeLogs(t.Context(), logs(1, "acme")))
	err := r.ConsumeLogs(t.Context(), logs(1, "acme", "other"))
	require.True(t, consumererror.IsPermanent(err))
	requireRefusal(t, err, codes.PermissionDenied, `tenant "other" is not accepted`)
	assert.EqualValues(t, 1, r.entries())
	r.assertRefused("unknown", 2)
	assert.Equal(t, 1, r.said("tenant::known_only (true)"))
}

// One small request that names thousands of tenants is refused whole, and leaves
// no room taken.
func TestOneRequestDoesNotMakeThousandsOfTenants(t *testing.T) {
	r := newDoorRig(t, func(*Config) {})
	names := make([]string, 3000)
	for i := range names {
		names[i] = fmt.Sprint("t", i)
	}
	err := r.ConsumeLogs(t.Context(), logs(1, names...))
	require.True(t, consumererror.IsPermanent(err), "it never fits")
	s := requireRefusal(t, err, codes.ResourceExhausted, "too many new tenants")
	assert.Empty(t, s.Details())
	assert.Zero(t, r.entries())
	r.assertRefused("new_tenants", 3000)
	assert.Equal(t, 1, r.said("tenant::max_new_per_minute (1000)"))
	require.NoError(t, r.ConsumeLogs(t.Context(), logs(1, names[:1000]...)))
	err = r.ConsumeLogs(t.Context(), logs(1, "one more"))
	assert.False(t, consumererror.IsPermanent(err), "it fits in a minute")
	s = requireRefusal(t, err, codes.ResourceExhausted, "too many new tenants at once: send again in")
	require.Len(t, s.Details(), 1)
	wait := s.Details()[0].(*errdetails.RetryInfo).GetRetryDelay().AsDuration()
	assert.Positive(t, wait)
	assert.LessOrEqual(t, wait, time.Minute)
	require.NoError(t, r.ConsumeLogs(t.Context(), logs(1, names[:1000]...)), "those that are admitted are not new")
}

// Tenants with a block take up no room, whether they are enabled or not.
func TestMaxTenants(t *testing.T) {
	r := newDoorRig(t, func(c *Config) {
		off := c.common()
		off.Enabled, off.OnDisabled = false, "discard"
		c.Tenants = map[string]TenantSettings{"off": off, "acme": c.common()}
		c.Tenant.MaxTenants = 2
	})
	require.NoError(t, r.ConsumeLogs(t.Context(), logs(1, "off", "acme", "a", "b")))
	err := r.ConsumeLogs(t.Context(), logs(1, "a", "c"))
	require.True(t, consumererror.IsPermanent(err))
	s := requireRefusal(t, err, codes.ResourceExhausted, `tenant "c" is one more than are accepted`)
	assert.Empty(t, s.Details(), "no client is to send it again")
	assert.EqualValues(t, 3, r.entries())
	r.assertRefused("max_tenants", 2)
	assert.Equal(t, 1, r.said("tenant::max_tenants (2)"))
}

// The tenants of a request that is refused for another reason take up no room.
func TestRefusedRequestsAdmitNobody(t *testing.T) {
	r := newDoorRig(t, func(c *Config) {
		c.Tenant.MaxTenants = 1
		c.QueueConfig.Get().QueueSize = 1 << 20
		off := c.common()
		off.Enabled = false
		c.Tenants = map[string]TenantSettings{"off": off}
	})
	requireRefusal(t, r.ConsumeLogs(t.Context(), logs(1, "a", "off")), codes.PermissionDenied, `tenant "off" is not accepted`)
	requireRefusal(t, r.ConsumeLogs(t.Context(), logs(100_000, "b")), codes.InvalidArgument, "send smaller ones")
	r.storage.set(context.DeadlineExceeded)
	require.Error(t, r.ConsumeLogs(t.Context(), logs(1, "c")))
	r.storage.set(nil)
	require.NoError(t, r.ConsumeLogs(t.Context(), logs(1, "d")))
}

// Tenants that the queue holds records of were admitted by an earlier process.
func TestTenantsOfTheBacklogAreNotNew(t *testing.T) {
	r := newOfflineRig(t, "http://127.0.0.1:1")
	e := r.start()
	require.NoError(t, e.ConsumeLogs(t.Context(), logs(1, "a", "b")))
	r.shutdown(e)
	r.cfg.Tenant.MaxNewPerMinute = 1
	e = r.start()
	require.NoError(t, e.ConsumeLogs(t.Context(), logs(1, "a", "b", "c")))
	requireRefusal(t, e.ConsumeLogs(t.Context(), logs(1, "d")), codes.ResourceExhausted, "too many new tenants")
	r.shutdown(e)
}

// authenticates is an extension that says who a client is.
type authenticates struct{ component.Component }

func (authenticates) Authenticate(ctx context.Context, _ map[string][]string) (context.Context, error) {
	return ctx, nil
}

// What can be known at the start of where tenants come from is said there.
func TestStartWarnsOfRules(t *testing.T) {
	id := component.MustNewID("oidc")
	attribute, metadata, auth := TenantRule{ResourceAttribute: "a"}, TenantRule{Metadata: "m"}, TenantRule{Auth: "s"}
	const noAuth, forged = "can never give a tenant", "may name another's tenant"
	for _, c := range []struct {
		from       []TenantRule
		extensions map[component.ID]component.Component
		want       []string
	}{
		{[]TenantRule{attribute}, nil, nil},
		{[]TenantRule{metadata, attribute}, nil, nil},
		{[]TenantRule{auth, metadata, attribute}, map[component.ID]component.Component{id: authenticates{}}, nil},
		{[]TenantRule{auth}, map[component.ID]component.Component{id: &memoryStorage{}}, []string{noAuth}},
		{[]TenantRule{attribute, metadata}, nil, []string{forged}},
		{[]TenantRule{attribute, auth}, nil, []string{noAuth, forged}},
	} {
		core, logged := zapobserver.New(zap.WarnLevel)
		cfg := createDefaultConfig().(*Config)
		cfg.Tenant.From = c.from
		newDoor(cfg, newDirectory(cfg), nil, zap.New(core)).warn(c.extensions)
		require.Equal(t, len(c.want), logged.Len(), "%v", c.from)
		for i, line := range logged.All() {
			assert.Contains(t, line.Message, c.want[i])
		}
	}
}
