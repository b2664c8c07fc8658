package s3windowexporter

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/exporterhelper"

	"github.com/s3window/s3window/internal/wal"
)

// blocked starts an exporter whose queue is full and whose bucket is down, and a
// request that waits for room.
func (r *rig) blocked() (e exporter.Logs, waits <-chan error) {
	r.t.Helper()
	q := r.cfg.QueueConfig.Get()
	q.Sizer, q.QueueSize, q.BlockOnOverflow = exporterhelper.RequestSizerTypeRequests, 3, true
	r.bucketDown()
	e = r.start()
	for range q.QueueSize {
		require.NoError(r.t, e.ConsumeLogs(r.t.Context(), logs(1, "a")))
	}
	done := make(chan error, 1)
	go func() { done <- e.ConsumeLogs(context.Background(), logs(1, "a")) }()
	select {
	case err := <-done:
		r.t.Fatalf("it does not wait: %v", err)
	case <-time.After(100 * time.Millisecond):
	}
	return e, done
}

// A receiver waits for its requests before the exporter is told to stop, so who
// waits for room is refused when the process is.
func TestSignalRefusesWhoWaits(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		t.Run(s.String(), func(t *testing.T) {
			own := make(chan os.Signal, 1) // as a collector has it: the process lives
			signal.Notify(own, s)
			defer signal.Stop(own)
			r := newRig(t)
			e, waits := r.blocked()
			self, err := os.FindProcess(os.Getpid())
			require.NoError(t, err)
			began := time.Now()
			require.NoError(t, self.Signal(s))
			require.ErrorIs(t, <-waits, wal.ErrFull)
			require.ErrorIs(t, e.ConsumeLogs(t.Context(), logs(1, "a")), wal.ErrFull, "nobody waits any more")
			r.shutdown(e)
			assert.Less(t, time.Since(began), 5*time.Second)
			<-own
		})
	}
}

func TestShutdownRefusesWhoWaits(t *testing.T) {
	r := newRig(t)
	r.cfg.Flush.ShutdownGrace = 3 * time.Second
	e, waits := r.blocked()
	began := time.Now()
	ended := make(chan error, 1)
	go func() { ended <- e.Shutdown(context.Background()) }()
	require.ErrorIs(t, <-waits, wal.ErrFull)
	assert.Less(t, time.Since(began), 2*time.Second, "at the beginning of the grace")
	require.NoError(t, <-ended)
}
