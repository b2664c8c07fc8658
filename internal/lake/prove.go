package lake

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/s3window/s3window/internal/partition"
)

const (
	proveRacers  = 8
	proveCleanup = 10 * time.Second
)

// ErrUnconditional says that the store does not honour If-None-Match, so that
// nothing can be committed in it safely.
var ErrUnconditional = errors.New("the store does not honour If-None-Match on PUT: " +
	"two replicas could commit the same number, so it cannot hold a lake; use a store with conditional writes")

// Prove shows that the bucket can be written, read and cleaned up, and that it
// honours If-None-Match: of eight concurrent puts of one new key exactly one
// may succeed, and its content must be what lies there. It returns
// ErrUnconditional if not, and the store's own error if it cannot tell. It
// removes its probe, whatever happened; in a bucket with versioning the store
// keeps an old version of it.
func (l *Lake) Prove(ctx context.Context) error {
	key := partition.SystemPrefix(l.ref.Prefix) + "probe/" + rand.Text()
	race := l.race(ctx, key)
	err := l.judge(ctx, key, race)
	patience := proveCleanup
	if ctx.Err() != nil { // somebody waits for the process to end
		patience = time.Second
	}
	clean, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	if gone := l.Delete(clean, key); gone != nil && err == nil {
		err = gone
	}
	if err != nil {
		return fmt.Errorf("prove bucket %q: %w", l.ref.Bucket, err)
	}
	return nil
}

// racer is one of the concurrent puts: what it wrote and what it was told.
type racer struct {
	body Body
	err  error
}

func (l *Lake) race(ctx context.Context, key string) []racer {
	racers := make([]racer, proveRacers)
	var running sync.WaitGroup
	for i := range racers {
		racers[i].body = NewBody("text/plain", []byte("s3window probe "+strconv.Itoa(i)+"\n"))
		running.Go(func() { racers[i].err = l.bucket.PutIfAbsent(ctx, key, racers[i].body) })
	}
	running.Wait()
	return racers
}

// judge says what the race showed. A put whose answer was lost and that was
// sent again reports ErrExists for its own success, so no winner at all proves
// as much as one, if the content is a racer's.
func (l *Lake) judge(ctx context.Context, key string, racers []racer) error {
	var winners, losers []racer
	var failed error
	for _, r := range racers {
		switch {
		case r.err == nil:
			winners = append(winners, r)
		case errors.Is(r.err, ErrExists):
			losers = append(losers, r)
		case failed == nil:
			failed = r.err
		}
	}
	switch {
	case len(winners) > 1:
		return ErrUnconditional
	case len(losers) == 0:
		return fmt.Errorf("put probe: %w", failed)
	}
	there, err := l.readBack(ctx, key)
	if err != nil {
		return fmt.Errorf("read probe: %w", err)
	}
	if len(winners) == 1 && !there.is(winners[0].body) {
		return ErrUnconditional
	}
	return nil
}
