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
func config(address string) dynamodb.Config {
	cfg := dynamodb.DefaultConfig()
	cfg.Endpoint, cfg.Table, cfg.CreateTable = "http://"+address, rand.Text(), true
	cfg.AccessKeyID, cfg.SecretAccessKey = "key", "secret"
	return cfg
}

func server() leasetest.Server {
	return leasetest.Server{
		Start: servers.Dynalite,
		Registers: func(_ testing.TB, address string) func(testing.TB) lease.Store {
			cfg := config(address)
			return func(t testing.TB) lease.Store { return open(t, cfg) }
		},
		// No connection breaks: dynalite ends with a request that does.
	}
}

func TestConformance(t *testing.T) { server().Run(t) }

func BenchmarkPut(b *testing.B) { server().BenchmarkPut(b) }
