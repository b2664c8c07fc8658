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
	// probeMetadata stands with the probe and must come back.
	probeMetadata = "s3window-probe"
)

// What a store must do, and which setting helps where one does not.
var (
	// ErrUnconditional says that the store does not honour If-None-Match.
	ErrUnconditional = errors.New("the store does not honour If-None-Match on PUT: " +
		"two replicas could commit the same number, so it cannot hold a lake; use a store with conditional writes")
	// ErrNoParts says that objects cannot go up in parts.
	ErrNoParts = errors.New("the store does not honour If-None-Match on CompleteMultipartUpload, or something on the way changes ETags: " +
		"set `s3::multipart_threshold_mib` to 5120, so that objects go up in one request")
	// ErrIrreplaceable says that the store does not honour If-Match.
	ErrIrreplaceable = errors.New("the store does not honour If-Match on PUT, or something on the way changes ETags: " +
		"leases in the bucket need it; set `lease` to a lease extension, or use another store")
	// ErrNoMetadata says that the store drops user metadata.
	ErrNoMetadata = errors.New("the store does not keep the metadata of objects (x-amz-meta-…): " +
		"objects of an earlier attempt could not be recognised; use another store")
	// ErrNotListed says that an object that was put is not in the listing.
	ErrNotListed = errors.New("the store does not list an object that was just put: a lost head could not be rebuilt; use another store")
)

// Needs are what a lake is used for beyond objects, manifests and listings.
type Needs struct {
	Replace bool // leases in the bucket replace objects under If-Match
	Parts   bool // objects may be so large that they go up in parts
}

// Prove shows that the bucket does all that the lake is used for, with requests
// like those that will be sent: of eight concurrent puts of one new key exactly
// one succeeds, and its content and metadata are what lies there; what is missing
// is said to be missing; what was put is listed; and what needs asks for. It
// returns one of the errors above if the store does not do it, and the store's
// own error if it cannot tell. Every call proves it from the beginning.
//
// It removes its probe. That it cannot is said by litter, and is no error:
// nothing depends on deletions. In a bucket with versioning the store keeps an
// old version of the probe.
func (l *Lake) Prove(ctx context.Context, needs Needs) (litter, err error) {
	key := partition.SystemPrefix(l.ref.Prefix) + "probe/" + rand.Text()
	err = l.prove(ctx, key, needs)
	patience := proveCleanup
	if ctx.Err() != nil { // somebody waits for the process to end
		patience = time.Second
	}
	clean, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	litter = l.Delete(clean, key)
	if err != nil {
		err = fmt.Errorf("prove bucket %q: %w", l.ref.Bucket, err)
	}
	return litter, err
}

func (l *Lake) prove(ctx context.Context, key string, needs Needs) error {
	there, err := l.proveRace(ctx, key)
	if err != nil {
		return err
	}
	if there.info.Metadata[probeMetadata] != "1" {
		return ErrNoMetadata
	}
	if err := l.proveAbsence(ctx, key); err != nil {
		return err
	}
	if needs.Replace {
		if err := l.proveReplace(ctx, key, there.info.ETag); err != nil {
			return err
		}
	}
	if parts, ok := l.bucket.(partsProver); ok && needs.Parts {
		if err := parts.ProveParts(ctx, key); err != nil {
			return fmt.Errorf("put probe in parts: %w", err)
		}
	}
	return nil
}

// partsProver is a bucket that puts large objects in parts.
type partsProver interface {
	// ProveParts shows that an object in parts is refused where key exists, and
	// returns ErrNoParts if it is not.
	ProveParts(ctx context.Context, key string) error
}

func probe(i int) Body {
	b := NewBody("text/plain", []byte("s3window probe "+strconv.Itoa(i)+"\n"))
	b.Metadata = map[string]string{probeMetadata: "1"}
	return b
}

// racer is one of the concurrent puts: what it wrote and what it was told.
type racer struct {
	body Body
	err  error
}

// proveRace has racers put one key and returns what lies there.
func (l *Lake) proveRace(ctx context.Context, key string) (content, error) {
	racers := make([]racer, proveRacers)
	var running sync.WaitGroup
	for i := range racers {
		racers[i].body = probe(i)
		running.Go(func() { racers[i].err = l.bucket.PutIfAbsent(ctx, key, racers[i].body) })
	}
	running.Wait()
	return l.judge(ctx, key, racers)
}

// judge says what the race showed. A put whose answer was lost and that was
// sent again reports ErrExists for its own success, so no winner at all proves
// as much as one, if the content is a racer's.
func (l *Lake) judge(ctx context.Context, key string, racers []racer) (content, error) {
	var winners []racer
	var failed error
	losers := 0
	for _, r := range racers {
		switch {
		case r.err == nil:
			winners = append(winners, r)
		case errors.Is(r.err, ErrExists):
			losers++
		case failed == nil:
			failed = r.err
		}
	}
	switch {
	case len(winners) > 1:
		return content{}, ErrUnconditional
	case losers == 0:
		return content{}, fmt.Errorf("put probe: %w", failed)
	}
	there, err := l.readBack(ctx, key)
	if err != nil {
		return content{}, fmt.Errorf("read probe: %w", err)
	}
	if len(winners) == 1 {
		racers = winners
	}
	for _, r := range racers {
		if there.is(r.body) {
			return there, nil
		}
	}
	return content{}, ErrUnconditional
}

// proveAbsence shows that the store says of what is not there that it is not,
// and of what is there that it is.
func (l *Lake) proveAbsence(ctx context.Context, key string) error {
	r, _, err := l.bucket.Open(ctx, key+"-none")
	if err == nil {
		r.Close()
		return errors.New("read what was never put: the store has it")
	}
	if !errors.Is(err, ErrNotExist) {
		return fmt.Errorf("read what was never put (without s3:ListBucket a store does not say that it is missing): %w", err)
	}
	listed := false
	if err := l.bucket.List(ctx, key, "", func(i Info) error {
		listed = listed || i.Key == key
		return nil
	}); err != nil {
		return fmt.Errorf("list probe: %w", err)
	}
	if !listed {
		return ErrNotListed
	}
	return nil
}

// proveReplace shows that an object is replaced in the version that is named
// and in no other.
func (l *Lake) proveReplace(ctx context.Context, key, etag string) error {
	switch err := l.bucket.Replace(ctx, key, probe(proveRacers), etag); {
	case errors.Is(err, ErrChanged):
		return ErrIrreplaceable
	case err != nil:
		return fmt.Errorf("replace probe: %w", err)
	}
	switch err := l.bucket.Replace(ctx, key, probe(proveRacers+1), etag); {
	case err == nil:
		return ErrIrreplaceable
	case !errors.Is(err, ErrChanged):
		return fmt.Errorf("replace probe: %w", err)
	}
	there, err := l.readBack(ctx, key)
	if err != nil {
		return fmt.Errorf("read probe: %w", err)
	}
	if !there.is(probe(proveRacers)) {
		return ErrIrreplaceable
	}
	return nil
}
