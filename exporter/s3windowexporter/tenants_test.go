package s3windowexporter

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/confmap"

	"github.com/s3window/s3window/internal/flush"
	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/partition"
)

// What a block leaves out is the exporter's, and what has no meaning without
// another key goes with it.
func TestTenantsInherit(t *testing.T) {
	cfg := load(t, "s3window/tenants")
	want := func(change func(*TenantSettings)) TenantSettings {
		s := cfg.common()
		change(&s)
		return s
	}
	for name, change := range map[string]func(*TenantSettings){
		"inherits":     func(*TenantSettings) {},
		"empty":        func(*TenantSettings) {},
		"bucket":       func(s *TenantSettings) { s.S3.Bucket = "other-lake" },
		"keys":         func(s *TenantSettings) { s.S3.AccessKeyID, s.S3.SecretAccessKey = "k", "s" },
		"chain":        func(s *TenantSettings) { s.S3.AccessKeyID, s.S3.SecretAccessKey = "", "" },
		"no-role":      func(s *TenantSettings) { s.S3.RoleARN, s.S3.ExternalID = "", "" },
		"another-role": func(s *TenantSettings) { s.S3.RoleARN = "arn:aws:iam::2:role/b" },
		"no-kms":       func(s *TenantSettings) { s.S3.SSE, s.S3.SSEKMSKeyID = "AES256", "" },
		"no-columns":   func(s *TenantSettings) { s.Parquet.Columns = []ColumnConfig{} },
		"largest":      func(s *TenantSettings) { s.Flush = TenantFlushConfig{TargetSizeMiB: 141, MaxAge: 15 * time.Minute} },
		"off":          func(s *TenantSettings) { s.Enabled, s.OnDisabled = false, "discard" },
		"42":           func(s *TenantSettings) { s.Enabled = false },
		"../a b/ü":     func(s *TenantSettings) { s.Flush.MaxAge = time.Second },
	} {
		assert.Equal(t, want(change), cfg.Tenants[name], name)
	}
	assert.Len(t, cfg.Tenants, 13)
	assert.Equal(t, defaultColumns(), cfg.Parquet.Columns, "the exporter's own are not touched")
}

func TestTenantsAreReadStrictly(t *testing.T) {
	for _, c := range []struct {
		block     any
		key, want string
	}{
		{"acme", "`tenants`", "unexpected sub-config value kind"},
		{map[string]any{"acme": 1}, "`tenants::acme`", "unexpected sub-config value kind"},
		{map[string]any{"acme": map[string]any{"enabled": "x"}}, "`tenants::acme`", "'enabled'"},
	} {
		err := confmap.NewFromStringMap(map[string]any{"tenants": c.block}).Unmarshal(createDefaultConfig())
		assert.ErrorContains(t, err, c.want)
		assert.ErrorContains(t, err, c.key)
	}
}

func TestTenantsSecretsAreNotShown(t *testing.T) {
	conf := confmap.New()
	require.NoError(t, conf.Marshal(load(t, "s3window/all")))
	assert.Equal(t, "[REDACTED]", conf.Get("tenants::acme::s3::secret_access_key"))
}

// tenantsConfig has the exporter's lake, one tenant with its own bucket and
// keys, one with other keys for the exporter's bucket, and one that is disabled.
func tenantsConfig() *Config {
	cfg := createDefaultConfig().(*Config)
	cfg.S3.Bucket, cfg.S3.AccessKeyID = "lake", "common"
	acme, beta, off := cfg.common(), cfg.common(), cfg.common()
	acme.S3.Bucket, acme.S3.Prefix, acme.S3.AccessKeyID = "acme-lake", "otel", "acme"
	acme.Parquet, acme.Flush = ParquetConfig{Codec: "snappy"}, TenantFlushConfig{TargetSizeMiB: 16, MaxAge: time.Minute}
	beta.S3.AccessKeyID = "beta"
	off.S3.Bucket, off.Enabled = "off-lake", false
	cfg.Tenants = map[string]TenantSettings{"acme": acme, "beta": beta, "off": off, "a\xffb": acme}
	return cfg
}

func TestDirectory(t *testing.T) {
	cfg := tenantsConfig()
	d := newDirectory(cfg)
	acme, other := d.target("acme", partition.Logs), d.target("other", partition.Logs)
	assert.Equal(t, lake.Ref{Region: "us-east-1", Bucket: "acme-lake", Prefix: "otel"}, acme.Lake)
	assert.Equal(t, "snappy", acme.Spec.Codec)
	assert.Equal(t, flush.Limits{TargetSize: 16 << 20, MaxAge: time.Minute}, acme.Limits)
	assert.Equal(t, acme, d.target(partition.Tenant("a\xffb"), partition.Logs), "names are canonical")
	assert.Equal(t, lake.Ref{Region: "us-east-1", Bucket: "lake"}, other.Lake)
	assert.Equal(t, flush.Limits{TargetSize: 128 << 20, MaxAge: 5 * time.Minute}, other.Limits)
	assert.Equal(t, 6*time.Second, d.tick())

	o := d.origins("default")
	assert.Equal(t, other.Lake, o.Lake)
	assert.Equal(t, map[string]lake.Ref{"acme": acme.Lake, partition.Tenant("a\xffb"): acme.Lake, "off": d.of("off").S3.ref()}, o.Tenants)

	assert.Equal(t, map[S3Config][]string{
		cfg.S3:                 nil,
		cfg.Tenants["acme"].S3: {"acme", partition.Tenant("a\xffb")},
		cfg.Tenants["beta"].S3: {"beta"},
		cfg.Tenants["off"].S3:  {"off"},
	}, d.lakes())
}

// A lake of an earlier configuration is opened by who may use its bucket.
func TestKeysOfALake(t *testing.T) {
	d := newDirectory(tenantsConfig())
	for _, c := range []struct{ tenant, bucket, want string }{
		{"acme", "acme-lake", "acme"},
		{"acme", "lake", "common"}, // before it had its own
		{"beta", "lake", "beta"},
		{"other", "lake", "common"},
		{"other", "acme-lake", "acme"}, // it was renamed
		{"acme", "gone", "acme"},
		{"other", "gone", "common"},
	} {
		ref := lake.Ref{Region: "eu-west-9", Bucket: c.bucket, Prefix: "old"}
		got := d.s3(c.tenant, ref)
		assert.Equal(t, c.want, got.AccessKeyID, "%s in %s", c.tenant, c.bucket)
		assert.Equal(t, ref, got.ref())
	}
}
