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
	"go.opentelemetry.io/collector/component/componenttest"

	"github.com/s3window/s3window/exporter/s3windowexporter/internal/metadatatest"
	"github.com/s3window/s3window/testbed/s3test"
)

// A bucket that takes everything but leases shows in the status within ten
// seconds, long before the first commit gives up, and is forgotten when it takes
// them. Every try counts.
func TestRefusedLeasesShowInTheStatus(t *testing.T) {
	r := newRig(t)
	first := r.start()
	require.NoError(t, first.ConsumeLogs(t.Context(), logs(1, "acme")))
	r.awaitCommitted("acme", 1)
	r.shutdown(first)
	// The next process reads the head that this one may have left.
	tel := componenttest.NewTelemetry()
	set := metadatatest.NewSettings(tel)
	set.ID = settings().ID
	e := r.create(set)
	require.NoError(t, e.Start(t.Context(), r.host))
	r.await(func() bool { return ready(t, tel) == 1 })
	r.proxy.Break(s3test.Rule{Key: "/_s3window/leases/", Do: s3test.Answer, Status: 403})
	require.NoError(t, e.ConsumeLogs(t.Context(), logs(3, "acme")))
	asked := time.Now()
	r.await(func() bool {
		_, err := r.host.last()
		return err != nil && strings.Contains(err.Error(), `lease in bucket "`+r.cfg.S3.Bucket+`" below "`+r.cfg.S3.Prefix+`": 403 AccessDenied`)
	})
	require.Less(t, time.Since(asked), 10*time.Second)
	assert.Positive(t, retriesOf(t, tel, "lease"))
	r.proxy.Heal()
	r.awaitCommitted("acme", 4)
	r.awaitStatus(componentstatus.StatusOK)
	r.shutdown(e)
}

func TestLeaseWaitsAreSummed(t *testing.T) {
	var last error
	w := leaseWaits{retried: func() {}, report: func(err error) { last = err }}
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
