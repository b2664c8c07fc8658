package etcd_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.opentelemetry.io/collector/config/configopaque"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/config/configtls"

	"github.com/s3window/s3window/extension/leaseextension/internal/etcd"
	"github.com/s3window/s3window/testbed/servers"
)

// secured starts a cluster that wants TLS and a password.
func secured(t *testing.T) etcd.Config {
	certificate := servers.NewCertificate(t)
	server := servers.Etcd(t, servers.Options{TLS: certificate})
	cfg := etcd.DefaultConfig()
	cfg.Endpoints = []string{"https://" + server.Address}
	settings := configtls.NewDefaultClientConfig()
	settings.CAFile = certificate.CertFile
	cfg.TLS = configoptional.Some(settings)
	cfg.Username, cfg.Password = "lease", "secret"

	roots := x509.NewCertPool()
	require.True(t, roots.AppendCertsFromPEM(certificate.Cert))
	admin, err := clientv3.New(clientv3.Config{Endpoints: cfg.Endpoints, TLS: &tls.Config{RootCAs: roots}})
	require.NoError(t, err)
	defer admin.Close()
	_, err = admin.RoleAdd(t.Context(), "leases")
	require.NoError(t, err)
	_, err = admin.RoleGrantPermission(t.Context(), "leases", cfg.Prefix, clientv3.GetPrefixRangeEnd(cfg.Prefix), clientv3.PermissionType(clientv3.PermReadWrite))
	require.NoError(t, err)
	for user, role := range map[string]string{"root": "root", "lease": "leases"} {
		_, err = admin.UserAdd(t.Context(), user, string(cfg.Password))
		require.NoError(t, err)
		_, err = admin.UserGrantRole(t.Context(), user, role)
		require.NoError(t, err)
	}
	_, err = admin.AuthEnable(t.Context())
	require.NoError(t, err)
	return cfg
}

func TestTLSAndPassword(t *testing.T) {
	cfg := secured(t)
	store := open(t, cfg)
	revision, err := store.Put(t.Context(), "a", []byte("x"), "")
	require.NoError(t, err)
	require.NoError(t, store.Delete(t.Context(), "a", revision), "the role is for the prefix alone")
	_, err = store.List(t.Context(), "")
	require.NoError(t, err)

	for want, change := range map[string]func(*etcd.Config){
		"invalid user ID or password": func(c *etcd.Config) { c.Password = configopaque.String("wrong") },
		"permission denied":           func(c *etcd.Config) { c.Prefix = "elsewhere/" },
		"context deadline exceeded":   func(c *etcd.Config) { c.TLS = etcd.DefaultConfig().TLS }, // all that gRPC says of a wrong certificate
	} {
		t.Run(want, func(t *testing.T) {
			changed := cfg
			change(&changed)
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			_, err := open(t, changed).Put(ctx, "a", []byte("x"), "")
			require.ErrorContains(t, err, want)
			require.NotContains(t, err.Error(), "secret")
		})
	}
}

func TestMissingFileStopsTheStart(t *testing.T) {
	cfg := etcd.DefaultConfig()
	cfg.Endpoints = []string{"https://127.0.0.1:1"}
	settings := configtls.NewDefaultClientConfig()
	settings.CAFile = "missing.pem"
	cfg.TLS = configoptional.Some(settings)
	_, err := etcd.Open(t.Context(), cfg)
	require.ErrorContains(t, err, "load `tls`: ")
}

// Where a cluster is down, each request fails in the time that it has.
func TestNothingListens(t *testing.T) {
	for _, user := range []string{"", "lease"} {
		cfg := etcd.DefaultConfig()
		cfg.Endpoints = []string{"http://" + servers.FreeAddress(t)}
		cfg.Username, cfg.Password = user, configopaque.String(user)
		store := open(t, cfg)
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		_, err := store.Get(ctx, "a")
		require.Error(t, err)
		require.ErrorIs(t, ctx.Err(), context.DeadlineExceeded)
	}
}
