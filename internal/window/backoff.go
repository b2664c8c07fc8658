package window

import (
	"math/rand/v2"
	"time"
)

// backoff spaces the attempts of one thing.
type backoff struct {
	tries  int
	notYet time.Time
}

// waits says that the next attempt is not due.
func (b *backoff) waits() bool { return b.notYet.After(time.Now()) }

// retry has f called when the next attempt is due.
func (r *Runtime) retry(b *backoff, f func()) {
	d := r.opt.Retry.delay(b.tries)
	b.tries++
	b.notYet = time.Now().Add(d)
	r.alarms.after(d, f)
}

// delay is how long to wait before the attempt after tries that went wrong:
// doubled each time up to Max, and spread by a quarter so that a fleet does not
// return all at once.
func (r Retry) delay(tries int) time.Duration {
	d := r.Initial
	for i := 0; i < tries && d < r.Max; i++ {
		d *= 2
	}
	d = min(d, r.Max)
	return d - d/8 + rand.N(d/4+1)
}
