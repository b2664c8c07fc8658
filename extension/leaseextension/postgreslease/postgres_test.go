package postgreslease

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/config/configtls"
	"go.uber.org/goleak"

	"github.com/s3window/s3window/extension/leaseextension/lease"
	"github.com/s3window/s3window/extension/leaseextension/leasetest"
	"github.com/s3window/s3window/testbed/servers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t testing.TB, cfg Config) lease.Store {
	store, err := Open(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	return store
}

// config is a table of its own for each test.
func config(address string) Config {
	cfg := DefaultConfig()
	cfg.Endpoints, cfg.Username, cfg.Table = []string{address}, servers.User, "t_"+strings.ToLower(rand.Text())
	return cfg
}

func server() leasetest.Server {
	return leasetest.Server{
		Start: func(t testing.TB) *servers.Server { return servers.Postgres(t, servers.Options{}) },
		Registers: func(_ testing.TB, address string) func(testing.TB) lease.Store {
			cfg := config(address)
			return func(t testing.TB) lease.Store { return open(t, cfg) }
		},
		// A database that was set up again has no tables.
		Lose: func(t testing.TB, server *servers.Server) {
			admin(t, server, "DROP SCHEMA public CASCADE", "CREATE SCHEMA public")
		},
		Mark: hex.EncodeToString([]byte(leasetest.MarkOfRecord)), // statements carry values as text
	}
}

func TestConformance(t *testing.T) { server().Run(t) }

func BenchmarkPut(b *testing.B) { server().BenchmarkPut(b) }

func admin(t testing.TB, server *servers.Server, statements ...string) {
	conn, err := pgx.Connect(t.Context(), "postgres://"+servers.User+"@"+server.Address+"/postgres")
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(context.Background())) }()
	for _, statement := range statements {
		_, err = conn.Exec(t.Context(), statement)
		require.NoError(t, err, statement)
	}
}

// A database that isolates transactions strictly answers a race with an error.
func TestSerializableByDefault(t *testing.T) {
	server := servers.Postgres(t, servers.Options{})
	admin(t, server, "ALTER SYSTEM SET default_transaction_isolation = 'serializable'", "SELECT pg_reload_conf()")
	leasetest.RunOnly(t, leasetest.RealTime, "store/", func(testing.TB) leasetest.Backend {
		cfg := config(server.Address)
		return leasetest.Backend{Open: func(t testing.TB) lease.Store { return open(t, cfg) }}
	})
}

func TestTLSAndPassword(t *testing.T) {
	certificate := servers.NewCertificate(t)
	server := servers.Postgres(t, servers.Options{TLS: certificate, Password: `se'cr\et`})
	cfg := config(server.Address)
	settings := configtls.NewDefaultClientConfig()
	settings.CAFile = certificate.CertFile
	cfg.TLS, cfg.Password = configoptional.Some(settings), `se'cr\et`
	_, err := open(t, cfg).Put(t.Context(), "a", []byte("x"), "")
	require.NoError(t, err)

	for want, change := range map[string]func(*Config){
		"password authentication failed": func(c *Config) { c.Password = "wrong" },
		"unknown authority":              func(c *Config) { c.TLS = configoptional.Some(configtls.NewDefaultClientConfig()) },
		"\"nobody\"":                     func(c *Config) { c.Username = "nobody" },
		"database \"none\" does not":     func(c *Config) { c.Database = "none" },
	} {
		t.Run(want, func(t *testing.T) {
			changed := cfg
			change(&changed)
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			_, err := open(t, changed).Get(ctx, "a")
			require.ErrorContains(t, err, want)
			require.NotContains(t, err.Error(), "cr")
		})
	}
	cfg.TLS.Get().CAFile = "missing.pem"
	_, err = Open(t.Context(), cfg)
	require.ErrorContains(t, err, "load `tls`: ")
}

// The table can be made by another user, in a schema of its own.
func TestUserWhoMayNotMakeTables(t *testing.T) {
	server := servers.Postgres(t, servers.Options{})
	admin(t, server, "CREATE SCHEMA leases", "CREATE ROLE lease LOGIN", "GRANT USAGE ON SCHEMA leases TO lease")
	cfg := config(server.Address)
	cfg.Username, cfg.Table = "lease", "leases.heads"
	store := open(t, cfg)
	_, err := store.Get(t.Context(), "a")
	require.ErrorContains(t, err, `make the table, as somebody who may does with "CREATE TABLE IF NOT EXISTS \"leases\".\"heads\" (name bytea PRIMARY KEY, value bytea NOT NULL, revision text NOT NULL)"`)
	require.ErrorContains(t, err, "permission denied for schema leases")

	admin(t, server, `CREATE TABLE leases.heads (name bytea PRIMARY KEY, value bytea NOT NULL, revision text NOT NULL)`,
		"GRANT SELECT, INSERT, UPDATE, DELETE ON leases.heads TO lease")
	_, err = store.Put(t.Context(), "a", []byte("x"), "")
	require.NoError(t, err, "without a restart")
}

// A server that takes no writes is not read from, either.
func TestStandbyIsPassedOver(t *testing.T) {
	standby, primary := servers.Postgres(t, servers.Options{}), servers.Postgres(t, servers.Options{})
	admin(t, standby, "ALTER SYSTEM SET default_transaction_read_only = on", "SELECT pg_reload_conf()")
	cfg := config(primary.Address)
	cfg.Endpoints = []string{standby.Address, primary.Address}
	_, err := open(t, cfg).Put(t.Context(), "a", []byte("x"), "")
	require.NoError(t, err)
	cfg.Endpoints = cfg.Endpoints[:1]
	_, err = open(t, cfg).Get(t.Context(), "a")
	require.ErrorContains(t, err, "read only")
}

func TestBehind(t *testing.T) {
	for prefix, want := range map[string]string{"": "", "a": "b", "a\xff": "b", "\xff\xff": "", "a/": "a0"} {
		require.Equal(t, want, string(behind([]byte(prefix))))
	}
}
