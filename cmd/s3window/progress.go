package main

import (
	"fmt"
	"io"
	"time"
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
