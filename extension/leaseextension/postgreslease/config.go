package postgreslease

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"regexp"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"go.opentelemetry.io/collector/config/configopaque"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/config/configtls"

	"github.com/s3window/s3window/extension/leaseextension/internal/dial"
)

const (
	connectTimeout = 5 * time.Second
	maxConnections = 4
)

var tableName = regexp.MustCompile(`^([a-z_][a-z0-9_]{0,62}\.)?[a-z_][a-z0-9_]{0,62}$`)

// Config are the backend's keys, beside ttl.
type Config struct {
	// Endpoints are servers of one database, of which the one that takes writes
	// is used.
	Endpoints []string `mapstructure:"endpoints"`
	Database  string   `mapstructure:"database"`
	// Table is made if it is missing and the user may.
	Table string `mapstructure:"table"`

	Username string              `mapstructure:"username"`
	Password configopaque.String `mapstructure:"password"`
	// TLS makes connections encrypted; a server that cannot is refused.
	TLS configoptional.Optional[configtls.ClientConfig] `mapstructure:"tls"`
}

// DefaultConfig returns the settings that apply where nothing is configured.
func DefaultConfig() Config {
	return Config{Database: "postgres", Table: "s3window_leases", TLS: configoptional.Default(configtls.NewDefaultClientConfig())}
}

// Check names everything that is wrong with the settings, one line each.
func (c *Config) Check() error {
	var errs []error
	if len(c.Endpoints) == 0 {
		errs = append(errs, errors.New("`endpoints` is empty: it must name servers as host:port"))
	}
	for _, address := range c.Endpoints {
		errs = append(errs, dial.CheckAddress("endpoints", address))
	}
	if c.Database == "" {
		errs = append(errs, errors.New("`database` is empty: it must name the database that the table is in"))
	}
	if !tableName.MatchString(c.Table) {
		errs = append(errs, fmt.Errorf("`table` (%q) must be 1 to 63 of a-z 0-9 _, with a schema and a dot in front or without: it is not quoted by those who look into it", c.Table))
	}
	if c.Username == "" {
		errs = append(errs, errors.New("`username` is empty: it must name who logs in"))
	}
	return errors.Join(errs...)
}

// Open returns a store in the configured table. It connects to nothing.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	settings, err := cfg.pool(ctx)
	if err != nil {
		return nil, err
	}
	store := &Store{table: `"` + strings.ReplaceAll(cfg.Table, ".", `"."`) + `"`} // Check lets no quotes pass
	store.connection = dial.NewLazy(func(life context.Context) (*pgxpool.Pool, error) {
		return store.connect(life, settings)
	}, func(pool *pgxpool.Pool) error { pool.Close(); return nil })
	return store, nil
}

// pool are the settings of the connections. They say all that pgx would take
// from the environment otherwise.
func (c *Config) pool(ctx context.Context) (*pgxpool.Config, error) {
	var hosts, ports []string
	for _, address := range c.Endpoints {
		host, port, err := net.SplitHostPort(address)
		if err != nil {
			return nil, fmt.Errorf("read `endpoints`: %w", err)
		}
		hosts, ports = append(hosts, host), append(ports, port)
	}
	settings, err := pgxpool.ParseConfig(fmt.Sprintf(
		"host=%s port=%s dbname=%s user=%s password=%s sslmode=disable target_session_attrs=read-write application_name=lease",
		quote(strings.Join(hosts, ",")), quote(strings.Join(ports, ",")), quote(c.Database), quote(c.Username), quote(string(c.Password))))
	if err != nil {
		return nil, errors.New("make PostgreSQL client: an endpoint, `database`, `username` or `password` cannot be passed on") // the cause may hold the password
	}
	settings.MaxConns = maxConnections
	conn := settings.ConnConfig
	conn.ConnectTimeout = connectTimeout
	conn.DefaultQueryExecMode = pgx.QueryExecModeExec // no prepared statements: poolers lose them
	if !c.TLS.HasValue() {
		return settings, nil
	}
	encryption, err := c.TLS.Get().LoadTLSConfig(ctx)
	if err != nil {
		return nil, fmt.Errorf("load `tls`: %w", err)
	}
	conn.TLSConfig = forHost(encryption, conn.Host)
	for _, other := range conn.Fallbacks {
		other.TLSConfig = forHost(encryption, other.Host)
	}
	return settings, nil
}

// forHost names the host whose certificate is asked for, unless one is named.
func forHost(encryption *tls.Config, host string) *tls.Config {
	if encryption == nil || encryption.ServerName != "" {
		return encryption
	}
	encryption = encryption.Clone()
	encryption.ServerName = host
	return encryption
}

func quote(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
}

// Close ends the connections.
func (s *Store) Close() error { return s.connection.Close() }
