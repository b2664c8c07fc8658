//go:build e2e

package faults

import (
	"net/http"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/testbed/labtest"
	"github.com/s3window/s3window/testbed/load"
	"github.com/s3window/s3window/testbed/s3test"
)

const (
	objects   = `/tenant=.*\.parquet$`
	manifests = `/windows/\d+\.json$`
)

func count(n int64) string { return strconv.FormatInt(n, 10) }

// A bucket that fails is not the clients' business: data is taken, the status
// says what is wrong in the store's words, and when it is over all is committed.
func TestBucket(t *testing.T) {
	for _, c := range []struct {
		fault string
		says  string // part of the status; empty where retries hide the fault
		rules []s3test.Rule
	}{
		{"the bucket answers 500", "InternalError", []s3test.Rule{{Do: s3test.Answer, Status: http.StatusInternalServerError}}},
		{"the bucket answers 503 SlowDown", "SlowDown", []s3test.Rule{{Do: s3test.Answer, Status: http.StatusServiceUnavailable}}},
		{"connections break in the middle of uploads", "upload", []s3test.Rule{{Method: http.MethodPut, Key: objects, Do: s3test.Cut, Bytes: 1000}}},
		{"every answer to a PUT is lost after it took effect", "", []s3test.Rule{{Method: http.MethodPut, Do: s3test.LoseAnswer}}},
		{"answers for manifests are lost after they took effect", "", []s3test.Rule{{Method: http.MethodPut, Key: manifests, Do: s3test.LoseAnswer}}},
		{"requests hang (s3::timeout is 5 s)", "upload", []s3test.Rule{{Do: s3test.Hang}}},
		{"answers to a PUT hang after it took effect", "", []s3test.Rule{{Method: http.MethodPut, Do: s3test.HangAnswer}}},
		{"the bucket answers 403 AccessDenied", "AccessDenied", []s3test.Rule{{Do: s3test.Answer, Status: http.StatusForbidden}}},
		{"manifests meet 409 ConditionalRequestConflict", "commit", []s3test.Rule{{Method: http.MethodPut, Key: manifests, Do: s3test.Answer, Status: http.StatusConflict}}},
		{"every request takes 1.5 s more", "", []s3test.Rule{{Delay: 1500 * time.Millisecond}}},
	} {
		t.Run(c.fault, func(t *testing.T) {
			r := start(t, c.fault)
			r.broken()
			r.bucket.Break(c.rules...)
			r.goesOn(3000)
			if c.says != "" {
				r.says(c.says)
			}
			r.found.status = r.c.Status().Error
			r.bucket.Heal()
			r.mended()
			r.refusesNothing()
			r.ends()
		})
	}
}

// With wrong credentials data is kept in the queue; the next start with the
// right ones commits it.
func TestWrongCredentials(t *testing.T) {
	r := prepare(t, "the S3 key is wrong; then a restart with the right one")
	r.c.Secret = "wrong-" + r.Server.SecretKey
	r.c.Start()
	r.sending = r.Send(load.Options{}, r.c)
	r.broken()
	r.says("SignatureDoesNotMatch")
	r.goesOn(1500)
	r.found.meanwhile = r.sending.Stop().Acked.Load()
	require.Zero(t, r.Committed())
	r.c.Shutdown()
	r.c.Secret = r.Server.SecretKey
	r.c.Start()
	r.sending = r.Send(load.Options{}, r.c)
	r.mended()
	r.refusesNothing()
	r.ends()
}

// A bucket that is not there is an error of its own, never an empty lake.
func TestBucketIsGoneAndComesBack(t *testing.T) {
	r := start(t, "the bucket is gone (NoSuchBucket) and comes back with its data")
	away := r.BucketDir() + "-away"
	r.broken()
	require.NoError(t, os.Rename(r.BucketDir(), away))
	r.says("NoSuchBucket")
	r.goesOn(1500)
	require.NoError(t, os.Rename(away, r.BucketDir()))
	r.mended()
	r.refusesNothing()
	r.ends()
}

// With its bucket a lake is gone, and what is committed from then on makes a
// new one: nothing that was in the queue then is lost.
func TestBucketIsDeletedAndMadeAnew(t *testing.T) {
	r := start(t, "the bucket is deleted and made anew, empty")
	r.sending.Stop()
	r.AwaitCommitted()
	r.c.AwaitIdle()
	r.Forget()
	r.broken()
	require.NoError(t, os.RemoveAll(r.BucketDir()))
	r.sending = r.Send(load.Options{}, r.c)
	r.before = 0
	r.says("NoSuchBucket")
	r.goesOn(1500)
	r.Server.CreateBucket(t, r.Bucket)
	r.mended()
	r.refusesNothing()
	r.ends()
}

// Memory has a bound however long the bucket is gone and however much comes,
// and so has the queue: beyond its size requests are refused, not lost.
// S3WINDOW_OUTAGE says how long, S3WINDOW_OUTAGE_RATE how many records per
// second come meanwhile; unset, as many as are taken.
func TestOutageAtFullLoad(t *testing.T) {
	outage, rate, atRate := 20*time.Second, -1, "full load"
	if d, err := time.ParseDuration(os.Getenv("S3WINDOW_OUTAGE")); err == nil {
		outage = d
	}
	if n, err := strconv.Atoi(os.Getenv("S3WINDOW_OUTAGE_RATE")); err == nil && n > 0 {
		rate, atRate = n, count(int64(n))+" records/s"
	}
	if testing.Short() {
		outage = 5 * time.Second
	}
	const limitMiB = 120
	r := prepare(t, "the bucket is down at "+atRate+", memory_limit_mib 120", "yaml:exporters::s3window::memory_limit_mib: 120",
		"yaml:exporters::s3window::flush::target_size_mib: 10")
	r.c.S3 = r.Server.Endpoint
	r.c.Start()
	r.sending = r.Send(load.Options{Rate: rate, Senders: 8, Records: 200, BodyBytes: 300, Tenants: tenants(40)}, r.c)
	r.Await("the first windows", func() bool { return r.Committed() > 0 })
	r.broken()
	r.Server.Kill()
	for tenth := range time.Duration(10) {
		r.AwaitFor(outage+labtest.Patience, "the outage", func() bool { return time.Since(r.began) > outage*(tenth+1)/10 })
		t.Logf("after %.0f s: %d records taken, %d requests refused, the queue holds %.0f MiB, peak memory %d MiB of its own", time.Since(r.began).Seconds(),
			r.sending.Stats.Acked.Load()-r.before, r.sending.Stats.Errors.Load(), r.c.Metric("wal_bytes")/(1<<20), r.c.Peak.Anonymous()>>20)
	}
	r.says("connection refused")
	r.Server.Restart()
	end := time.Now()
	r.found.lasted, r.found.meanwhile = end.Sub(r.began), r.sending.Stats.Acked.Load()-r.before
	r.found.refused = r.sending.Stop().Errors.Load()
	r.AwaitCommittedFor(5*outage + 2*labtest.Patience)
	r.found.recovered = time.Since(end)
	r.c.AwaitStatus("OK", "")
	t.Logf("peak memory: %d MiB, of it %d MiB not backed by a file", r.c.Peak.Resident()>>20, r.c.Peak.Anonymous()>>20)
	require.LessOrEqual(t, r.c.Peak.Anonymous(), int64(limitMiB<<20+overhead))
	r.ends()
}

func tenants(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = "tenant-" + strconv.Itoa(i)
	}
	return out
}
