package s3_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/config/configopaque"

	"github.com/s3window/s3window/extension/leaseextension/lease"
	"github.com/s3window/s3window/extension/leaseextension/lease/s3"
	"github.com/s3window/s3window/extension/leaseextension/leasetest"
	"github.com/s3window/s3window/testbed/s3test"
)

func TestConformance(t *testing.T) {
	server := s3test.Start(t)
	leasetest.Run(t, leasetest.RealTime, func(t testing.TB) leasetest.Backend {
		return leasetest.Backend{Open: opener(server.Endpoint, server, server.NewBucket(t))}
	})
}

// opener connects processes to one bucket, through endpoint.
func opener(endpoint string, server *s3test.Server, bucket string) func(testing.TB) lease.Store {
	return func(t testing.TB) lease.Store {
		cfg := s3.DefaultConfig()
		cfg.Client.Bucket, cfg.Client.Endpoint, cfg.Client.PathStyle = bucket, endpoint, true
		cfg.Client.AccessKeyID, cfg.Client.SecretAccessKey = server.AccessKey, configopaque.String(server.SecretKey)
		store, err := s3.Open(t.Context(), cfg)
		require.NoError(t, err)
		t.Cleanup(store.Close)
		return store
	}
}

// TestRestart has a server of its own, which the other tests' servers must not
// be.
func TestRestart(t *testing.T) {
	server := s3test.Start(t)
	leasetest.RunOnly(t, leasetest.RealTime, "lease/survives a restart of the store", func(t testing.TB) leasetest.Backend {
		return leasetest.Backend{
			Open: opener(server.Endpoint, server, server.NewBucket(t)),
			Restart: func(testing.TB) {
				server.Kill()
				server.Restart()
			},
		}
	})
}
