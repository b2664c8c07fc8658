package lease_test

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/extension/leaseextension/lease"
	"github.com/s3window/s3window/extension/leaseextension/lease/memory"
)

// What the options say is in the record, by which others go.
func TestOptions(t *testing.T) {
	host, err := os.Hostname()
	require.NoError(t, err)
	itself := fmt.Sprintf("%s/%d", host, os.Getpid())
	for ttl, want := range map[time.Duration]int64{
		0: 30_000, -1: 30_000, 2500 * time.Millisecond: 2500, 1900 * time.Microsecond: 1, time.Microsecond: 1, time.Hour: 3_600_000,
	} {
		for holder, name := range map[string]string{"": itself, "gw-0/q7": "gw-0/q7"} {
			store := memory.New()
			leases := lease.NewParticipant(store, lease.Options{TTL: ttl, Holder: holder})
			_, err := leases.Acquire(t.Context(), "x")
			require.NoError(t, err)
			leases.Close()
			rec, err := store.Get(t.Context(), "x")
			require.NoError(t, err)
			var record struct {
				Lease struct {
					Holder string
					TTL    int64 `json:"ttl_ms"`
				}
			}
			require.NoError(t, json.Unmarshal(rec.Value, &record))
			require.Equal(t, want, record.Lease.TTL, "%v", ttl)
			require.Equal(t, name, record.Lease.Holder)
		}
	}
}
