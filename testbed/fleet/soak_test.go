//go:build e2e

package fleet

import (
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/s3window/s3window/testbed/labtest"
)

// TestSoak does what happens to fleets, at random, for as long as
// S3WINDOW_SOAK says, and prints figures at the end.
func TestSoak(t *testing.T) {
	d, err := time.ParseDuration(os.Getenv("S3WINDOW_SOAK"))
	if err != nil {
		t.Skip("S3WINDOW_SOAK says how long, as in 10m")
	}
	s := &soak{fleet: newFleet(t, shortLived), began: time.Now(), done: map[string]int{}}
	o := traffic
	o.Rate, o.Senders = 4000, 12
	s.sending = s.Send(o, s.replicas...)
	stop := s.watchLag()
	for said := time.Now(); time.Since(s.began) < d; {
		s.sending.AwaitMore(int64(1000 + s.random.IntN(6000)))
		s.act()
		if time.Since(said) > 30*time.Second {
			t.Logf("%v to go: %s", (d - time.Since(s.began)).Round(time.Second), s.figures())
			said = time.Now()
		}
	}
	s.sending.Stop()
	sent := time.Since(s.began)
	s.AwaitCommitted()
	stop()
	t.Logf("%.0f records/s acknowledged over %v", float64(s.sending.Stats.Acked.Load())/sent.Seconds(), sent.Round(time.Second))
	s.finish(s.sending)
	t.Log(s.figures())
}

type soak struct {
	*fleet
	sending *labtest.Sending
	began   time.Time
	done    map[string]int // what was done how often

	mu   sync.Mutex // guards lags
	lags []float64
}

// act does one thing.
func (s *soak) act() {
	r := s.any()
	switch n := s.random.IntN(10); {
	case n < 5:
		s.done["SIGKILL"]++
		r.Kill()
		r.Start()
	case n < 7:
		s.done["SIGSTOP beyond the TTL"]++
		r.Signal(syscall.SIGSTOP)
		since := time.Now()
		s.Await("the TTL is over", func() bool { return time.Since(since) > labtest.LeaseTTL+time.Second })
		r.Signal(syscall.SIGCONT)
	case n < 9:
		s.done["SIGTERM"]++
		r.Shutdown()
		r.Start()
	default:
		s.done["SIGKILL of all"]++
		for _, r := range s.replicas {
			r.Kill()
		}
		for _, r := range s.replicas {
			r.Launch()
		}
		s.awaitReady(s.replicas...)
	}
}

// watchLag samples the lag of every replica until it is stopped.
func (s *soak) watchLag() (stop func()) {
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-end:
				return
			case <-tick.C:
			}
			for _, r := range s.replicas {
				lag := r.Metric("lag")
				if math.IsNaN(lag) {
					continue // the replica is down, or frozen
				}
				s.mu.Lock()
				s.lags = append(s.lags, lag)
				s.mu.Unlock()
			}
		}
	}()
	return func() { close(end); <-ended }
}

func (s *soak) figures() string {
	stats, windows := s.sending.Stats, s.Manifests()
	var records int64
	for _, m := range windows {
		records += m.Records
	}
	var acts []string
	for _, what := range slices.Sorted(maps.Keys(s.done)) {
		acts = append(acts, fmt.Sprintf("%d x %s", s.done[what], what))
	}
	var memory []string
	for _, r := range s.replicas {
		memory = append(memory, fmt.Sprintf("%d MiB", r.Peak.Resident()>>20))
	}
	return fmt.Sprintf("%d records acknowledged, %d without an answer; %d records committed in %d windows; %s; lag %s; peak memory %s",
		stats.Acked.Load(), stats.Unknown.Load(), records, len(windows), strings.Join(acts, ", "), s.lag(), strings.Join(memory, ", "))
}

func (s *soak) lag() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.lags) == 0 {
		return "unknown"
	}
	l := slices.Sorted(slices.Values(s.lags))
	return fmt.Sprintf("median %.1f s, p99 %.1f s, most %.1f s", l[len(l)/2], l[len(l)*99/100], l[len(l)-1])
}
