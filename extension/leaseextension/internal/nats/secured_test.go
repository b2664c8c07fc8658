package nats_test

import (
	"context"
	"crypto/rand"
	"errors"
	"testing"
	"time"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/config/configtls"

	"github.com/s3window/s3window/extension/leaseextension/internal/nats"
	"github.com/s3window/s3window/extension/leaseextension/lease"
	"github.com/s3window/s3window/extension/leaseextension/leasetest"
	"github.com/s3window/s3window/testbed/servers"
)

func TestTLSAndPassword(t *testing.T) {
	certificate := servers.NewCertificate(t)
	server := servers.NATS(t, servers.Options{TLS: certificate, Password: "secret"})
	cfg := nats.DefaultConfig()
	cfg.Endpoints = []string{"tls://" + server.Address}
	settings := configtls.NewDefaultClientConfig()
	settings.CAFile = certificate.CertFile
	cfg.TLS = configoptional.Some(settings)
	cfg.Username, cfg.Password = servers.User, "secret"
	_, err := open(t, cfg).Put(t.Context(), "a", []byte("x"), "")
	require.NoError(t, err)

	for name, tc := range map[string]struct {
		want   string
		change func(*nats.Config)
	}{
		"password":    {"Authorization Violation", func(c *nats.Config) { c.Password = "wrong" }},
		"token":       {"Authorization Violation", func(c *nats.Config) { c.Username, c.Password, c.Token = "", "", "wrong" }},
		"certificate": {"unknown authority", func(c *nats.Config) { c.TLS = nats.DefaultConfig().TLS }},
		"credentials": {"missing.creds", func(c *nats.Config) { c.Username, c.Password, c.CredentialsFile = "", "", "missing.creds" }},
	} {
		t.Run(name, func(t *testing.T) {
			changed := cfg
			tc.change(&changed)
			_, err := open(t, changed).Get(t.Context(), "a")
			require.ErrorContains(t, err, tc.want)
			require.NotContains(t, err.Error(), "secret")
		})
	}
	cfg.TLS.Get().CAFile = "missing.pem"
	_, err = nats.Open(t.Context(), cfg)
	require.ErrorContains(t, err, "load `tls`: ")
}

func TestBucketsThatLoseLeasesAreRefused(t *testing.T) {
	server := servers.NATS(t, servers.Options{})
	conn, err := natsgo.Connect(server.Address)
	require.NoError(t, err)
	defer conn.Close()
	js, err := jetstream.New(conn)
	require.NoError(t, err)
	for want, bucket := range map[string]jetstream.KeyValueConfig{
		"it drops values after 1h0m0s: leases need a bucket without a TTL": {TTL: time.Hour},
		"": {History: 5}, // as KV clients make it
	} {
		bucket.Bucket = rand.Text()
		_, err := js.CreateKeyValue(t.Context(), bucket)
		require.NoError(t, err)
		cfg := config(server.Address)
		cfg.Bucket = bucket.Bucket
		store := open(t, cfg)
		_, err = store.Put(t.Context(), "a", []byte("x"), "")
		if want != "" {
			require.EqualError(t, err, "open bucket \""+bucket.Bucket+"\": "+want)
			continue
		}
		require.NoError(t, err)
	}
}

// KV clients read what is there, and what they remove is removed.
func TestKVClientsUnderstandTheBucket(t *testing.T) {
	server := servers.NATS(t, servers.Options{})
	cfg := config(server.Address)
	store := open(t, cfg)
	_, err := store.Put(t.Context(), "a/b", []byte("x"), "")
	require.NoError(t, err)
	conn, err := natsgo.Connect(server.Address)
	require.NoError(t, err)
	defer conn.Close()
	js, err := jetstream.New(conn)
	require.NoError(t, err)
	bucket, err := js.KeyValue(t.Context(), cfg.Bucket)
	require.NoError(t, err)
	entry, err := bucket.Get(t.Context(), "a/b")
	require.NoError(t, err)
	require.Equal(t, "x", string(entry.Value()))
	for _, remove := range []func(context.Context, string) error{
		func(ctx context.Context, key string) error { return bucket.Delete(ctx, key) },
		func(ctx context.Context, key string) error { return bucket.Purge(ctx, key) },
	} {
		require.NoError(t, remove(t.Context(), "a/b"))
		_, err = store.Get(t.Context(), "a/b")
		require.ErrorIs(t, err, lease.ErrNotFound)
		_, err = store.Put(t.Context(), "a/b", []byte("y"), "")
		require.NoError(t, err)
	}
}

// A cluster says that a revision is another one in words of its own.
func TestCluster(t *testing.T) {
	members := servers.NATSCluster(t)
	cfg := config(members[0].Address)
	cfg.Replicas = 3
	for _, member := range members[1:] {
		cfg.Endpoints = append(cfg.Endpoints, "nats://"+member.Address)
	}
	for _, name := range []string{"store/wrong revisions", "store/one winner", "store/no update", "store/revisions"} {
		leasetest.RunOnly(t, leasetest.RealTime, name, func(t testing.TB) leasetest.Backend {
			own := cfg
			own.Bucket = rand.Text()
			elected := open(t, own)
			require.Eventually(t, func() bool {
				_, err := elected.Get(t.Context(), "a")
				return errors.Is(err, lease.ErrNotFound)
			}, time.Minute, 100*time.Millisecond, "a cluster and a bucket that are new elect their leaders first")
			return leasetest.Backend{Open: func(t testing.TB) lease.Store { return open(t, own) }}
		})
	}
}
