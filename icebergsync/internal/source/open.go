package source

import (
	"context"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/s3client"
)

// Store is one S3 store: any of its buckets, as one user. It is safe for
// concurrent use.
type Store struct {
	client   *s3.Client
	settings s3client.Config

	mu     sync.Mutex // guards opened
	opened map[string]lake.Bucket
}

// OpenStore makes the store of the settings, which name the lake's bucket. It
// connects to nothing.
func OpenStore(ctx context.Context, c s3client.Config) (*Store, error) {
	client, err := s3client.New(ctx, c)
	if err != nil {
		return nil, err
	}
	return &Store{client: client, settings: c, opened: map[string]lake.Bucket{}}, nil
}

// Close ends idle connections.
func (s *Store) Close() { s3client.CloseIdle(s.client) }

// Bucket returns a bucket of the store. It never fails: one that does not exist
// shows in its first request.
func (s *Store) Bucket(name string) (lake.Bucket, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.opened[name]
	if b == nil {
		c := s.settings
		c.Bucket = name
		b = lake.NewS3(s.client, lake.S3Options{Settings: c})
		s.opened[name] = b
	}
	return b, nil
}

// Lake returns the lake below a prefix of the settings' bucket.
func (s *Store) Lake(prefix string) *lake.Lake {
	b, _ := s.Bucket(s.settings.Bucket)
	return lake.New(b, lake.Ref{
		Endpoint: s.settings.Endpoint, Region: s.settings.Region, Bucket: s.settings.Bucket, Prefix: prefix, PathStyle: s.settings.PathStyle,
	})
}
