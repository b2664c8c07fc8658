package s3_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/extension/leaseextension/lease"
	"github.com/s3window/s3window/testbed/s3test"
)

// TestFaultsOnTheWire breaks the connection to the real server at each write of
// a lease's life; the SDK's own retries are part of what is tested.
func TestFaultsOnTheWire(t *testing.T) {
	server := s3test.Start(t)
	for name, rule := range map[string]s3test.Rule{
		"answer lost":       {Do: s3test.LoseAnswer, Count: 1},
		"answers lost":      {Do: s3test.LoseAnswer, Count: 3}, // every try of the SDK
		"request cut":       {Do: s3test.Cut, Bytes: 10, Count: 1},
		"applied and hangs": {Do: s3test.HangAnswer, Count: 1},
		"hangs":             {Do: s3test.Hang, Count: 1},
		"409":               {Do: s3test.Answer, Status: http.StatusConflict, Code: "ConditionalRequestConflict", Count: 4},
		"503":               {Do: s3test.Answer, Status: http.StatusServiceUnavailable, Code: "SlowDown", Count: 1},
	} {
		for write := range 3 {
			t.Run(fmt.Sprintf("%s at write %d", name, write), func(t *testing.T) {
				t.Parallel()
				rule := rule
				rule.Method, rule.Skip = http.MethodPut, write
				livesThrough(t, server, rule)
			})
		}
	}
}

func livesThrough(t *testing.T, server *s3test.Server, rule s3test.Rule) {
	proxy, endpoint := s3test.StartProxy(t, server.Endpoint)
	proxy.Break(rule)
	bucket := server.NewBucket(t)
	leases := lease.NewParticipant(opener(endpoint, server, bucket)(t), lease.Options{TTL: 6 * time.Second})
	defer leases.Close()

	held, err := leases.Acquire(t.Context(), "a/b")
	require.NoError(t, err)
	require.NoError(t, held.Save(t.Context(), []byte(`{"k":1}`)))
	require.NoError(t, held.Release(t.Context(), []byte(`{"k":2}`)))
	state, err := leases.Read(t.Context(), "a/b")
	require.NoError(t, err)
	require.Equal(t, `{"k":2}`, string(state))
	require.True(t, slices.ContainsFunc(proxy.Seen(), func(r s3test.Request) bool { return r.Broken }))
}
