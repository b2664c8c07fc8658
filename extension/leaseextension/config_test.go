package leaseextension

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/confmaptest"

	"github.com/s3window/s3window/extension/leaseextension/internal/metadata"
)

// load reads one entry of testdata/config.yaml.
func load(t *testing.T, name string) (*Config, error) {
	t.Helper()
	all, err := confmaptest.LoadConf(filepath.Join("testdata", "config.yaml"))
	require.NoError(t, err)
	id := component.NewIDWithName(metadata.Type, name)
	require.Contains(t, all.ToStringMap(), id.String())
	one, err := all.Sub(id.String())
	require.NoError(t, err)
	cfg := createDefaultConfig().(*Config)
	if err := one.Unmarshal(cfg); err != nil {
		return nil, err
	}
	return cfg, confmap.Validate(cfg)
}

func TestWrongConfigs(t *testing.T) {
	for name, want := range map[string]string{
		"nothing":         "`backend` is empty: it must be one of dynamodb, etcd, memory, nats, s3, storage",
		"unknown_backend": "`backend` (\"zookeeper\") must be one of dynamodb, etcd, memory, nats, s3, storage: there is no other",
		"short_ttl":       "`ttl` (1s) must be 2s to 10m0s: below, one slow request loses the lease; above, a dead holder blocks too long",
		"long_ttl":        "`ttl` (1h0m0s) must be 2s to 10m0s: below, one slow request loses the lease; above, a dead holder blocks too long",
		"fine_ttl":        "`ttl` (2.5005s) must be whole milliseconds: records carry no finer time",
		"everything_wrong": "`backend` (\"zookeeper\") must be one of dynamodb, etcd, memory, nats, s3, storage: there is no other\n" +
			"`ttl` (-1s) must be 2s to 10m0s: below, one slow request loses the lease; above, a dead holder blocks too long\n" +
			"s3: `bucket` is empty: it must name the bucket that objects go to\n" +
			"s3: `prefix` (\"a//b\") must not have empty, . or .. parts: stores disagree on what they mean\n" +
			"storage: `extension` is empty: it must name a storage extension, such as file_storage/leases",
		"no_block":     "`s3` is missing: `backend` (\"s3\") needs its block of that name",
		"no_storage":   "`storage` is missing: `backend` (\"storage\") needs its block of that name",
		"no_extension": "storage: `extension` is empty: it must name a storage extension, such as file_storage/leases",
		"no_bucket":    "s3: `bucket` is empty: it must name the bucket that objects go to",
		"no_etcd":      "`etcd` is missing: `backend` (\"etcd\") needs its block of that name",
		"no_nats":      "`nats` is missing: `backend` (\"nats\") needs its block of that name",
		"no_dynamodb":  "`dynamodb` is missing: `backend` (\"dynamodb\") needs its block of that name",
		"no_endpoints": "etcd: `endpoints` is empty: it must name servers as http://host:port or https://host:port\n" +
			"nats: `endpoints` is empty: it must name servers as nats://host:port or tls://host:port",
		"wrong_etcd": "etcd: `endpoints` (\"http://etcd-0\") must be http://host:port or https://host:port: that is all there is to an address\n" +
			"etcd: `username` and `password` must be set together: one without the other logs nobody in",
		"plain_etcd": "etcd: `tls` is set, and `endpoints` are http: they must be https to be encrypted",
		"wrong_nats": "nats: `endpoints` (\"tls://nats-1:4222\") must all be nats, like the first: one setting of TLS is for all\n" +
			"nats: `bucket` (\"a.b\") must be 1 to 200 of A-Z a-z 0-9 _ -: NATS has no other names\n" +
			"nats: `replicas` (7) must be 1 to 5: NATS keeps no more\n" +
			"nats: `username` and `password` must be set together: one without the other logs nobody in\n" +
			"nats: of `username`, `token` and `credentials_file` only one must be set: a connection logs in once",
		"wrong_dynamodb": "dynamodb: `table` (\"a/b\") must be 3 to 255 of A-Z a-z 0-9 _ . -: DynamoDB has no other names\n" +
			"dynamodb: `secret_access_key` is empty while `access_key_id` is set: both, or neither for the SDK's default chain",
		"wrong_tls": "etcd: tls: invalid TLS min_version: unsupported TLS version: \"0.9\"\n" +
			"config: invalid TLS min_version: unsupported TLS version: \"0.9\"", // what configtls embeds is asked, too
		"dots":                 "s3: `prefix` (\"../other\") must not have empty, . or .. parts: stores disagree on what they mean",
		"unknown_key":          "decoding failed due to the following error(s):\n\n'leaseextension.Config' has invalid keys: tll",
		"unknown_key_in_block": "decoding failed due to the following error(s):\n\n'memory' decoding failed due to the following error(s):\n\n'memory.Config' has invalid keys: size",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := load(t, name)
			require.EqualError(t, err, want)
		})
	}
}

func TestGoodConfigs(t *testing.T) {
	cfg, err := load(t, "")
	require.NoError(t, err)
	require.Equal(t, "memory", cfg.Backend)
	require.Equal(t, 30*time.Second, cfg.TTL)

	cfg, err = load(t, "storage")
	require.NoError(t, err)
	require.Equal(t, 10*time.Second, cfg.TTL)
	require.Equal(t, component.MustNewIDWithName("file_storage", "leases"), cfg.Storage.Get().Extension)

	cfg, err = load(t, "s3")
	require.NoError(t, err)
	require.Equal(t, "otel/leases", cfg.S3.Get().Prefix)
	require.Equal(t, "lake", cfg.S3.Get().Client.Bucket)
	require.Equal(t, 30*time.Second, cfg.S3.Get().Client.Timeout, "defaults of the block stay")
	require.NotContains(t, cfg.S3.Get().Client.SecretAccessKey.String(), "secret")
}

func TestGoodConfigsOfServers(t *testing.T) {
	cfg, err := load(t, "etcd")
	require.NoError(t, err)
	require.Equal(t, []string{"https://etcd-0:2379", "https://etcd-1:2379"}, cfg.Etcd.Get().Endpoints)
	require.Equal(t, "s3window/leases/", cfg.Etcd.Get().Prefix, "defaults of the block stay")
	require.Equal(t, "/etc/tls/ca.pem", cfg.Etcd.Get().TLS.Get().CAFile)
	require.NotContains(t, fmt.Sprintf("%v %+v", cfg.Etcd.Get(), cfg.Etcd.Get()), "hidden")

	cfg, err = load(t, "nats")
	require.NoError(t, err)
	require.Equal(t, "s3window-leases", cfg.NATS.Get().Bucket)
	require.Equal(t, 3, cfg.NATS.Get().Replicas)
	require.True(t, cfg.NATS.Get().TLS.HasValue(), "an empty block asks for TLS")
	require.NotContains(t, fmt.Sprintf("%v %+v", cfg.NATS.Get(), cfg.NATS.Get()), "hidden")

	cfg, err = load(t, "dynamodb")
	require.NoError(t, err)
	require.Equal(t, "s3window-leases", cfg.DynamoDB.Get().Table)
	require.Equal(t, 10*time.Second, cfg.DynamoDB.Get().Timeout)
	require.NotContains(t, fmt.Sprintf("%v %+v", cfg.DynamoDB.Get(), cfg.DynamoDB.Get()), "hidden")
}

func TestEveryBackendIsNamedOnceAndSorted(t *testing.T) {
	require.Equal(t, "dynamodb, etcd, memory, nats, s3, storage", backendNames())
}
