package icebergsync

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/confmaptest"

	"github.com/s3window/s3window/icebergsync/internal/metadata"
	"github.com/s3window/s3window/icebergsync/internal/run"
)

// load reads one entry of testdata/config.yaml.
func load(t *testing.T, name string) (*run.Config, error) {
	t.Helper()
	all, err := confmaptest.LoadConf(filepath.Join("testdata", "config.yaml"))
	require.NoError(t, err)
	id := component.NewIDWithName(metadata.Type, name)
	require.Contains(t, all.ToStringMap(), id.String())
	one, err := all.Sub(id.String())
	require.NoError(t, err)
	cfg := createDefaultConfig().(*run.Config)
	if err := one.Unmarshal(cfg); err != nil {
		return nil, err
	}
	return cfg, confmap.Validate(cfg)
}

func TestWrongConfigs(t *testing.T) {
	for name, want := range map[string]string{
		"nothing": "catalog: `uri` must be a URL that begins with http:// or https:// and names a host\n" +
			"s3: `bucket` is empty: it must name the bucket that objects go to",
		"everything_wrong": "catalog: `oauth2`, `sigv4`, `tls` and `headers` are for `type: rest`, not for \"hive\"\n" +
			"catalog: `catalog_id` (\"me\") must be 12 digits, and is for `type: glue`\n" +
			"catalog: `type` (\"hive\") must be rest, glue or sql: there is no other\n" +
			"catalog: `timeout` (0s) must be 1s to 30m: a commit of a large table takes seconds, and one that hangs holds up its table\n" +
			"catalog: of `oauth2::credential` and `oauth2::token` one must be set\n" +
			"catalog: `sigv4::service` is empty: it must be glue, s3tables or execute-api\n" +
			"catalog: of `oauth2` and `sigv4` only one must be set: a request is signed once\n" +
			"s3: `bucket` (\"Lake\") must be 3 to 63 of a-z 0-9 . - with a letter or digit at both ends: AWS has no other names\n" +
			"s3: `prefix` (\"a//b\") must be segments with single slashes between them, such as otel/prod: it is the exporter's\n" +
			"`sink` is empty: it must be the exporter's, whose default is \"default\"\n" +
			"`signals` (\"profiles\") must be logs, traces or metrics, each once\n" +
			"`signals` (\"logs\") must be logs, traces or metrics, each once\n" +
			"`table` (\"Otel.logs\") must be parts of a-z 0-9 _ {signal} {tenant} with dots between them: every catalog and engine takes those\n" +
			"`location` (\"file:///tmp\") must begin with s3://\n" +
			"`interval` (1ms) must be 1s to 24h0m0s\n" +
			"`max_windows_per_commit` (0) must be 1 to 10000: what one commit adds is held in memory\n" +
			"`snapshots::keep` (0) must be 2 to 100000: metadata grows with them, and a rollback goes no further back\n" +
			"`ownership` (\"me\") must be lake or table: there is no other\n" +
			"`on_jsonl` (\"ignore\") must be skip or fail: there is no other",
		"one_table":        "`table` (\"otel.all\") must contain {signal}: signals have different columns",
		"no_namespace":     "`table` (\"{signal}\") must have a namespace, such as otel.{signal}: catalogs have no tables without one",
		"tenant_too_often": "`interval` (30s) must be at least 5m0s with {tenant} in `table`: every table is asked for each time",
		"around_the_lake":  "`location` (\"s3://lake/otel\") must not hold the lake (lake/otel/prod): an engine that removes orphan files would delete it",
		"one_place":        "`location` (\"s3://warehouse/otel\") must contain {signal}, as `table` does: two tables must not lie in one place",
		"unknown_key":      "decoding failed due to the following error(s):\n\n'run.Config' has invalid keys: intervall",
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
	require.Equal(t, "otel.{signal}", cfg.Table)
	require.Equal(t, 30*time.Second, cfg.Interval)
	require.Equal(t, run.OwnedByLake, cfg.Ownership)
	require.False(t, cfg.Catalog.OAuth2.HasValue())

	cfg, err = load(t, "full")
	require.NoError(t, err)
	require.Equal(t, "otel", cfg.S3.Prefix)
	require.Equal(t, "eu-central-1", cfg.S3.Region)
	require.Equal(t, component.MustNewIDWithName("lease", "fleet"), *cfg.Lease)
	require.NotContains(t, fmt.Sprintf("%+v %v", cfg.Catalog.OAuth2.Get(), cfg.Catalog.Headers), "hidden")

	for _, name := range []string{"glue", "glue_rest", "sqlite"} {
		_, err := load(t, name)
		require.NoError(t, err, name)
	}
}
