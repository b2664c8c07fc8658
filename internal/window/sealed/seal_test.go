package sealed

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

// TestSealsAreTheirGoldens holds what is kept in the queue's storage to
// docs/format.md: files of earlier versions must stay readable.
func TestSealsAreTheirGoldens(t *testing.T) {
	plain := Seal{
		Version: 1, Sink: "default", Tenant: "acme", Signal: partition.Logs, Writer: "q7m2q7m2q7m2q",
		After: 1, Start: 2, End: 3, Reason: flush.Age, Align: partition.AlignHour,
		Lake: lake.Ref{Endpoint: "http://127.0.0.1:9000", Region: "us-east-1", Bucket: "lake", Prefix: "otel", PathStyle: true},
		Spec: encode.Spec{Signal: partition.Logs, Format: "parquet", Codec: "snappy", RowGroupRows: 1000, RowGroupBytes: 1 << 20},
	}
	filed := plain
	filed.Spec.ObjectBytes = 64 << 20
	filed.Spec.Filing = &encode.Filing{
		EventTime: true, MaxSkew: 3600_000_000, Align: partition.AlignDay, MaxPlaces: 100,
		By: []encode.Level{{ResourceAttribute: "service.name", As: "service"}, {Attribute: "env", As: "env"}, {ScopeAttribute: "team", As: "team"}},
	}
	for name, s := range map[string]Seal{"seal.v1.json": plain, "seal-filed.v1.json": filed} {
		b, err := s.Encode()
		require.NoError(t, err)
		path := "testdata/" + name
		if os.Getenv("UPDATE_GOLDEN") != "" {
			require.NoError(t, os.WriteFile(path, append(b, '\n'), 0o600))
		}
		want, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, strings.TrimSuffix(string(want), "\n"), string(b))
		back, err := DecodeSeal(b)
		require.NoError(t, err)
		assert.Equal(t, s, back)
	}
}

func TestSealsThatAreRefused(t *testing.T) {
	for name, in := range map[string]string{
		"another version": `{"version":2,"writer":"w","start":1,"end":2,"lake":{"bucket":"b"}}`,
		"no window":       `{"version":1,"writer":"w","start":2,"end":2,"lake":{"bucket":"b"}}`,
		"no lake":         `{"version":1,"writer":"w","start":1,"end":2}`,
		"no JSON":         `seal`,
	} {
		t.Run(name, func(t *testing.T) {
			_, err := DecodeSeal([]byte(in))
			require.ErrorContains(t, err, "decode seal")
		})
	}
}

func TestWhatASealHolds(t *testing.T) {
	s := Seal{Writer: "w", Start: 10, End: 20}
	for stamp, want := range map[int64]bool{9: false, 10: true, 19: true, 20: false} {
		assert.Equal(t, want, s.Holds("w", stamp))
		assert.False(t, s.Holds("x", stamp))
	}
	for _, c := range []struct {
		o    Seal
		want bool
	}{
		{Seal{Writer: "w", Start: 19, End: 30}, true}, {Seal{Writer: "w", Start: 20, End: 30}, false},
		{Seal{Writer: "w", Start: 1, End: 11}, true}, {Seal{Writer: "w", Start: 1, End: 10}, false},
		{Seal{Writer: "x", Start: 10, End: 20}, false},
	} {
		assert.Equal(t, c.want, s.Overlaps(&c.o))
		assert.Equal(t, c.want, c.o.Overlaps(&s))
	}
}
