package lake_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/testbed/s3test"
)

// The end of an object is one request to a directory and to a real server.
func TestTail(t *testing.T) {
	type tailer interface {
		lake.Bucket
		Tail(ctx context.Context, key string, n int64) ([]byte, int64, error)
	}
	dir, err := lake.NewDir(t.TempDir())
	require.NoError(t, err)
	server := s3test.Start(t)
	c := settings(t, server, server.Endpoint)
	for name, b := range map[string]tailer{"directory": dir, "S3": lake.NewS3(newClient(t, c), small(c))} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, b.PutIfAbsent(t.Context(), "a/b", lake.NewBody("", []byte("0123456789"))))
			for n, want := range map[int64]string{1: "9", 4: "6789", 10: "0123456789", 99: "0123456789"} {
				got, size, err := b.Tail(t.Context(), "a/b", n)
				require.NoError(t, err)
				assert.Equal(t, want, string(got))
				assert.EqualValues(t, 10, size)
			}
			_, _, err = b.Tail(t.Context(), "a/c", 4)
			require.ErrorIs(t, err, lake.ErrNotExist)
		})
	}
}
