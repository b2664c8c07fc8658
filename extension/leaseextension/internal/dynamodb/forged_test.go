package dynamodb_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/extension/leaseextension/internal/dynamodb"
	"github.com/s3window/s3window/extension/leaseextension/lease"
	"github.com/s3window/s3window/extension/leaseextension/leasetest"
	"github.com/s3window/s3window/testbed/s3test"
	"github.com/s3window/s3window/testbed/servers"
)

func TestForgedAnswers(t *testing.T) {
	leasetest.RunForged(t, "r", func(t testing.TB, server http.Handler) lease.Store {
		s := httptest.NewServer(server)
		t.Cleanup(s.Close)
		cfg := dynamodb.DefaultConfig()
		cfg.Endpoint, cfg.AccessKeyID, cfg.SecretAccessKey = s.URL, "key", "secret"
		return open(t, cfg)
	})
}

// TestForgedAnswersAmongOthers counts under leases through a proxy that makes up
// answers now and then.
func TestForgedAnswersAmongOthers(t *testing.T) {
	server := servers.Dynalite(t)
	proxy, err := s3test.NewProxy("http://" + server.Address)
	require.NoError(t, err)
	forger := &leasetest.Forger{Next: proxy, Every: 3}
	front := httptest.NewServer(forger)
	t.Cleanup(func() {
		proxy.Close()
		front.CloseClientConnections()
		front.Close()
		require.Greater(t, forger.Forged(), 30)
	})
	leasetest.RunOnly(t, leasetest.RealTime, "fault/random", func(t testing.TB) leasetest.Backend {
		cfg := config(server.Address)
		_, err := open(t, cfg).Get(t.Context(), "x") // makes the table
		require.ErrorIs(t, err, lease.ErrNotFound)
		cfg.Endpoint = front.URL
		return leasetest.Backend{TTL: 6 * time.Second, Open: func(t testing.TB) lease.Store { return open(t, cfg) }}
	})
}

func TestForgedDeletion(t *testing.T) {
	server := servers.Dynalite(t)
	cfg := config(server.Address)
	store := open(t, cfg)
	revision, err := store.Put(t.Context(), "a", []byte("x"), "")
	require.NoError(t, err)
	proxy, endpoint := s3test.StartProxy(t, "http://"+server.Address)
	proxy.Break(s3test.Rule{Do: s3test.Forge, Body: "{}"})
	cfg.Endpoint, cfg.CreateTable = endpoint, false
	require.ErrorContains(t, open(t, cfg).Delete(t.Context(), "a", revision), "the answer does not have what was deleted")
	require.NoError(t, store.Delete(t.Context(), "a", revision))
}
