package encode

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/internal/encode/encodetest"
)

// Encoders of many specs keep no more working memory than those of one.
func TestMemoryOfManyEncodersIsBounded(t *testing.T) {
	memory := NewMemory(2)
	entries := asEntries(encodetest.Logs(1, 10))
	var all []*Encoder
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		e, err := memory.New(testSpec(Column{Attribute: name, As: name}))
		require.NoError(t, err)
		all = append(all, e)
		stage(t, e, entries)
	}
	kept := 0
	for _, e := range all {
		kept += len(idleStagers(e))
	}
	require.Equal(t, 2, kept)
	require.Len(t, idleStagers(all[4]), 1)
}
