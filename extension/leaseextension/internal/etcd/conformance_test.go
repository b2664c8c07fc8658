package etcd_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/s3window/s3window/extension/leaseextension"
	"github.com/s3window/s3window/extension/leaseextension/internal/etcd"
	"github.com/s3window/s3window/extension/leaseextension/leasetest"
	"github.com/s3window/s3window/testbed/servers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t testing.TB, cfg etcd.Config) leaseextension.Store {
	store, err := etcd.Open(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	return store
}

// config is a prefix of its own for each test.
func config(server *servers.Server, t testing.TB) etcd.Config {
	cfg := etcd.DefaultConfig()
	cfg.Endpoints, cfg.Prefix = []string{"http://" + server.Address}, t.Name()+"/"
	return cfg
}

func TestConformance(t *testing.T) {
	server := servers.Etcd(t, servers.Options{})
	leasetest.Run(t, leasetest.RealTime, func(t testing.TB) leasetest.Backend {
		cfg := config(server, t)
		return leasetest.Backend{Open: func(t testing.TB) leaseextension.Store { return open(t, cfg) }}
	})
}

// TestRestart has a server of its own, which the other tests' servers must not
// be.
func TestRestart(t *testing.T) {
	server := servers.Etcd(t, servers.Options{})
	leasetest.RunOnly(t, leasetest.RealTime, "lease/survives a restart of the store", func(t testing.TB) leasetest.Backend {
		cfg := config(server, t)
		return leasetest.Backend{
			Open:    func(t testing.TB) leaseextension.Store { return open(t, cfg) },
			Restart: func(testing.TB) { server.Kill(); server.Restart() },
		}
	})
}

func BenchmarkPut(b *testing.B) {
	leasetest.BenchmarkPut(b, open(b, config(servers.Etcd(b, servers.Options{}), b)))
}
