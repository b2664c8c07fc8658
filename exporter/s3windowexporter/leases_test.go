package s3windowexporter

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componentstatus"

	"github.com/s3window/s3window/testbed/s3test"
)

// A bucket that takes everything but leases shows in the status within ten
// seconds, long before the first commit gives up, and is forgotten when it takes
// them.
func TestRefusedLeasesShowInTheStatus(t *testing.T) {
	r := newRig(t)
	r.proxy.Break(s3test.Rule{Key: "/_s3window/leases/", Do: s3test.Answer, Status: 403})
	e := r.start()
	require.NoError(t, e.ConsumeLogs(t.Context(), logs(3, "acme")))
	asked := time.Now()
	r.await(func() bool {
		_, err := r.host.last()
		return err != nil && strings.Contains(err.Error(), `lease in bucket "`+r.cfg.S3.Bucket+`" below "`+r.cfg.S3.Prefix+`": 403 AccessDenied`)
	})
	require.Less(t, time.Since(asked), 10*time.Second)
	r.proxy.Heal()
	r.awaitCommitted("acme", 3)
	r.awaitStatus(componentstatus.StatusOK)
	r.shutdown(e)
}

func TestLeaseWaitsAreSummed(t *testing.T) {
	var last error
	w := leaseWaits{report: func(err error) { last = err }}
	at := func(i int) S3Config {
		return S3Config{S3ClientConfig: S3ClientConfig{Bucket: fmt.Sprintf("lake-%d", i)}}
	}
	for i := range 5 {
		w.set(at(4-i), errors.New("down"))
	}
	assert.EqualError(t, last, `lease in bucket "lake-0" below "": down
lease in bucket "lake-1" below "": down
lease in bucket "lake-2" below "": down
leases in 2 more buckets`)
	for i := range 4 {
		w.set(at(i), nil)
	}
	assert.EqualError(t, last, `lease in bucket "lake-4" below "": down`)
	w.set(at(4), nil)
	assert.NoError(t, last)
}
