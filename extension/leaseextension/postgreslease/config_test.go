package postgreslease

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/extension/extensiontest"

	"github.com/s3window/s3window/extension/leaseextension"
	"github.com/s3window/s3window/extension/leaseextension/lease"
)

func load(settings map[string]any) (component.Config, error) {
	cfg := NewFactory().CreateDefaultConfig()
	if err := confmap.NewFromStringMap(settings).Unmarshal(cfg); err != nil {
		return nil, err
	}
	return cfg, confmap.Validate(cfg)
}

func TestWrongConfigs(t *testing.T) {
	for want, settings := range map[string]map[string]any{
		"`endpoints` is empty: it must name servers as host:port\n`username` is empty: it must name who logs in": {},
		"`endpoints` (\"db\") must be host:port: there is no default port":                                       {"endpoints": []string{"db"}, "username": "u"},
		"`database` is empty: it must name the database that the table is in":                                    {"endpoints": []string{"a:1"}, "username": "u", "database": ""},
		"`table` (\"a b\") must be 1 to 63 of a-z 0-9 _, with a schema and a dot in front or without: it is not quoted by those who look into it": {
			"endpoints": []string{"a:1"}, "username": "u", "table": "a b",
		},
		"`ttl` (1s) must be 2s to 10m0s: below, one slow request loses the lease; above, a dead holder blocks too long": {"endpoints": []string{"a:1"}, "username": "u", "ttl": "1s"},
	} {
		_, err := load(settings)
		require.EqualError(t, err, want)
	}
	_, err := load(map[string]any{"endpoint": "a:1"})
	require.ErrorContains(t, err, "has invalid keys: endpoint")
}

func TestGoodConfig(t *testing.T) {
	cfg, err := load(map[string]any{
		"endpoints": []string{"a:5432", "[::1]:5433"}, "username": "u", "password": "hidden", "tls": map[string]any{"ca_file": "ca.pem"},
	})
	require.NoError(t, err)
	got := cfg.(*leaseextension.StandaloneConfig[Config, *Config]).Backend
	require.Equal(t, "s3window_leases", got.Table)
	require.NotContains(t, fmt.Sprintf("%v %+v", got, got), "hidden")

	got.TLS = DefaultConfig().TLS
	t.Setenv("PGSSLMODE", "verify-full")
	t.Setenv("PGHOST", "elsewhere")
	pool, err := got.pool(t.Context())
	require.NoError(t, err)
	require.Nil(t, pool.ConnConfig.TLSConfig, "the environment does not decide")
	require.Equal(t, "a", pool.ConnConfig.Host)
	require.Equal(t, "::1", pool.ConnConfig.Fallbacks[0].Host)
	require.EqualValues(t, 5433, pool.ConnConfig.Fallbacks[0].Port)
}

func TestStartsWithoutItsServer(t *testing.T) {
	cfg, err := load(map[string]any{"endpoints": []string{"127.0.0.1:1"}, "username": "u"})
	require.NoError(t, err)
	ext, err := NewFactory().Create(t.Context(), extensiontest.NewNopSettings(NewFactory().Type()), cfg)
	require.NoError(t, err)
	require.NoError(t, ext.Start(t.Context(), componenttest.NewNopHost()))
	_, err = ext.(lease.Leases).Read(t.Context(), "x")
	require.Error(t, err)
	require.NoError(t, ext.Shutdown(t.Context()))
}
