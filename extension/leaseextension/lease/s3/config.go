package s3

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/s3window/s3window/internal/s3client"
)

// Config is the backend's block of the configuration.
type Config struct {
	Client Client `mapstructure:",squash"`
	// Prefix is the folder of the lease objects; nothing else may be in it.
	Prefix string `mapstructure:"prefix"`
}

// Client is s3client.Config without its Validate: confmap would call it besides
// Check, under the name of a key that does not exist.
type Client s3client.Config

// DefaultConfig returns the settings that apply where nothing is configured.
func DefaultConfig() Config {
	return Config{Client: Client(s3client.Default()), Prefix: "leases"}
}

// Check names everything that is wrong with the block, one line each.
func (c *Config) Check() error {
	client := s3client.Config(c.Client)
	return errors.Join(client.Validate(), c.checkPrefix())
}

func (c *Config) checkPrefix() error {
	prefix := strings.Trim(c.Prefix, "/")
	if prefix == "" {
		return nil
	}
	for part := range strings.SplitSeq(prefix, "/") {
		if part == "" || part == "." || part == ".." {
			return fmt.Errorf("`prefix` (%q) must not have empty, . or .. parts: stores disagree on what they mean", c.Prefix)
		}
	}
	return nil
}

// Open returns a store on the configured bucket. It connects to nothing.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	client, err := s3client.New(ctx, s3client.Config(cfg.Client))
	if err != nil {
		return nil, fmt.Errorf("make S3 client: %w", err)
	}
	return New(client, cfg.Client.Bucket, cfg.Prefix, cfg.refine), nil
}

// Close ends the connections that the store keeps open. The store stays usable.
func (s *Store) Close() { s3client.CloseIdle(s.client) }

// refine adds to a PUT what the bucket's owner asks for.
func (c *Config) refine(in *s3.PutObjectInput) {
	s3client.Config(c.Client).Refine(in)
	in.StorageClass = types.StorageClass(c.Client.StorageClass)
}
