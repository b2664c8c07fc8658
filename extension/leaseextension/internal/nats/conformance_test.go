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
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t testing.TB, cfg nats.Config) lease.Store {
	store, err := nats.Open(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	return store
}

// config is a bucket of its own for each test.
func config(address string) nats.Config {
	cfg := nats.DefaultConfig()
	cfg.Endpoints, cfg.Bucket = []string{"nats://" + address}, rand.Text()
	return cfg
}

func server() leasetest.Server {
	return leasetest.Server{
		Start: func(t testing.TB) *servers.Server { return servers.NATS(t, servers.Options{}) },
		Registers: func(_ testing.TB, address string) func(testing.TB) lease.Store {
			cfg := config(address)
			return func(t testing.TB) lease.Store { return open(t, cfg) }
		},
		Mark: leasetest.MarkOfRecord, Every: 9, TTL: 3 * time.Second, // each break costs a request's timeout
	}
}

func TestConformance(t *testing.T) { server().Run(t) }

func BenchmarkPut(b *testing.B) { server().BenchmarkPut(b) }
