package s3

import (
	"context"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/s3window/s3window/internal/s3client"
)

// Config is the backend's block of the configuration.
type Config struct {
	Client s3client.Config `mapstructure:",squash"`
	// Prefix is the folder of the lease objects; nothing else may be in it.
	Prefix string `mapstructure:"prefix"`
}

// DefaultConfig returns the settings that apply where nothing is configured.
func DefaultConfig() Config {
	return Config{Client: s3client.Default(), Prefix: "leases"}
}

// Validate implements xconfmap.Validator.
func (c *Config) Validate() error {
	for part := range strings.SplitSeq(strings.Trim(c.Prefix, "/"), "/") {
		if part == "." || part == ".." || (part == "" && strings.Trim(c.Prefix, "/") != "") {
			return fmt.Errorf("`prefix` (%q) must not have empty, . or .. parts: stores disagree on what they mean", c.Prefix)
		}
	}
	return nil
}

// Open returns a store on the configured bucket. It connects to nothing.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	client, err := s3client.New(ctx, cfg.Client)
	if err != nil {
		return nil, fmt.Errorf("make S3 client: %w", err)
	}
	return New(client, cfg.Client.Bucket, cfg.Prefix, cfg.refine), nil
}

// Close ends the connections that the store keeps open. The store stays usable.
func (s *Store) Close() { s3client.CloseIdle(s.client) }

// refine adds to a PUT what the bucket's owner asks for.
func (c *Config) refine(in *s3.PutObjectInput) {
	in.ChecksumAlgorithm = c.Client.Algorithm()
	in.StorageClass = types.StorageClass(c.Client.StorageClass)
	in.ServerSideEncryption = types.ServerSideEncryption(c.Client.SSE)
	if c.Client.SSEKMSKeyID != "" {
		in.SSEKMSKeyId = &c.Client.SSEKMSKeyID
	}
}
