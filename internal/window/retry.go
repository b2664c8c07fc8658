package window

import (
	"math/rand/v2"
	"time"
)

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
