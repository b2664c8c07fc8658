package s3windowexporter

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/s3window/s3window/internal/lake"
)

// bucketChecker probes the bucket until it is proven. Until then data is kept
// in the queue.
type bucketChecker struct {
	core  *core
	tried chan struct{} // closed after the first try
	said  string        // the trouble that was reported last
}

func (b *bucketChecker) run(ctx context.Context) {
	wait := b.core.cfg.Retry.InitialInterval
	for {
		err := b.core.lakes.prove(ctx)
		done := b.note(ctx, err)
		if b.tried != nil {
			close(b.tried)
			b.tried = nil
		}
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

// note reports the outcome of a try where it differs from the last one, and
// says whether it is final.
func (b *bucketChecker) note(ctx context.Context, err error) (final bool) {
	logger, bucket := b.core.set.Logger, b.core.cfg.S3.ref().String()
	switch {
	case err == nil:
		b.core.status.set(bucketCheck, nil)
		logger.Info("Bucket is checked", zap.String("bucket", bucket))
		b.warnOfOthers(ctx)
		return true
	case ctx.Err() != nil:
		return true
	case errors.Is(err, lake.ErrUnconditional):
		b.core.status.fail(fmt.Errorf("check bucket %q: %w", bucket, err))
		return true
	}
	if words := lake.Reason(err); kind(words) != kind(b.said) {
		b.said = words
		b.core.status.set(bucketCheck, fmt.Errorf("check bucket %q: %s", bucket, words))
		logger.Warn("Bucket cannot be used yet; what is accepted is kept in the queue", zap.String("bucket", bucket), zap.Error(err))
	}
	return false
}

// warnOfOthers tells of another sink under the same prefix: readers that glob
// see the rows of both. It is no error, and not finding out is none.
func (b *bucketChecker) warnOfOthers(ctx context.Context) {
	logger := b.core.set.Logger
	switch other, err := b.core.lakes.otherSink(ctx); {
	case err != nil && ctx.Err() == nil:
		logger.Warn("Other sinks in the bucket cannot be looked for", zap.Error(err))
	case other != "":
		logger.Warn("Another sink commits under the same prefix, and readers that glob mix the rows of both; give each its own s3::prefix",
			zap.String("sink", b.core.cfg.Sink), zap.String("other_sink", other), zap.String("prefix", b.core.cfg.S3.Prefix))
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
