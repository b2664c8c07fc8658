package s3windowexporter

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

// endsWithin is how long after a signal the shutdown of this exporter begins.
const endsWithin = time.Minute

// refuseWaiters has requests that wait for room in the queue refused when the
// process is told to end or to read its configuration again, until shutdown. A
// collector stops its receivers before its exporters, and a receiver waits for
// its requests: without this it would wait until its clients give up. Clients
// send them again.
//
// If no shutdown follows, somebody wanted to live: requests wait again.
func (c *core) refuseWaiters() {
	told := make(chan os.Signal, 1)
	signal.Notify(told, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	c.background.Go(func() {
		defer signal.Stop(told)
		for {
			select {
			case <-told:
			case <-c.stopping:
				return
			}
			c.queue.Wait(false)
			patience := time.NewTimer(endsWithin)
			select {
			case <-patience.C:
				c.queue.Wait(true)
			case <-c.stopping:
				patience.Stop()
				return
			}
		}
	})
}
