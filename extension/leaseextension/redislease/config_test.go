package redislease

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
		"`endpoints` is empty: it must name servers as host:port":             {},
		"`endpoints` (\"redis\") must be host:port: there is no default port": {"endpoints": []string{"a:1", "redis"}},
		"of `master_name` and `cluster` only one must be set: sentinels watch over servers that are no cluster": {
			"endpoints": []string{"a:1"}, "master_name": "m", "cluster": true,
		},
		"`database` (1) must be 0, or more with a server that is no cluster: clusters have one database":                {"endpoints": []string{"a:1", "b:1"}, "database": 1},
		"`database` (-1) must be 0, or more with a server that is no cluster: clusters have one database":               {"endpoints": []string{"a:1"}, "database": -1},
		"`password` is empty while `username` is set: a user logs in with both":                                         {"endpoints": []string{"a:1"}, "username": "u"},
		"`sentinel_username` and `sentinel_password` need `master_name`: without it there are no sentinels":             {"endpoints": []string{"a:1"}, "sentinel_password": "p"},
		"`ttl` (1s) must be 2s to 10m0s: below, one slow request loses the lease; above, a dead holder blocks too long": {"endpoints": []string{"a:1"}, "ttl": "1s"},
	} {
		_, err := load(settings)
		require.EqualError(t, err, want)
	}
	_, err := load(map[string]any{"endpoint": "a:1"})
	require.ErrorContains(t, err, "has invalid keys: endpoint")
}

func TestGoodConfig(t *testing.T) {
	cfg, err := load(map[string]any{
		"ttl": "10s", "endpoints": []string{"a:26379", "b:26379"}, "master_name": "m", "database": 2, "username": "u", "password": "hidden",
		"sentinel_password": "hidden", "tls": map[string]any{"ca_file": "ca.pem"},
	})
	require.NoError(t, err)
	got := cfg.(*leaseextension.StandaloneConfig[Config, *Config]).Backend
	require.Equal(t, "s3window/leases/", got.Prefix)
	require.Equal(t, "ca.pem", got.TLS.Get().CAFile)
	require.NotContains(t, fmt.Sprintf("%v %+v", got, got), "hidden")
}

func TestStartsWithoutItsServer(t *testing.T) {
	cfg, err := load(map[string]any{"endpoints": []string{"127.0.0.1:1"}})
	require.NoError(t, err)
	ext, err := NewFactory().Create(t.Context(), extensiontest.NewNopSettings(NewFactory().Type()), cfg)
	require.NoError(t, err)
	require.NoError(t, ext.Start(t.Context(), componenttest.NewNopHost()))
	_, err = ext.(lease.Leases).Read(t.Context(), "x")
	require.Error(t, err)
	require.NoError(t, ext.Shutdown(t.Context()))
}
