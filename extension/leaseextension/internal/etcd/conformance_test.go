package etcd_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/s3window/s3window/extension/leaseextension/internal/etcd"
	"github.com/s3window/s3window/extension/leaseextension/lease"
	"github.com/s3window/s3window/extension/leaseextension/leasetest"
	"github.com/s3window/s3window/testbed/servers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t testing.TB, cfg etcd.Config) lease.Store {
	store, err := etcd.Open(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	return store
}

// server keeps the registers of each test under a prefix of its own.
func server() leasetest.Server {
	return leasetest.Server{
		Start: func(t testing.TB) *servers.Server { return servers.Etcd(t, servers.Options{}) },
		Registers: func(t testing.TB, address string) func(testing.TB) lease.Store {
			cfg := etcd.DefaultConfig()
			cfg.Endpoints, cfg.Prefix = []string{"http://" + address}, t.Name()+"/"
			return func(t testing.TB) lease.Store { return open(t, cfg) }
		},
		Mark: leasetest.MarkOfRecord,
	}
}

func TestConformance(t *testing.T) { server().Run(t) }

func BenchmarkPut(b *testing.B) { server().BenchmarkPut(b) }
