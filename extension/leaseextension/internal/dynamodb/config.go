package dynamodb

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"go.opentelemetry.io/collector/config/configopaque"

	"github.com/s3window/s3window/extension/leaseextension/internal/dial"
	"github.com/s3window/s3window/internal/s3client"
)

var tableName = regexp.MustCompile(`^[A-Za-z0-9_.-]{3,255}$`)

// Config is the backend's block of the configuration.
type Config struct {
	// Table has the string "name" as its partition key, and no sort key.
	Table string `mapstructure:"table"`
	// CreateTable makes the table if it is missing.
	CreateTable bool `mapstructure:"create_table"`

	Region string `mapstructure:"region"`
	// Endpoint is the service's URL; empty means AWS.
	Endpoint string `mapstructure:"endpoint"`

	// AccessKeyID and SecretAccessKey are static keys; empty means the SDK's
	// default chain.
	AccessKeyID     string              `mapstructure:"access_key_id"`
	SecretAccessKey configopaque.String `mapstructure:"secret_access_key"`
	RoleARN         string              `mapstructure:"role_arn"`
	ExternalID      string              `mapstructure:"external_id"`

	// Timeout is for how long no byte may move on a connection.
	Timeout time.Duration `mapstructure:"timeout"`
}

// DefaultConfig returns the settings that apply where nothing is configured.
func DefaultConfig() Config {
	return Config{Table: "s3window-leases", Region: s3client.Default().Region, Timeout: 10 * time.Second}
}

// Check names everything that is wrong with the block, one line each.
func (c *Config) Check() error {
	var table error
	if !tableName.MatchString(c.Table) {
		table = fmt.Errorf("`table` (%q) must be 3 to 255 of A-Z a-z 0-9 _ . -: DynamoDB has no other names", c.Table)
	}
	client := c.client()
	return errors.Join(table, client.Validate())
}

// client is what the clients of S3 and DynamoDB have in common.
func (c *Config) client() s3client.Config {
	client := s3client.Default()
	client.Bucket = "none"
	client.Region, client.Endpoint, client.Timeout = c.Region, c.Endpoint, c.Timeout
	client.AccessKeyID, client.SecretAccessKey = c.AccessKeyID, c.SecretAccessKey
	client.RoleARN, client.ExternalID = c.RoleARN, c.ExternalID
	return client
}

// Open returns a store in the configured table. It connects to nothing.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	settings, err := s3client.Load(ctx, cfg.client())
	if err != nil {
		return nil, fmt.Errorf("make DynamoDB client: %w", err)
	}
	client := dynamodb.NewFromConfig(settings, func(o *dynamodb.Options) {
		if cfg.Endpoint != "" {
			o.BaseEndpoint = aws.String(cfg.Endpoint)
		}
	})
	table := dial.NewLazy(func(life context.Context) (*dynamodb.Client, error) {
		if cfg.CreateTable {
			return client, create(life, client, cfg.Table)
		}
		return client, nil
	}, func(c *dynamodb.Client) error { closeIdle(c); return nil })
	return &Store{client: table, table: cfg.Table, create: cfg.CreateTable}, nil
}

func closeIdle(client *dynamodb.Client) {
	if h, ok := client.Options().HTTPClient.(interface{ CloseIdleConnections() }); ok {
		h.CloseIdleConnections()
	}
}

// Close ends the connections.
func (s *Store) Close() error { return s.client.Close() }
