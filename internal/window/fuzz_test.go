package window

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzStory is TestNoAcknowledgedLossWhateverHappens with whatever seeds the
// fuzzer tries. One that fails is run alone by WINDOW_FIRST=<seed>
// WINDOW_SEEDS=1.
func FuzzStory(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) {
		bubble(t, func(t *testing.T) { newStory(t, seed).tell() })
	})
}

// What is read of a writer is what would be written of it.
func FuzzDecodeOrigins(f *testing.F) {
	golden, err := os.ReadFile("testdata/writer.v1.json")
	require.NoError(f, err)
	f.Add(golden)
	f.Add([]byte(`{"version":1,"sink":"s","lake":{"bucket":"b"},"tenants":{"":{"bucket":""}}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		o, err := decodeOrigins(raw)
		if err != nil {
			return
		}
		b, err := o.Encode()
		require.NoError(t, err)
		again, err := decodeOrigins(b)
		require.NoError(t, err)
		require.Equal(t, o.of("a"), again.of("a"))
		back, err := again.Encode()
		require.NoError(t, err)
		require.Equal(t, b, back)
	})
}
