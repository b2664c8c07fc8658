package lake_test

import (
	"fmt"
	"testing"

	"go.opentelemetry.io/collector/config/configopaque"

	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/s3client"
	"github.com/s3window/s3window/testbed/s3test"
)

// BenchmarkPut shows what an upload allocates: a constant, whatever its size,
// because parts are cut out of the segments.
func BenchmarkPut(b *testing.B) {
	s := s3test.Start(b)
	c := s3client.Default()
	c.Bucket, c.Endpoint, c.PathStyle = s.NewBucket(b), s.Endpoint, true
	c.AccessKeyID, c.SecretAccessKey = s.AccessKey, configopaque.String(s.SecretKey)
	client, err := s3client.New(b.Context(), c)
	if err != nil {
		b.Fatal(err)
	}
	defer s3client.CloseIdle(client)
	bucket := lake.NewS3(client, lake.S3Options{Settings: c})
	for _, size := range []int{4 << 10, 16 << 20, 63 << 20, 128 << 20} {
		b.Run(fmt.Sprintf("%dKiB", size>>10), func(b *testing.B) {
			var segments [][]byte
			for rest := size; rest > 0; rest -= 1 << 20 {
				segments = append(segments, make([]byte, min(rest, 1<<20)))
			}
			body := lake.NewBody("application/octet-stream", segments...)
			b.SetBytes(int64(size))
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				key := fmt.Sprint(b.Name(), "/", b.N, "-", n)
				n++
				if err := bucket.PutIfAbsent(b.Context(), key, body); err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				if err := bucket.Delete(b.Context(), key); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
		})
	}
}
