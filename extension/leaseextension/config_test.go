package leaseextension

import (
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
		"nothing":         "`backend` is empty: it must be one of memory, s3, storage",
		"unknown_backend": "`backend` (\"zookeeper\") must be one of memory, s3, storage: there is no other",
		"short_ttl":       "`ttl` (1s) must be 2s to 10m0s: below, one slow request loses the lease; above, a dead holder blocks too long",
		"long_ttl":        "`ttl` (1h0m0s) must be 2s to 10m0s: below, one slow request loses the lease; above, a dead holder blocks too long",
		"fine_ttl":        "`ttl` (2.5005s) must be whole milliseconds: records carry no finer time",
		"everything_wrong": "`backend` (\"zookeeper\") must be one of memory, s3, storage: there is no other\n" +
			"`ttl` (-1s) must be 2s to 10m0s: below, one slow request loses the lease; above, a dead holder blocks too long\n" +
			"s3: `bucket` is empty: it must name the bucket that objects go to\n" +
			"s3: `prefix` (\"a//b\") must not have empty, . or .. parts: stores disagree on what they mean\n" +
			"storage: `extension` is empty: it must name a storage extension, such as file_storage/leases",
		"no_block":             "`s3` is missing: `backend` (\"s3\") needs its block of that name",
		"no_storage":           "`storage` is missing: `backend` (\"storage\") needs its block of that name",
		"no_extension":         "storage: `extension` is empty: it must name a storage extension, such as file_storage/leases",
		"no_bucket":            "s3: `bucket` is empty: it must name the bucket that objects go to",
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

func TestEveryBackendIsNamedOnceAndSorted(t *testing.T) {
	require.Equal(t, "memory, s3, storage", backendNames())
}
