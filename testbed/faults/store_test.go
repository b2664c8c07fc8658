//go:build e2e

package faults

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/testbed/labtest"
	"github.com/s3window/s3window/testbed/load"
	"github.com/s3window/s3window/testbed/servers"
	"github.com/s3window/s3window/testbed/tcptest"
)

// writes is in every write of a lease's record, and in no other request.
const writes = `"epoch":`

// store is a lease store other than S3, with a network in between.
type store struct {
	*servers.Server
	network        *tcptest.Link
	config, direct string // through the network, and past it
}

// stores are the kinds of stores. The short run takes one for each fault.
var stores = []struct {
	name   string
	start  func(testing.TB, servers.Options) *servers.Server
	config func(address string) string
}{
	{"etcd", servers.Etcd, labtest.EtcdLease},
	{"NATS", servers.NATS, labtest.NATSLease},
}

// onStores runs a fault on every kind of store.
func onStores(t *testing.T, n int, fault string, test func(t *testing.T, fault string, s *store)) {
	for i, kind := range stores {
		if testing.Short() && n%len(stores) != i {
			continue
		}
		t.Run(fault+": "+kind.name, func(t *testing.T) {
			server := kind.start(t, servers.Options{})
			link := tcptest.Start(t, server.Address)
			test(t, fault+": "+kind.name, &store{server, link, kind.config(link.Address), kind.config(server.Address)})
		})
	}
}

// while is how many records come while a fault lasts.
func while() int64 {
	if testing.Short() {
		return 900
	}
	return 3000
}

// The network to a lease store fails: commits are held up, and nothing else.
func TestNetworkToTheLeaseStore(t *testing.T) {
	for n, c := range []struct {
		fault string
		rule  tcptest.Rule
		says  string // part of the status; empty where commits go on
	}{
		{"connections to the lease store are refused", tcptest.Rule{Do: tcptest.Refuse}, "commit"},
		{"the lease store is partitioned off: connections stay, nothing passes", tcptest.Rule{Do: tcptest.Hold}, "commit"},
		{"every request to the lease store takes 400 ms more (TTL 2 s)", tcptest.Rule{Delay: 200 * time.Millisecond}, ""},
		{"connections break in the middle of every write to the lease store", tcptest.Rule{Do: tcptest.CutRequest, Mark: writes}, "commit"},
		{"every other answer of the lease store to a write is lost with its connection", tcptest.Rule{Do: tcptest.LoseAnswer, Mark: writes, Every: 2}, ""},
	} {
		if testing.Short() && c.rule.Delay > 0 {
			continue // slow in itself; the same with S3 runs
		}
		onStores(t, n, c.fault, func(t *testing.T, fault string, s *store) {
			r := start(t, fault, s.config)
			r.broken()
			s.network.Break(c.rule)
			windows := len(r.Manifests())
			r.goesOn(while())
			if c.says != "" {
				r.says(c.says)
			} else {
				r.Await("commits go on", func() bool { return len(r.Manifests()) > windows+3 })
			}
			r.found.status = r.c.Status().Error
			broken := s.network.Broken()
			s.network.Heal()
			if c.rule.Mark != "" {
				require.Positive(t, broken)
				t.Logf("%d writes were broken", broken)
			}
			r.mended()
			r.refusesNothing()
			r.ends()
		})
	}
}

// What a lease store has forgotten is in the bucket.
func TestStoreForgets(t *testing.T) {
	for n, c := range []struct {
		fault  string
		forget func(t *testing.T, s *store, old string)
	}{
		{"the lease store is rolled back", func(t *testing.T, s *store, old string) {
			require.NoError(t, os.RemoveAll(s.Data))
			copyDir(t, old, s.Data)
		}},
		{"the lease store is wiped", func(_ *testing.T, s *store, _ string) { s.Wipe() }},
	} {
		onStores(t, n, c.fault, func(t *testing.T, fault string, s *store) {
			r := start(t, fault, s.config)
			r.goesOn(500)
			old := filepath.Join(t.TempDir(), "old")
			s.Kill() // a copy of a store at work is none
			copyDir(t, s.Data, old)
			s.Restart()
			r.goesOn(500)
			windows := len(r.Manifests())
			r.Await("the log goes on", func() bool { return len(r.Manifests()) > windows+2 })
			r.broken()
			s.Kill()
			c.forget(t, s, old)
			s.Restart()
			r.goesOn(while() / 2)
			r.mended()
			r.refusesNothing()
			r.ends()
		})
	}
}

// Of two replicas one is partitioned off from the lease store, in both
// directions and in the middle of whatever it does; the other one takes over,
// and what the first had on its way arrives late.
func TestReplicaIsPartitionedOff(t *testing.T) {
	onStores(t, 1, "one of two replicas is partitioned off from the lease store", func(t *testing.T, fault string, s *store) {
		r := prepare(t, fault, s.config)
		other := r.Replica("other", s.direct)
		r.c.Start()
		other.Start()
		r.sending = r.Send(load.Options{Tenants: []string{"acme"}}, r.c, other)
		r.Await("the first windows", func() bool { return len(r.Manifests()) > 3 })
		r.broken()
		s.network.Break(tcptest.Rule{Do: tcptest.Hold})
		r.says("commit")
		windows := len(r.Manifests())
		r.Await("the other replica commits", func() bool { return len(r.Manifests()) > windows+3 })
		r.goesOn(600)
		s.network.Heal()
		r.mended()
		r.refusesNothing()
		other.Shutdown()
		r.ends()
	})
}
