package window

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/internal/lake"
)

// TestOriginsAreTheirGolden holds what is kept with a writer to docs/format.md.
func TestOriginsAreTheirGolden(t *testing.T) {
	ref := lake.Ref{Endpoint: "http://127.0.0.1:9000", Region: "us-east-1", Bucket: "lake", Prefix: "otel", PathStyle: true}
	o := Origins{Version: 1, Sink: "default", Lake: ref, Tenants: map[string]lake.Ref{"acme": {Bucket: "acme-lake"}}}
	b, err := o.Encode()
	require.NoError(t, err)
	want, err := os.ReadFile("testdata/writer.v1.json")
	require.NoError(t, err)
	assert.Equal(t, strings.TrimSuffix(string(want), "\n"), string(b))
	read, err := decodeOrigins(b)
	require.NoError(t, err)
	assert.Equal(t, o, read)
	_, err = decodeOrigins([]byte(`{"version":2}`))
	require.ErrorContains(t, err, "decode writer")
}
