package odd_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/testbed/odd"
)

// What the corpus calls valid is what pdata, and so a receiver, takes.
func TestCasesAreWhatTheySay(t *testing.T) {
	for _, s := range odd.Signals() {
		names := map[string]bool{}
		for _, c := range odd.Cases(s) {
			require.False(t, names[c.Name], c.Name)
			names[c.Name] = true
			require.Equal(t, s, c.Signal)
			_, err := c.Records()
			assert.Equal(t, c.Valid, err == nil, "%s, %s: %v", s, c.Name, err)
		}
		require.Greater(t, len(names), 60)
		require.NotEmpty(t, odd.Requests(s))
	}
	require.NotEmpty(t, odd.Tenants())
}
