package window

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/internal/encode"
	"github.com/s3window/s3window/internal/flush"
	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/partition"
)

// TestRecordsAreTheirGoldens holds what is kept in the WAL's storage to
// docs/format.md: files of earlier versions must stay readable.
func TestRecordsAreTheirGoldens(t *testing.T) {
	ref := lake.Ref{Endpoint: "http://127.0.0.1:9000", Region: "us-east-1", Bucket: "lake", Prefix: "otel", PathStyle: true}
	s := seal{
		Version: 1, Sink: "default", Tenant: "acme", Signal: partition.Logs, Writer: "q7m2q7m2q7m2q",
		After: 1, Start: 2, End: 3, Reason: flush.Age, Lake: ref, Align: partition.AlignHour, Spec: testSpec(),
	}
	b, err := s.encode()
	require.NoError(t, err)
	assert.Equal(t, golden(t, "seal.v1.json", b), string(b))
	back, err := decodeSeal(b)
	require.NoError(t, err)
	assert.Equal(t, s, back)

	s.Spec.ObjectBytes = 64 << 20
	s.Spec.Filing = &encode.Filing{
		EventTime: true, MaxSkew: 3600_000_000, Align: partition.AlignDay, MaxPlaces: 100,
		By: []encode.Level{{ResourceAttribute: "service.name", As: "service"}, {Attribute: "env", As: "env"}, {ScopeAttribute: "team", As: "team"}},
	}
	b, err = s.encode()
	require.NoError(t, err)
	assert.Equal(t, golden(t, "seal-filed.v1.json", b), string(b))
	back, err = decodeSeal(b)
	require.NoError(t, err)
	assert.Equal(t, s, back)

	o := Origins{Version: 1, Sink: "default", Lake: ref, Tenants: map[string]lake.Ref{"acme": {Bucket: "acme-lake"}}}
	b, err = o.Encode()
	require.NoError(t, err)
	assert.Equal(t, golden(t, "writer.v1.json", b), string(b))
	read, err := decodeOrigins(b)
	require.NoError(t, err)
	assert.Equal(t, o, read)
}

// golden reads a golden file; with UPDATE_GOLDEN set it writes got first.
func golden(t *testing.T, name string, got []byte) string {
	t.Helper()
	path := "testdata/" + name
	if os.Getenv("UPDATE_GOLDEN") != "" {
		require.NoError(t, os.WriteFile(path, append(got, '\n'), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	return strings.TrimSuffix(string(want), "\n")
}

func TestRecordsThatAreRefused(t *testing.T) {
	for name, in := range map[string]string{
		"another version": `{"version":2,"writer":"w","start":1,"end":2,"lake":{"bucket":"b"}}`,
		"no window":       `{"version":1,"writer":"w","start":2,"end":2,"lake":{"bucket":"b"}}`,
		"no lake":         `{"version":1,"writer":"w","start":1,"end":2}`,
		"no JSON":         `seal`,
	} {
		t.Run(name, func(t *testing.T) {
			_, err := decodeSeal([]byte(in))
			require.ErrorContains(t, err, "decode seal")
		})
	}
	_, err := decodeOrigins([]byte(`{"version":2}`))
	require.ErrorContains(t, err, "decode writer")
}
