//go:build e2e

package faults

import (
	"bytes"
	"net/http"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/s3window/s3window/testbed/labtest"
	"github.com/s3window/s3window/testbed/load"
	"github.com/s3window/s3window/testbed/s3test"
)

// bulky is load that fills a small queue soon.
var bulky = load.Options{Rate: 2000, Records: 100, BodyBytes: 1000}

var down = s3test.Rule{Do: s3test.Answer, Status: http.StatusServiceUnavailable}

// A queue without room refuses what clients send again, and takes data again
// when the bucket is back; nothing that was acknowledged is lost.
func TestNoRoom(t *testing.T) {
	for _, c := range []struct {
		fault, config, answer, says string
		disk                        bool
	}{
		{fault: "the disk of the queue is full (16 MiB)", answer: "no space left on device", says: "no space left", disk: true},
		{fault: "file_storage has reached its max_size (16 MiB)", config: "yaml:extensions::file_storage/wal::max_size: 16777216", answer: "run out of available space", says: "run out of available space"},
		{fault: "the queue has reached its queue_size (8 MiB)", config: "yaml:exporters::s3window::sending_queue::queue_size: 8388608", answer: "full", says: "SlowDown"},
	} {
		t.Run(c.fault, func(t *testing.T) {
			r := prepare(t, c.fault+" while the bucket is down")
			if c.config != "" {
				r.c.Config = append(r.c.Config, c.config)
			}
			if c.disk {
				mountSmallDisk(t, r.c.WAL)
			}
			r.c.Start()
			r.sending = r.Send(bulky, r.c)
			r.Await("the first windows", func() bool { return r.Committed() > 0 })
			r.broken()
			r.bucket.Break(down)
			r.refuses(c.answer)
			r.says(c.says)
			r.found.meanwhile = r.sending.Stats.Acked.Load() - r.before
			r.bucket.Heal()
			r.mended()
			r.ends()
		})
	}
}

// mountSmallDisk makes dir a file system of 16 MiB.
func mountSmallDisk(t *testing.T, dir string) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("a file system of its own needs root")
	}
	require.NoError(t, os.Mkdir(dir, 0o700))
	require.NoError(t, syscall.Mount("none", dir, "tmpfs", 0, "size=16m"))
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
}

// A damaged entry is lost and named; nothing else is.
func TestDamagedEntry(t *testing.T) {
	r := start(t, "bytes of an entry in the queue's file are flipped")
	r.broken()
	r.bucket.Break(down)
	r.goesOn(1500)
	r.c.Kill()
	r.sending.Stop()
	owed := r.c.Owed()
	victim := owed[len(owed)/2]
	request := labtest.RequestsIn(victim)
	require.Len(t, request, 1)
	r.c.Damage(victim)
	r.bucket.Heal()
	r.c.Start()
	r.Await("all but the damaged entry are committed", func() bool {
		p := r.Verdict().Problems
		return len(p) == 1 && bytes.Contains([]byte(p[0]), []byte("request "+request[0]+","))
	})
	r.c.AwaitIdle()
	v := r.Verdict()
	require.Positive(t, v.Lost)
	require.Zero(t, v.Doubled)
	require.InDelta(t, float64(v.Lost), r.c.Metric("lost_records"), 0)
	require.Contains(t, r.c.Log(), "Damaged value in the queue's storage is set aside")
	require.Contains(t, r.c.Log(), "payload does not match its CRC")
	r.sending = r.Send(load.Options{Run: "after"}, r.c)
	r.goesOn(600)
	r.sending.Stop()
	r.Await("what comes later is committed", func() bool { return len(r.Verdict().Problems) == 1 })
	var named int64
	for _, m := range r.Manifests() {
		for _, l := range m.Lost {
			named += l.Records
		}
	}
	require.Equal(t, v.Lost, named, "manifests name what is lost")
	r.c.Shutdown()
	r.found.verdict = count(v.Lost) + " of " + count(v.Acked) + "; a manifest and the log name its number, and lost_records counts them"
	findings.add(r.found)
}

// A queue that cannot be read is never taken for an empty one.
func TestUnreadableQueue(t *testing.T) {
	r := start(t, "the queue's file is no database any more; then it is put back")
	r.bucket.Break(down)
	r.goesOn(1000)
	r.c.Kill()
	r.sending.Stop()
	r.broken()
	good, err := os.ReadFile(r.c.WALFile())
	require.NoError(t, err)
	bad := bytes.Clone(good)
	clear(bad[:16<<10])
	require.NoError(t, os.WriteFile(r.c.WALFile(), bad, 0o600))
	r.c.Launch()
	r.found.answer = "the collector does not start: " + lastLine(r.c.AwaitEnd())
	require.NoError(t, os.WriteFile(r.c.WALFile(), good, 0o600))
	r.bucket.Heal()
	r.c.Start()
	r.sending, r.before = r.Send(load.Options{}, r.c), 0
	r.mended()
	r.ends()
}

// One queue is one process's.
func TestQueueIsInUse(t *testing.T) {
	r := start(t, "a second process is started on the same queue")
	r.broken()
	second := r.Replica("second")
	second.WAL = r.c.WAL
	second.Launch()
	r.found.answer = "the second does not start: " + lastLine(second.AwaitEnd())
	r.goesOn(600)
	r.mended()
	r.refusesNothing()
	r.ends()
}

func lastLine(log string) string {
	lines := bytes.Split(bytes.TrimSpace([]byte(log)), []byte("\n"))
	return string(lines[len(lines)-1])
}
