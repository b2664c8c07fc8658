package redislease

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/config/configtls"
	"go.uber.org/goleak"

	"github.com/s3window/s3window/extension/leaseextension/lease"
	"github.com/s3window/s3window/extension/leaseextension/leasetest"
	"github.com/s3window/s3window/testbed/servers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t testing.TB, cfg Config) lease.Store {
	store, err := Open(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	return store
}

// config is a prefix of its own for each test, which no pattern must trip over.
func config(address string, t testing.TB) Config {
	cfg := DefaultConfig()
	cfg.Endpoints, cfg.Prefix = []string{address}, t.Name()+`[a-z]\*?/`
	return cfg
}

func server() leasetest.Server {
	return leasetest.Server{
		Start: func(t testing.TB) *servers.Server { return servers.Redis(t, servers.Options{}) },
		Registers: func(t testing.TB, address string) func(testing.TB) lease.Store {
			cfg := config(address, t)
			return func(t testing.TB) lease.Store { return open(t, cfg) }
		},
		Mark: leasetest.MarkOfRecord,
	}
}

func TestConformance(t *testing.T) { server().Run(t) }

func BenchmarkPut(b *testing.B) { server().BenchmarkPut(b) }

func TestCluster(t *testing.T) {
	server := servers.RedisCluster(t)
	admin := redis.NewClient(&redis.Options{Addr: server.Address})
	defer admin.Close()
	require.NoError(t, admin.ClusterAddSlotsRange(t.Context(), 0, 16383).Err())
	require.Eventually(t, func() bool {
		return admin.ClusterInfo(t.Context()).Val() != "" && admin.Set(t.Context(), "probe", "x", 0).Err() == nil
	}, time.Minute, 20*time.Millisecond, "the cluster is up")
	leasetest.RunOnly(t, leasetest.RealTime, "store/", func(t testing.TB) leasetest.Backend {
		cfg := config(server.Address, t)
		cfg.Cluster = true
		return leasetest.Backend{Open: func(t testing.TB) lease.Store { return open(t, cfg) }}
	})
}

func TestTLSAndPassword(t *testing.T) {
	certificate := servers.NewCertificate(t)
	server := servers.Redis(t, servers.Options{TLS: certificate, Password: "secret"})
	cfg := config(server.Address, t)
	settings := configtls.NewDefaultClientConfig()
	settings.CAFile = certificate.CertFile
	cfg.TLS, cfg.Password = configoptional.Some(settings), "secret"
	_, err := open(t, cfg).Put(t.Context(), "a", []byte("x"), "")
	require.NoError(t, err)

	for want, change := range map[string]func(*Config){
		"WRONGPASS":                         func(c *Config) { c.Password = "wrong" },
		"unknown authority":                 func(c *Config) { c.TLS = configoptional.Some(configtls.NewDefaultClientConfig()) },
		"get key \"" + cfg.Prefix + "a\": ": func(c *Config) { c.TLS = DefaultConfig().TLS }, // plain, which it does not understand
		"NOAUTH":                            func(c *Config) { c.Password = "" },
	} {
		t.Run(want, func(t *testing.T) {
			changed := cfg
			change(&changed)
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			_, err := open(t, changed).Get(ctx, "a")
			require.Error(t, err)
			if want[0] != 'g' { // quoted by the error otherwise
				require.ErrorContains(t, err, want)
			}
			require.NotContains(t, err.Error(), "secret")
		})
	}
	cfg.TLS.Get().CAFile = "missing.pem"
	_, err = Open(t.Context(), cfg)
	require.ErrorContains(t, err, "load `tls`: ")
}

// What is under a lease's key and is none is an error, and is left alone.
func TestForeignKeys(t *testing.T) {
	server := servers.Redis(t, servers.Options{})
	admin := redis.NewClient(&redis.Options{Addr: server.Address})
	defer admin.Close()
	cfg := config(server.Address, t)
	require.NoError(t, admin.Set(t.Context(), cfg.Prefix+"string", "x", 0).Err())
	require.NoError(t, admin.HSet(t.Context(), cfg.Prefix+"hash", "value", "x").Err())
	store := open(t, cfg)
	for _, key := range []string{"string", "hash"} {
		_, err := store.Get(t.Context(), key)
		require.Error(t, err)
		require.NotErrorIs(t, err, lease.ErrNotFound)
	}
	_, err := store.Put(t.Context(), "string", []byte("y"), "")
	require.ErrorContains(t, err, "WRONGTYPE")
}
