//go:build e2e

package fleet

import (
	"math/rand/v2"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/s3window/s3window/testbed/labtest"
	"github.com/s3window/s3window/testbed/load"
	"github.com/s3window/s3window/testbed/servers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// traffic is what clients send in tests: all tenants to all replicas.
var traffic = load.Options{Tenants: []string{"acme", "globex"}, Rate: 900, Senders: 9, Timeout: 3 * time.Second}

// fleet is three replicas of one configuration on one lake.
type fleet struct {
	*labtest.Lab
	t        *testing.T
	replicas []*labtest.Replica
	random   *rand.Rand
}

// leases says where a fleet keeps them.
type leases func(*testing.T, *labtest.Lab) []string

// inBucket is what no configuration gives: leases beside the lake, with the
// TTL of 30 s.
func inBucket(*testing.T, *labtest.Lab) []string { return nil }

// shortLived are leases of the extension, in the lake's bucket.
func shortLived(_ *testing.T, l *labtest.Lab) []string {
	return []string{labtest.S3Lease(l.Server, l.Server.Endpoint, l.Bucket)}
}

// inEtcd are leases of the extension, in an etcd of their own.
func inEtcd(t *testing.T, _ *labtest.Lab) []string {
	return []string{labtest.EtcdLease(servers.Etcd(t, servers.Options{}).Address)}
}

// newFleet starts three collectors.
func newFleet(t *testing.T, leases leases) *fleet {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	f := &fleet{Lab: labtest.New(t), t: t, random: rand.New(rand.NewPCG(seed, seed))}
	config := leases(t, f.Lab)
	for _, name := range []string{"gw-0", "gw-1", "gw-2"} {
		r := f.Replica(name, config...)
		r.Launch()
		f.replicas = append(f.replicas, r)
	}
	f.awaitReady(f.replicas...)
	return f
}

func (f *fleet) awaitReady(replicas ...*labtest.Replica) {
	f.t.Helper()
	for _, r := range replicas {
		if err := r.AwaitReady(f.t.Context()); err != nil {
			f.t.Fatal(err)
		}
	}
}

// any is a replica by chance.
func (f *fleet) any() *labtest.Replica { return f.replicas[f.random.IntN(len(f.replicas))] }

// finish ends the load, waits until everything is committed, stops the fleet
// and judges the bucket.
func (f *fleet) finish(sending *labtest.Sending) {
	f.t.Helper()
	sending.Stop()
	f.AwaitCommitted()
	for _, r := range f.replicas {
		r.Shutdown()
	}
	f.Judge()
}

// rounds is how often something is done to a fleet.
func rounds(short, long int) int {
	if testing.Short() {
		return short
	}
	return long
}
