package dynamodb_test

import (
	"crypto/rand"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/s3window/s3window/extension/leaseextension/internal/dynamodb"
	"github.com/s3window/s3window/extension/leaseextension/lease"
	"github.com/s3window/s3window/extension/leaseextension/leasetest"
	"github.com/s3window/s3window/testbed/servers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t testing.TB, cfg dynamodb.Config) lease.Store {
	store, err := dynamodb.Open(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	return store
}

// config is a table of its own for each test.
func config(server *servers.Server, t testing.TB) dynamodb.Config {
	cfg := dynamodb.DefaultConfig()
	cfg.Endpoint, cfg.Table, cfg.CreateTable = "http://"+server.Address, rand.Text(), true
	cfg.AccessKeyID, cfg.SecretAccessKey = "key", "secret"
	return cfg
}

func TestConformance(t *testing.T) {
	server := servers.Dynalite(t)
	leasetest.Run(t, leasetest.RealTime, func(t testing.TB) leasetest.Backend {
		cfg := config(server, t)
		return leasetest.Backend{Open: func(t testing.TB) lease.Store { return open(t, cfg) }}
	})
}

// TestRestart has a server of its own, which the other tests' servers must not
// be.
func TestRestart(t *testing.T) {
	server := servers.Dynalite(t)
	leasetest.RunOnly(t, leasetest.RealTime, "lease/survives a restart of the store", func(t testing.TB) leasetest.Backend {
		cfg := config(server, t)
		return leasetest.Backend{
			Open:    func(t testing.TB) lease.Store { return open(t, cfg) },
			Restart: func(testing.TB) { server.Kill(); server.Restart() },
		}
	})
}

func TestLose(t *testing.T) {
	server := servers.Dynalite(t)
	leasetest.RunOnly(t, leasetest.RealTime, "lease/starts anew", func(t testing.TB) leasetest.Backend {
		cfg := config(server, t)
		return leasetest.Backend{
			Open: func(t testing.TB) lease.Store { return open(t, cfg) },
			Lose: func(testing.TB) { server.Kill(); server.Wipe(); server.Restart() },
		}
	})
}

func BenchmarkPut(b *testing.B) { leasetest.BenchmarkPut(b, open(b, config(servers.Dynalite(b), b))) }
