package s3windowexporter

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/window/sealed"
)

const (
	maxProbes = 32 // that run at once
	maxShown  = 3  // buckets in a status, and tenants of a bucket
	// silentFor is how long a first probe may take before the status says that
	// there is no answer.
	silentFor = 5 * time.Second
	// probePlace is where probes are, below the prefix.
	probePlace = "_s3window/probe/"
)

// bucketChecks probe the lakes of the configuration, each by itself and until
// it is proven. Until then its data is kept in the queue.
type bucketChecks struct {
	core *core
	room chan struct{}

	mu      sync.Mutex     // guards everything below
	heard   map[*gate]bool // that were tried once
	failing map[*gate]string
	order   []*gate // of failing
}

func newBucketChecks(c *core) *bucketChecks {
	return &bucketChecks{core: c, room: make(chan struct{}, maxProbes), heard: map[*gate]bool{}, failing: map[*gate]string{}}
}

// begin has a lake checked in the background, until ctx ends. What it returns is
// closed after the first try.
func (b *bucketChecks) begin(ctx context.Context, g *gate) (tried <-chan struct{}) {
	first := make(chan struct{})
	b.core.background.Go(func() {
		silent := time.AfterFunc(silentFor, func() { b.silent(g) })
		done := sync.OnceFunc(func() { silent.Stop(); close(first) })
		defer done()
		b.run(ctx, g, done)
	})
	return first
}

func (b *bucketChecks) run(ctx context.Context, g *gate, tried func()) {
	wait := b.core.cfg.Retry.InitialInterval
	for {
		step, litter, err := b.try(ctx, g)
		done := b.note(ctx, g, outcome{step, litter, err})
		tried()
		if done {
			return
		}
		pause := time.NewTimer(wait/2 + rand.N(wait/2+1))
		select {
		case <-pause.C:
		case <-b.core.stopping:
			pause.Stop()
			return
		}
		wait = min(2*wait, b.core.cfg.Retry.MaxInterval)
	}
}

// outcome is what a try came to: an error of a step, or none.
type outcome struct {
	step        sealed.Step
	litter, err error
}

// try checks a lake once. A store that hangs does not keep the room of others.
func (b *bucketChecks) try(ctx context.Context, g *gate) (step sealed.Step, litter, err error) {
	select {
	case b.room <- struct{}{}:
		defer func() { <-b.room }()
	case <-ctx.Done():
		return probeStep, nil, ctx.Err()
	}
	ctx, cancel := context.WithTimeout(ctx, 2*g.settings.Timeout)
	defer cancel()
	return b.core.lakes.check(ctx, g)
}

// note reports the outcome of a try where it differs from the last one, and
// says whether it is final. No refusal is: a store, a permission, a layout or
// what stands in between may be mended at any time.
func (b *bucketChecks) note(ctx context.Context, g *gate, o outcome) (final bool) {
	logger := b.core.set.Logger.With(zap.Stringer("bucket", g.settings.ref()))
	if len(g.tenants) > 0 {
		logger = logger.With(zap.Strings("tenants", g.tenants[:min(maxShown, len(g.tenants))]))
	}
	if o.litter != nil && o.step != probeStep { // the probe is passed
		logger.Warn("Objects cannot be deleted, so the probe stays below "+probePlace+", as objects of void windows will; grant s3:DeleteObject, or let a lifecycle rule remove them",
			zap.Error(o.litter))
	}
	switch {
	case o.err == nil:
		b.report(g, "")
		logger.Info("Bucket is checked")
		b.warnOfOthers(ctx, g, logger)
		return true
	case ctx.Err() != nil:
		return true
	}
	b.core.observer.Retried(o.step, "", "")
	switch news := b.report(g, lake.Reason(o.err)); {
	case !news:
	case errors.As(o.err, new(*layoutError)):
		logger.Error("Lake is filed in another layout than the configuration says; what is accepted is kept in the queue", zap.Error(o.err))
	default:
		logger.Warn("Bucket cannot be used yet; what is accepted is kept in the queue", zap.Error(o.err))
	}
	return false
}

// report takes down what a lake waits for, nothing if it does not, and says
// whether that is news.
func (b *bucketChecks) report(g *gate, words string) (news bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.heard[g] = true
	return b.reportLocked(g, words)
}

// silent has the status say that a lake has not answered its first probe.
func (b *bucketChecks) silent(g *gate) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.heard[g] {
		b.reportLocked(g, "the store has not answered yet")
	}
}

func (b *bucketChecks) reportLocked(g *gate, words string) (news bool) {
	if old, ok := b.failing[g]; kind(old) == kind(words) && ok == (words != "") {
		return false
	}
	b.order = slices.DeleteFunc(b.order, func(other *gate) bool { return other == g })
	delete(b.failing, g)
	if words != "" {
		b.failing[g] = words
		b.order = append(b.order, g)
	}
	b.core.status.set(bucketCheck, b.sumLocked())
	return true
}

// sumLocked says what lakes wait for, those first that have waited longest.
func (b *bucketChecks) sumLocked() error {
	var errs []error
	for i, g := range b.order {
		if i == maxShown {
			errs = append(errs, fmt.Errorf("check %d more buckets", len(b.order)-i))
			break
		}
		errs = append(errs, fmt.Errorf("check bucket %s: %s", g, b.failing[g]))
	}
	return errors.Join(errs...)
}

// String names the lake and whose it is.
func (g *gate) String() string {
	s := fmt.Sprintf("%q", g.settings.ref().String())
	if len(g.tenants) == 0 {
		return s
	}
	var names []string
	for i, tenant := range g.tenants {
		if i == maxShown {
			names = append(names, fmt.Sprintf("%d more", len(g.tenants)-i))
			break
		}
		names = append(names, fmt.Sprintf("%q", tenant))
	}
	return s + " of tenant " + strings.Join(names, ", ")
}

// warnOfOthers tells of another sink under the same prefix: readers that glob
// see the rows of both. It is no error, and not finding out is none.
func (b *bucketChecks) warnOfOthers(ctx context.Context, g *gate, logger *zap.Logger) {
	switch other, err := b.core.lakes.otherSink(ctx, g); {
	case err != nil && ctx.Err() == nil:
		logger.Warn("Other sinks in the bucket cannot be looked for", zap.Error(err))
	case other != "":
		logger.Warn("Another sink commits under the same prefix, and readers that glob mix the rows of both; give each its own s3::prefix",
			zap.String("sink", b.core.cfg.Sink), zap.String("other_sink", other), zap.String("prefix", g.settings.Prefix))
	}
}

// kind is a reason without its numbers, such as the port of a connection that
// differs from try to try.
func kind(reason string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, reason)
}
