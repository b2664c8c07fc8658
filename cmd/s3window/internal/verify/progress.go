package verify

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/s3window/s3window/internal/lake"
)

// Progress counts what was done so far. It may be read at any time.
type Progress struct {
	Heads, Found atomic.Int64 // heads read, and partitions found
	Discovered   atomic.Bool  // all of them are

	Partitions, Manifests, Objects, Bytes atomic.Int64
	Skipped, SkippedBytes                 atomic.Int64 // of Objects, and their bytes: judged by an earlier run
	Hashed                                atomic.Int64 // rows, in search of duplicates

	// What there is to do: it grows while the lake is being listed, until Sized.
	TotalObjects, TotalBytes atomic.Int64
	Sized                    atomic.Bool
}

// Left estimates how long it takes from now, after elapsed; false as long as
// nobody can tell.
func (p *Progress) Left(elapsed time.Duration) (time.Duration, bool) {
	done, total := p.Bytes.Load(), p.TotalBytes.Load()-p.SkippedBytes.Load()
	if done == 0 {
		done, total = p.Objects.Load(), p.TotalObjects.Load()
	}
	if !p.Sized.Load() || done <= 0 || elapsed <= 0 {
		return 0, false
	}
	return time.Duration(float64(elapsed) * float64(max(0, total-done)) / float64(done)), true
}

// sizing lists the lake beside the work on it, for an estimate of how long that
// takes. It holds nothing in memory and what it cannot list it does not count.
// The caller calls stop.
func (v *verifier) sizing(ctx context.Context) (stop func()) {
	if !v.estimate {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		err := v.bucket.List(ctx, v.dataPrefix(), "", func(i lake.Info) error {
			v.progress.TotalObjects.Add(1)
			v.progress.TotalBytes.Add(i.Size)
			return nil
		})
		if err != nil {
			return
		}
		v.progress.Sized.Store(true)
	}()
	return func() {
		cancel()
		<-ended
	}
}
