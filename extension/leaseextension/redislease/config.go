package redislease

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
	"go.opentelemetry.io/collector/config/configopaque"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/config/configtls"

	"github.com/s3window/s3window/extension/leaseextension/internal/dial"
)

const (
	dialTimeout = 5 * time.Second
	ioTimeout   = 3 * time.Second
)

// Config are the backend's keys, beside ttl.
type Config struct {
	// Endpoints are one server, several nodes of a Redis Cluster, or, with
	// MasterName, the sentinels.
	Endpoints []string `mapstructure:"endpoints"`
	// MasterName is the name under which sentinels know the master.
	MasterName string `mapstructure:"master_name"`
	// Cluster says that the one endpoint is a node of a Redis Cluster.
	Cluster bool `mapstructure:"cluster"`
	// Database is the number of the database; clusters have only 0.
	Database int `mapstructure:"database"`
	// Prefix is put in front of every key.
	Prefix string `mapstructure:"prefix"`

	Username         string              `mapstructure:"username"`
	Password         configopaque.String `mapstructure:"password"`
	SentinelUsername string              `mapstructure:"sentinel_username"`
	SentinelPassword configopaque.String `mapstructure:"sentinel_password"`
	// TLS makes connections encrypted.
	TLS configoptional.Optional[configtls.ClientConfig] `mapstructure:"tls"`
}

// DefaultConfig returns the settings that apply where nothing is configured.
func DefaultConfig() Config {
	return Config{Prefix: "s3window/leases/", TLS: configoptional.Default(configtls.NewDefaultClientConfig())}
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
	sentinels := c.MasterName != ""
	if sentinels && c.Cluster {
		errs = append(errs, errors.New("of `master_name` and `cluster` only one must be set: sentinels watch over servers that are no cluster"))
	}
	if c.Database < 0 || c.Database != 0 && !sentinels && (c.Cluster || len(c.Endpoints) > 1) {
		errs = append(errs, fmt.Errorf("`database` (%d) must be 0, or more with a server that is no cluster: clusters have one database", c.Database))
	}
	if c.Username != "" && c.Password == "" {
		errs = append(errs, errors.New("`password` is empty while `username` is set: a user logs in with both"))
	}
	if !sentinels && (c.SentinelUsername != "" || c.SentinelPassword != "") {
		errs = append(errs, errors.New("`sentinel_username` and `sentinel_password` need `master_name`: without it there are no sentinels"))
	}
	return errors.Join(errs...)
}

// Open returns a store on the configured servers. It connects to nothing.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	options := &redis.UniversalOptions{
		Addrs: cfg.Endpoints, MasterName: cfg.MasterName, IsClusterMode: cfg.Cluster, DB: cfg.Database,
		Username: cfg.Username, Password: string(cfg.Password),
		SentinelUsername: cfg.SentinelUsername, SentinelPassword: string(cfg.SentinelPassword),
		DialTimeout: dialTimeout, ReadTimeout: ioTimeout, WriteTimeout: ioTimeout, ContextTimeoutEnabled: true,
		DisableIdentity:          true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}
	if cfg.TLS.HasValue() {
		encryption, err := cfg.TLS.Get().LoadTLSConfig(ctx)
		if err != nil {
			return nil, fmt.Errorf("load `tls`: %w", err)
		}
		options.TLSConfig = encryption
	}
	return &Store{client: redis.NewUniversalClient(options), prefix: cfg.Prefix}, nil
}

// Close ends the connections.
func (s *Store) Close() error {
	if err := s.client.Close(); err != nil {
		return fmt.Errorf("close Redis client: %w", err)
	}
	return nil
}
