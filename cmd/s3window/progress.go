package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/s3window/s3window/cmd/s3window/internal/replay"
	"github.com/s3window/s3window/cmd/s3window/internal/verify"
)

// showProgress writes a line about long work to w every interval, until the
// function it returns is called. Work that is shorter leaves no trace.
func showProgress(w io.Writer, interval time.Duration, line func() string) (stop func()) {
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		started := time.Now()
		t := time.NewTicker(interval)
		defer t.Stop()
		for {
			select {
			case <-end:
				return
			case <-t.C:
				fmt.Fprintf(w, "%4.0f s: %s\n", time.Since(started).Seconds(), line())
			}
		}
	}()
	return func() {
		close(end)
		<-ended
	}
}

// lockedWriter is for several goroutines.
type lockedWriter struct {
	mu sync.Mutex // guards w
	w  io.Writer
}

func (l *lockedWriter) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(b)
}

// size writes a number of bytes for people.
func size(n int64) string {
	const unit = 1024
	if n < unit {
		return fmt.Sprintf("%d B", n)
	}
	value, i := float64(n)/unit, 0
	for value >= unit && i < 4 {
		value, i = value/unit, i+1
	}
	return fmt.Sprintf("%.1f %ciB", value, "KMGTP"[i])
}

// replayLine says how far replay is.
func replayLine(p *replay.Progress) string {
	if !p.Discovered.Load() {
		return fmt.Sprintf("%d partitions found so far", p.Found.Load())
	}
	return fmt.Sprintf("%d windows, %d records in %d requests, %s of objects", p.Windows.Load(), p.Records.Load(), p.Requests.Load(), size(p.Bytes.Load()))
}

// progressLine says how far verify is, how fast, and how long it may take.
func progressLine(p *verify.Progress, elapsed time.Duration) string {
	if !p.Discovered.Load() {
		return fmt.Sprintf("%d heads read, %d partitions found so far", p.Heads.Load(), p.Found.Load())
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %d partitions, %d manifests, %d", p.Partitions.Load(), p.Found.Load(), p.Manifests.Load(), p.Objects.Load())
	if p.Sized.Load() {
		fmt.Fprintf(&b, " of %d", p.TotalObjects.Load())
	}
	b.WriteString(" objects")
	if skipped := p.Skipped.Load(); skipped > 0 {
		fmt.Fprintf(&b, " (%d known)", skipped)
	}
	fmt.Fprintf(&b, ", %s", size(p.Bytes.Load()))
	if p.Sized.Load() {
		fmt.Fprintf(&b, " of %s", size(p.TotalBytes.Load()-p.SkippedBytes.Load()))
	}
	fmt.Fprintf(&b, " read, %s/s", size(int64(float64(p.Bytes.Load())/max(elapsed.Seconds(), 1e-3))))
	if rows := p.Hashed.Load(); rows > 0 {
		fmt.Fprintf(&b, ", %d rows hashed", rows)
	}
	if left, ok := p.Left(elapsed); ok {
		fmt.Fprintf(&b, ", about %s left", left.Round(time.Second))
	}
	return b.String()
}
