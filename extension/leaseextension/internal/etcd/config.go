package etcd

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.opentelemetry.io/collector/config/configopaque"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/config/configtls"
	"go.uber.org/zap"

	"github.com/s3window/s3window/extension/leaseextension/internal/dial"
)

const (
	loginTimeout     = 5 * time.Second
	keepAliveTime    = 10 * time.Second // servers refuse less than 5 s
	keepAliveTimeout = 3 * time.Second
)

// Config is the backend's block of the configuration.
type Config struct {
	// Endpoints are members of one cluster.
	Endpoints []string `mapstructure:"endpoints"`
	// Prefix is put in front of every key.
	Prefix string `mapstructure:"prefix"`

	Username string              `mapstructure:"username"`
	Password configopaque.String `mapstructure:"password"`
	// TLS refines what https means.
	TLS configoptional.Optional[configtls.ClientConfig] `mapstructure:"tls"`
}

// DefaultConfig returns the settings that apply where nothing is configured.
func DefaultConfig() Config {
	return Config{Prefix: "s3window/leases/", TLS: configoptional.Default(configtls.NewDefaultClientConfig())}
}

// Check names everything that is wrong with the block, one line each.
func (c *Config) Check() error {
	scheme, err := dial.CheckURLs("endpoints", c.Endpoints, "http", "https")
	errs := []error{err}
	if scheme == "http" && c.TLS.HasValue() {
		errs = append(errs, errors.New("`tls` is set, and `endpoints` are http: they must be https to be encrypted"))
	}
	if (c.Username == "") != (c.Password == "") {
		errs = append(errs, errors.New("`username` and `password` must be set together: one without the other logs nobody in"))
	}
	return errors.Join(errs...)
}

// Open returns a store on the configured cluster. It connects to nothing.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	settings := clientv3.Config{
		Endpoints: cfg.Endpoints, Username: cfg.Username, Password: string(cfg.Password),
		DialTimeout: loginTimeout, DialKeepAliveTime: keepAliveTime, DialKeepAliveTimeout: keepAliveTimeout,
		PermitWithoutStream: true,
		Logger:              zap.NewNop(), // what it would say comes back as errors
	}
	if scheme, _ := dial.CheckURLs("endpoints", cfg.Endpoints, "https"); scheme == "https" {
		encryption, err := cfg.encryption(ctx)
		if err != nil {
			return nil, err
		}
		settings.TLS = encryption
	}
	connection := dial.NewLazy(func(life context.Context) (*clientv3.Client, error) {
		settings := settings
		settings.Context = life
		client, err := clientv3.New(settings) // with a user name, it logs in and waits for that
		if err != nil {
			return nil, fmt.Errorf("connect to etcd: %w", err)
		}
		return client, nil
	}, (*clientv3.Client).Close)
	return &Store{connection: connection, prefix: cfg.Prefix}, nil
}

func (c *Config) encryption(ctx context.Context) (*tls.Config, error) {
	settings := configtls.NewDefaultClientConfig()
	if c.TLS.HasValue() {
		settings = *c.TLS.Get()
	}
	encryption, err := settings.LoadTLSConfig(ctx)
	if err != nil {
		return nil, fmt.Errorf("load `tls`: %w", err)
	}
	if encryption == nil {
		encryption = &tls.Config{} // insecure is said of the scheme
	}
	return encryption, nil
}

// Close ends the connections.
func (s *Store) Close() error {
	if err := s.connection.Close(); err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("close etcd client: %w", err)
	}
	return nil
}
