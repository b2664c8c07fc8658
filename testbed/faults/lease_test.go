//go:build e2e

package faults

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/testbed/labtest"
	"github.com/s3window/s3window/testbed/load"
	"github.com/s3window/s3window/testbed/s3test"
	"github.com/s3window/s3window/testbed/servers"
)

// kv is a lease store of its own, apart from the lake's bucket, with a network
// in between.
type kv struct {
	*s3test.Server
	bucket  string
	network *s3test.Proxy
	url     string
}

func newKV(t *testing.T) *kv {
	t.Helper()
	k := &kv{Server: s3test.Start(t)}
	k.bucket = k.NewBucket(t)
	k.network, k.url = s3test.StartProxy(t, k.Endpoint)
	return k
}

func (k *kv) config() string { return labtest.S3Lease(k.Server, k.url, k.bucket) }
func (k *kv) dir() string    { return k.BucketDir(k.bucket) }

// A lease store that fails holds commits up, and nothing else.
func TestLeaseStore(t *testing.T) {
	for _, c := range []struct {
		fault string
		says  string // part of the status; empty where commits go on
		rules []s3test.Rule
	}{
		{"the lease store answers 503", "commit", []s3test.Rule{{Do: s3test.Answer, Status: http.StatusServiceUnavailable}}},
		{"requests to the lease store hang", "commit", []s3test.Rule{{Do: s3test.Hang}}},
		{"every request to the lease store takes 400 ms more (TTL 2 s)", "", []s3test.Rule{{Delay: 400 * time.Millisecond}}},
		{"every answer of the lease store to a write is lost", "", []s3test.Rule{{Method: http.MethodPut, Do: s3test.LoseAnswer}}},
	} {
		t.Run(c.fault, func(t *testing.T) {
			k := newKV(t)
			r := start(t, c.fault, k.config())
			r.broken()
			k.network.Break(c.rules...)
			r.goesOn(3000)
			if c.says != "" {
				r.says(c.says)
			}
			r.found.status = r.c.Status().Error
			k.network.Heal()
			r.mended()
			r.refusesNothing()
			r.ends()
		})
	}
}

// The process of the lease store is killed and comes back as it was.
func TestLeaseStoreIsDown(t *testing.T) {
	for fault, start := range map[string]func(*testing.T) (config string, kill, restart func()){
		"the lease store is down: S3": func(t *testing.T) (string, func(), func()) {
			k := newKV(t)
			return labtest.S3Lease(k.Server, k.Endpoint, k.bucket), k.Kill, k.Restart
		},
		"the lease store is down: etcd": func(t *testing.T) (string, func(), func()) {
			e := servers.Etcd(t, servers.Options{})
			return labtest.EtcdLease(e.Address), e.Kill, e.Restart
		},
	} {
		t.Run(fault, func(t *testing.T) { killLeaseStore(t, fault, start) })
	}
}

func killLeaseStore(t *testing.T, fault string, store func(*testing.T) (config string, kill, restart func())) {
	config, kill, restart := store(t)
	r := start(t, fault, config)
	r.broken()
	kill()
	r.goesOn(2000)
	r.says("commit")
	restart()
	r.mended()
	r.refusesNothing()
	r.ends()
}

// What the lease store has forgotten is in the bucket.
func TestLeaseStoreForgets(t *testing.T) {
	for fault, forget := range map[string]func(t *testing.T, k *kv, old string){
		"the lease store is rolled back": func(t *testing.T, k *kv, old string) {
			require.NoError(t, os.RemoveAll(k.dir()))
			copyDir(t, old, k.dir())
		},
		"the lease store is wiped": func(t *testing.T, k *kv, _ string) {
			require.NoError(t, os.RemoveAll(filepath.Join(k.dir(), "leases")))
		},
	} {
		t.Run(fault, func(t *testing.T) {
			k := newKV(t)
			r := start(t, fault, k.config())
			r.goesOn(500)
			old := filepath.Join(t.TempDir(), "old")
			k.Stop() // a copy of a store at work is none
			copyDir(t, k.dir(), old)
			k.Restart()
			r.goesOn(1500)
			windows := len(r.Manifests())
			r.Await("the log goes on", func() bool { return len(r.Manifests()) > windows+2 })
			r.broken()
			k.Stop()
			forget(t, k, old)
			k.Restart()
			r.goesOn(1500)
			r.mended()
			r.refusesNothing()
			r.ends()
		})
	}
}

// copyDir copies a directory with the attributes of its files, in which the
// server keeps what it knows of them.
func copyDir(t *testing.T, from, to string) {
	t.Helper()
	out, err := exec.Command("cp", "-a", from, to).CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// Of two replicas one loses the lease store: the other goes on committing, and
// the first keeps what it takes until it is back.
func TestReplicaIsCutOffFromTheLeaseStore(t *testing.T) {
	k := newKV(t)
	r := prepare(t, "one of two replicas is cut off from the lease store", k.config())
	other := r.Replica("other", labtest.S3Lease(k.Server, k.Endpoint, k.bucket))
	r.c.Start()
	other.Start()
	r.sending = r.Send(load.Options{Tenants: []string{"acme"}}, r.c, other)
	r.Await("the first windows", func() bool { return len(r.Manifests()) > 3 })
	r.broken()
	k.network.Break(s3test.Rule{Do: s3test.Hang})
	r.says("commit")
	windows := len(r.Manifests())
	r.Await("the other replica commits", func() bool { return len(r.Manifests()) > windows+3 })
	r.goesOn(600)
	k.network.Heal()
	r.mended()
	r.refusesNothing()
	other.Shutdown()
	r.ends()
}
