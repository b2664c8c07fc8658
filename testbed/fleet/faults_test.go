//go:build e2e

package fleet

import (
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/testbed/labtest"
)

func TestSIGKILLsAtRandom(t *testing.T) {
	for name, leases := range map[string]leases{"leases in the bucket": inBucket, "leases of two seconds": shortLived, "leases in etcd": inEtcd} {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t, leases)
			sending := f.Send(traffic, f.replicas...)
			for range rounds(4, 20) {
				sending.AwaitMore(int64(f.random.IntN(1500)))
				r := f.any()
				r.Kill()
				r.Start()
			}
			f.finish(sending)
		})
	}
}

// A replica that is frozen for longer than the TTL is taken over, and finds
// that out when it wakes up.
func TestFrozenBeyondTheTTL(t *testing.T) {
	for name, leases := range map[string]leases{"leases in the bucket": shortLived, "leases in etcd": inEtcd} {
		t.Run(name, func(t *testing.T) { freezeBeyondTheTTL(t, leases) })
	}
}

func freezeBeyondTheTTL(t *testing.T, leases leases) {
	f := newFleet(t, leases)
	sending := f.Send(traffic, f.replicas...)
	for range rounds(2, 8) {
		sending.AwaitMore(int64(f.random.IntN(1500)))
		r := f.any()
		r.Signal(syscall.SIGSTOP)
		since, before := time.Now(), len(f.Manifests())
		f.Await("the others commit beyond the TTL", func() bool {
			return time.Since(since) > 2*labtest.LeaseTTL && len(f.Manifests()) > before+4
		})
		r.Signal(syscall.SIGCONT)
	}
	f.finish(sending)
}

func TestRollingRestart(t *testing.T) {
	f := newFleet(t, inBucket)
	sending := f.Send(traffic, f.replicas...)
	for range rounds(1, 3) {
		for _, r := range f.replicas {
			sending.AwaitMore(600)
			r.Shutdown()
			r.Start()
		}
	}
	f.finish(sending)
}

// The manifests of one replica arrive in the bucket when it has given them up
// and others have committed.
func TestManifestsThatArriveLate(t *testing.T) {
	f := newFleet(t, shortLived)
	late := startLate(t, f.Server.Endpoint)
	r := f.replicas[0]
	r.Kill()
	r.S3 = late.url
	r.Start()
	sending := f.Send(traffic, f.replicas...)
	f.Await("late manifests are refused or taken", func() bool { return late.delivered.Load() >= int64(rounds(3, 15)) })
	late.pass.Store(true)
	f.finish(sending)
	t.Logf("%d manifests came late; the answers: %v", late.delivered.Load(), late.answers())
}

// What a lost replica acknowledged and did not commit is owed by its WAL, and
// by nobody else; a new process on that WAL pays it.
func TestReplicaThatNeverComesBack(t *testing.T) {
	f := newFleet(t, shortLived)
	lost, others := f.replicas[2], f.replicas[:2]
	o := traffic
	o.Run = "others"
	sending := f.Send(o, others...)
	o.Run, o.Rate = "lost", 600
	doomed := f.Send(o, lost)
	doomed.AwaitMore(1500)
	lost.Kill()
	doomed.Stop()
	sending.AwaitMore(1500)
	sending.Stop()

	owed := map[string]bool{}
	for _, entry := range lost.Owed() {
		for _, request := range labtest.RequestsIn(entry) {
			owed[request] = true
		}
	}
	require.NotEmpty(t, owed, "a second of acknowledged records is always on its way")
	f.Await("the others commit what they took", func() bool { return len(unexplained(f, owed)) == 0 })
	v := f.Verdict()
	require.Zero(t, v.Doubled)
	t.Logf("%d acknowledged records are owed by the WAL of the lost replica", v.Lost)

	heir := f.Replica("gw-3", shortLived(t, f.Lab)...)
	heir.WAL = lost.WAL
	heir.Start()
	f.replicas = append(f.replicas[:2:2], heir)
	f.AwaitCommitted()
	f.finish(sending)
}

// unexplained gives the judge's problems that are not the absence of requests
// that are owed.
func unexplained(f *fleet, owed map[string]bool) (out []string) {
	for _, p := range f.Verdict().Problems {
		var request string
		if m := missing.FindStringSubmatch(p); m != nil {
			request = m[1]
		}
		if !owed[request] {
			out = append(out, p)
		}
	}
	return out
}

// A WAL from the past holds what was committed since; none of it is committed
// again, and what is new goes on.
func TestWALRestoredFromAnOldCopy(t *testing.T) {
	f := newFleet(t, inBucket)
	r, backup := f.replicas[0], f.Replica("backup")
	sending := f.Send(traffic, f.replicas...)
	sending.AwaitMore(1000)
	r.Kill()
	r.CopyWAL(backup)
	require.NotEmpty(t, backup.Owed(), "the copy must hold something")
	r.Start()
	sending.AwaitMore(1500)
	sending.Stop()
	f.AwaitCommitted() // what is only in a WAL that is thrown away would be lost
	r.Kill()
	backup.CopyWAL(r)
	r.Start()
	o := traffic
	o.Run = "after"
	again := f.Send(o, f.replicas...)
	again.AwaitMore(1500)
	f.finish(again)
}

// Two processes on copies of one WAL owe the same records; they are committed
// once, and the new records of both too.
func TestWALCopiedAndOpenedTwice(t *testing.T) {
	f := newFleet(t, shortLived)
	r, twin := f.replicas[0], f.Replica("twin", shortLived(t, f.Lab)...)
	sending := f.Send(traffic, f.replicas...)
	sending.AwaitMore(1500)
	r.Kill()
	r.CopyWAL(twin)
	require.NotEmpty(t, twin.Owed(), "the copy must hold something")
	r.Launch()
	twin.Launch()
	f.awaitReady(r, twin)
	f.replicas = append(f.replicas, twin)
	o := traffic
	o.Run = "twin"
	more := f.Send(o, twin)
	more.AwaitMore(1500)
	more.Stop()
	f.finish(sending)
}
