package etcd_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/s3window/s3window/extension/leaseextension/internal/etcd"
	"github.com/s3window/s3window/extension/leaseextension/lease"
	"github.com/s3window/s3window/extension/leaseextension/leasetest"
	"github.com/s3window/s3window/testbed/servers"
	"github.com/s3window/s3window/testbed/tcptest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t testing.TB, cfg etcd.Config) lease.Store {
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
		return leasetest.Backend{Open: func(t testing.TB) lease.Store { return open(t, cfg) }}
	})
}

// TestRestart has a server of its own, which the other tests' servers must not
// be.
func TestRestart(t *testing.T) {
	server := servers.Etcd(t, servers.Options{})
	leasetest.RunOnly(t, leasetest.RealTime, "lease/survives a restart of the store", func(t testing.TB) leasetest.Backend {
		cfg := config(server, t)
		return leasetest.Backend{
			Open:    func(t testing.TB) lease.Store { return open(t, cfg) },
			Restart: func(testing.TB) { server.Kill(); server.Restart() },
		}
	})
}

func TestLose(t *testing.T) {
	server := servers.Etcd(t, servers.Options{})
	leasetest.RunOnly(t, leasetest.RealTime, "lease/starts anew", func(t testing.TB) leasetest.Backend {
		cfg := config(server, t)
		return leasetest.Backend{
			Open: func(t testing.TB) lease.Store { return open(t, cfg) },
			Lose: func(testing.TB) { server.Kill(); server.Wipe(); server.Restart() },
		}
	})
}

// Writes break in the client's connection: in their middle, and when they are
// applied and not answered.
func TestConnectionsBreak(t *testing.T) {
	server := servers.Etcd(t, servers.Options{})
	for name, action := range map[string]tcptest.Action{"in the middle of a write": tcptest.CutRequest, "before the answer": tcptest.LoseAnswer} {
		t.Run(name, func(t *testing.T) {
			link := tcptest.Start(t, server.Address)
			link.Break(tcptest.Rule{Do: action, Mark: `"epoch":`, Every: 5})
			leasetest.RunOnly(t, leasetest.RealTime, "fault/random", func(t testing.TB) leasetest.Backend {
				cfg := config(server, t)
				cfg.Endpoints = []string{"http://" + link.Address}
				return leasetest.Backend{TTL: 6 * time.Second, Open: func(t testing.TB) lease.Store { return open(t, cfg) }}
			})
			t.Cleanup(func() { require.GreaterOrEqual(t, link.Broken(), 3) })
		})
	}
}

func BenchmarkPut(b *testing.B) {
	leasetest.BenchmarkPut(b, open(b, config(servers.Etcd(b, servers.Options{}), b)))
}
