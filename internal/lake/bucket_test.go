package lake_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"go.opentelemetry.io/collector/config/configopaque"
	"go.uber.org/goleak"

	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/lake/laketest"
	"github.com/s3window/s3window/internal/s3client"
	"github.com/s3window/s3window/testbed/s3test"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// settings are those of a fresh bucket at the server, reached at endpoint.
func settings(t *testing.T, s *s3test.Server, endpoint string) s3client.Config {
	t.Helper()
	c := s3client.Default()
	c.Bucket, c.Endpoint, c.PathStyle = s.NewBucket(t), endpoint, true
	c.AccessKeyID, c.SecretAccessKey = s.AccessKey, configopaque.String(s.SecretKey)
	return c
}

func newClient(t *testing.T, c s3client.Config) *s3.Client {
	t.Helper()
	client, err := s3client.New(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s3client.CloseIdle(client) })
	return client
}

// small has every object above 6 MiB go up in parts of 5 MiB.
func small(c s3client.Config) lake.S3Options {
	return lake.S3Options{Settings: c, Threshold: 6 << 20, PartSize: 5 << 20}
}

func TestMemoryBucket(t *testing.T) {
	laketest.TestBucket(t, func(*testing.T) lake.Bucket { return laketest.NewMemory() })
}

func TestDirBucket(t *testing.T) {
	laketest.TestBucket(t, func(t *testing.T) lake.Bucket {
		d, err := lake.NewDir(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		return d
	})
}

func TestS3Bucket(t *testing.T) {
	s := s3test.Start(t)
	laketest.TestBucket(t, func(t *testing.T) lake.Bucket {
		c := settings(t, s, s.Endpoint)
		return lake.NewS3(newClient(t, c), small(c))
	})
}
