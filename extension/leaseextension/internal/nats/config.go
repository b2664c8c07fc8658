package nats

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	natsgo "github.com/nats-io/nats.go"
	"go.opentelemetry.io/collector/config/configopaque"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/config/configtls"

	"github.com/s3window/s3window/extension/leaseextension/internal/dial"
)

const (
	connectTimeout = 5 * time.Second
	reconnectWait  = 250 * time.Millisecond
	pingInterval   = 10 * time.Second
)

var bucketName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,200}$`)

// Config is the backend's block of the configuration.
type Config struct {
	// Endpoints are servers of one cluster.
	Endpoints []string `mapstructure:"endpoints"`
	// Bucket is the KV bucket; it is made if it is missing.
	Bucket string `mapstructure:"bucket"`
	// Replicas is how many servers keep a bucket that is made.
	Replicas int `mapstructure:"replicas"`

	Username        string              `mapstructure:"username"`
	Password        configopaque.String `mapstructure:"password"`
	Token           configopaque.String `mapstructure:"token"`
	CredentialsFile string              `mapstructure:"credentials_file"`
	// TLS makes connections encrypted, as tls:// does, and refines how.
	TLS configoptional.Optional[configtls.ClientConfig] `mapstructure:"tls"`
}

// DefaultConfig returns the settings that apply where nothing is configured.
func DefaultConfig() Config {
	return Config{Bucket: "s3window-leases", Replicas: 1, TLS: configoptional.Default(configtls.NewDefaultClientConfig())}
}

// Check names everything that is wrong with the block, one line each.
func (c *Config) Check() error {
	_, err := dial.CheckURLs("endpoints", c.Endpoints, "nats", "tls")
	errs := []error{err}
	if !bucketName.MatchString(c.Bucket) {
		errs = append(errs, fmt.Errorf("`bucket` (%q) must be 1 to 200 of A-Z a-z 0-9 _ -: NATS has no other names", c.Bucket))
	}
	if c.Replicas < 1 || c.Replicas > 5 {
		errs = append(errs, fmt.Errorf("`replicas` (%d) must be 1 to 5: NATS keeps no more", c.Replicas))
	}
	if (c.Username == "") != (c.Password == "") {
		errs = append(errs, errors.New("`username` and `password` must be set together: one without the other logs nobody in"))
	}
	ways := 0
	for _, set := range []bool{c.Username != "", c.Token != "", c.CredentialsFile != ""} {
		if set {
			ways++
		}
	}
	if ways > 1 {
		errs = append(errs, errors.New("of `username`, `token` and `credentials_file` only one must be set: a connection logs in once"))
	}
	return errors.Join(errs...)
}

// Open returns a store in the configured bucket. It connects to nothing.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	options, err := cfg.options(ctx)
	if err != nil {
		return nil, err
	}
	connection := dial.NewLazy(func(life context.Context) (*connection, error) {
		return connect(life, cfg, options)
	}, func(c *connection) error { c.nats.Close(); return nil })
	return &Store{cfg: cfg, connection: connection, stream: streamPrefix + cfg.Bucket, subject: subjectPrefix + cfg.Bucket + "."}, nil
}

func (c *Config) options(ctx context.Context) ([]natsgo.Option, error) {
	options := []natsgo.Option{
		natsgo.Name("lease"),
		natsgo.Timeout(connectTimeout),
		natsgo.MaxReconnects(-1), natsgo.ReconnectWait(reconnectWait), natsgo.PingInterval(pingInterval),
		natsgo.ReconnectBufSize(-1), // what cannot be sent now fails now
		natsgo.ErrorHandler(func(*natsgo.Conn, *natsgo.Subscription, error) {}), // not to the standard error
	}
	switch {
	case c.Username != "":
		options = append(options, natsgo.UserInfo(c.Username, string(c.Password)))
	case c.Token != "":
		options = append(options, natsgo.Token(string(c.Token)))
	case c.CredentialsFile != "":
		options = append(options, natsgo.UserCredentials(c.CredentialsFile))
	}
	if !c.TLS.HasValue() {
		return options, nil
	}
	encryption, err := c.TLS.Get().LoadTLSConfig(ctx)
	if err != nil {
		return nil, fmt.Errorf("load `tls`: %w", err)
	}
	if encryption != nil {
		options = append(options, natsgo.Secure(encryption))
	}
	return options, nil
}

func connect(ctx context.Context, cfg Config, options []natsgo.Option) (*connection, error) {
	conn, err := natsgo.Connect(strings.Join(cfg.Endpoints, ","), options...)
	if err != nil {
		return nil, fmt.Errorf("connect to NATS: %w", err)
	}
	c, err := open(ctx, conn, cfg)
	if err != nil {
		conn.Close()
		return nil, err
	}
	return c, nil
}

// Close ends the connection.
func (s *Store) Close() error { return s.connection.Close() }
