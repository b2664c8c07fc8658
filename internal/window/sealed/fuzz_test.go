package sealed

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// A seal that is read is a window, and is written again as it was read: a
// window is finished as its seal says, so nothing of it may change on the way.
func FuzzDecodeSeal(f *testing.F) {
	for _, name := range []string{"seal.v1.json", "seal-filed.v1.json"} {
		golden, err := os.ReadFile("testdata/" + name)
		require.NoError(f, err)
		f.Add(golden)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		s, err := DecodeSeal(raw)
		if err != nil {
			return
		}
		require.Less(t, s.Start, s.End)
		require.True(t, s.Holds(s.Writer, s.Start))
		require.False(t, s.Holds(s.Writer, s.End))
		require.True(t, s.Overlaps(&s))
		b, err := s.Encode()
		require.NoError(t, err)
		again, err := DecodeSeal(b)
		require.NoError(t, err)
		require.Equal(t, s.ID(), again.ID())
		back, err := again.Encode()
		require.NoError(t, err)
		require.Equal(t, b, back)
	})
}
