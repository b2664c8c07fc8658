//go:build e2e

package faults

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/testbed/labtest"
	"github.com/s3window/s3window/testbed/load"
	"github.com/s3window/s3window/testbed/s3test"
)

// memoryLimit is what the exporter of these tests may hold, and overhead what
// the process may have beside it.
const (
	memoryLimit = 512 << 20
	overhead    = 150 << 20
)

// run is one fault on one collector under load.
type run struct {
	*labtest.Lab
	t       *testing.T
	c       *labtest.Replica
	bucket  *s3test.Proxy // between collector and bucket
	sending *labtest.Sending
	found   finding

	before int64     // records acknowledged when the fault began
	began  time.Time // the fault
}

// start runs a collector behind a proxy, with load on it, until it commits.
func start(t *testing.T, fault string, config ...string) *run {
	t.Helper()
	r := prepare(t, fault, config...)
	r.c.Start()
	r.sending = r.Send(load.Options{}, r.c)
	r.Await("the first windows", func() bool { return r.Committed() > 0 })
	return r
}

// prepare makes the lab of a run, without starting the collector.
func prepare(t *testing.T, fault string, config ...string) *run {
	t.Helper()
	r := &run{Lab: labtest.New(t), t: t, found: finding{fault: fault}}
	r.bucket, r.Endpoint = s3test.StartProxy(t, r.Server.Endpoint)
	r.c = r.Replica("gw", config...)
	return r
}

// broken notes that the fault begins.
func (r *run) broken() { r.before, r.began = r.sending.Stats.Acked.Load(), time.Now() }

// says waits until the status is a recoverable error with text in it.
func (r *run) says(text string) {
	r.t.Helper()
	r.found.status = r.c.AwaitStatus("RecoverableError", text).Error
}

// goesOn waits until n more records are acknowledged: data is still taken.
func (r *run) goesOn(n int64) {
	r.t.Helper()
	r.sending.AwaitMore(n)
}

// mended notes that the fault is over, and waits until the collector is well
// again and everything committed, without anybody's help.
func (r *run) mended() {
	r.t.Helper()
	end := time.Now()
	r.found.lasted = end.Sub(r.began)
	if r.found.meanwhile == 0 {
		r.found.meanwhile = r.sending.Stats.Acked.Load() - r.before
	}
	r.goesOn(300)
	stats := r.sending.Stop()
	r.found.refused = stats.Errors.Load()
	r.AwaitCommitted()
	r.found.recovered = time.Since(end)
	r.c.AwaitStatus("OK", "")
}

// ends stops the collector, judges the bucket and puts the run into the table.
func (r *run) ends() {
	r.t.Helper()
	r.c.Shutdown()
	v := r.Judge()
	// The pages of the queue's file, which bbolt maps, are the system's to
	// take back, so they are not counted.
	r.found.memory = r.c.Peak.Anonymous()
	require.LessOrEqual(r.t, r.found.memory, int64(memoryLimit+overhead))
	r.found.verdict = "0 of " + count(v.Acked)
	findings.add(r.found)
	r.t.Logf("%+v", r.found)
}

// refuses waits until a request is refused, with text in the answer.
func (r *run) refuses(text string) {
	r.t.Helper()
	r.Await("a request is refused with "+text, func() bool {
		answer := r.sending.Stats.LastError.Load()
		return answer != nil && strings.Contains(*answer, text)
	})
	r.found.answer = *r.sending.Stats.LastError.Load()
}

// refusesNothing says that clients do not notice the fault.
func (r *run) refusesNothing() {
	r.t.Helper()
	require.Zero(r.t, r.found.refused, "clients must not notice")
}
