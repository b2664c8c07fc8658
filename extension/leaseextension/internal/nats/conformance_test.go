package nats_test

import (
	"crypto/rand"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/s3window/s3window/extension/leaseextension/internal/nats"
	"github.com/s3window/s3window/extension/leaseextension/lease"
	"github.com/s3window/s3window/extension/leaseextension/leasetest"
	"github.com/s3window/s3window/testbed/servers"
	"github.com/s3window/s3window/testbed/tcptest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t testing.TB, cfg nats.Config) lease.Store {
	store, err := nats.Open(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	return store
}

// config is a bucket of its own for each test.
func config(server *servers.Server, t testing.TB) nats.Config {
	cfg := nats.DefaultConfig()
	cfg.Endpoints, cfg.Bucket = []string{"nats://" + server.Address}, rand.Text()
	return cfg
}

func TestConformance(t *testing.T) {
	server := servers.NATS(t, servers.Options{})
	leasetest.Run(t, leasetest.RealTime, func(t testing.TB) leasetest.Backend {
		cfg := config(server, t)
		return leasetest.Backend{Open: func(t testing.TB) lease.Store { return open(t, cfg) }}
	})
}

// TestRestart has a server of its own, which the other tests' servers must not
// be.
func TestRestart(t *testing.T) {
	server := servers.NATS(t, servers.Options{})
	leasetest.RunOnly(t, leasetest.RealTime, "lease/survives a restart of the store", func(t testing.TB) leasetest.Backend {
		cfg := config(server, t)
		return leasetest.Backend{
			Open:    func(t testing.TB) lease.Store { return open(t, cfg) },
			Restart: func(testing.TB) { server.Kill(); server.Restart() },
		}
	})
}

func TestLose(t *testing.T) {
	server := servers.NATS(t, servers.Options{})
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
	server := servers.NATS(t, servers.Options{})
	for name, action := range map[string]tcptest.Action{"in the middle of a write": tcptest.CutRequest, "before the answer": tcptest.LoseAnswer} {
		t.Run(name, func(t *testing.T) {
			link := tcptest.Start(t, server.Address)
			link.Break(tcptest.Rule{Do: action, Mark: `"epoch":`, Every: 9}) // each costs a request's timeout
			leasetest.RunOnly(t, leasetest.RealTime, "fault/random", func(t testing.TB) leasetest.Backend {
				cfg := config(server, t)
				cfg.Endpoints = []string{"nats://" + link.Address}
				return leasetest.Backend{TTL: 3 * time.Second, Open: func(t testing.TB) lease.Store { return open(t, cfg) }}
			})
			t.Cleanup(func() { require.GreaterOrEqual(t, link.Broken(), 2) })
		})
	}
}

func BenchmarkPut(b *testing.B) {
	leasetest.BenchmarkPut(b, open(b, config(servers.NATS(b, servers.Options{}), b)))
}
