package s3windowexporter

import (
	"fmt"
	"sync"
	"time"

	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.uber.org/zap"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	grpcstatus "google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/s3window/s3window/internal/partition"
)

// refusal is what the client of a refused request is told: nothing of the
// configuration, and nothing of other tenants. Receivers answer with its code,
// or the HTTP status that stands for it.
type refusal struct {
	code codes.Code
	text string
	wait time.Duration // until the same request may be accepted; 0 = it never will
	err  error         // what it stands for; nil for nothing
}

func (r *refusal) Error() string { return r.text }

func (r *refusal) Unwrap() error { return r.err }

// GRPCStatus is asked for by receivers. Clients send a request again that was
// refused over a bound only if they are told when.
func (r *refusal) GRPCStatus() *grpcstatus.Status {
	s := grpcstatus.New(r.code, r.text)
	if r.wait == 0 {
		return s
	}
	if with, err := s.WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(r.wait)}); err == nil {
		return with
	}
	return s
}

// toClient is the refusal as the error of a request: permanent, unless it will
// pass.
func (r *refusal) toClient() error {
	if r.wait > 0 {
		return r
	}
	return consumererror.NewPermanent(r)
}

// refusalOf is what the client is told where a tenant is not admitted.
func refusalOf(why *partition.Refusal) *refusal {
	switch why.Cause {
	case partition.Missing:
		return &refusal{code: codes.PermissionDenied, text: "the request does not say whose its records are", err: why}
	case partition.Unknown:
		return notAccepted(why.Tenant)
	case partition.MaxTenants:
		return &refusal{code: codes.ResourceExhausted, text: fmt.Sprintf("tenant %q is one more than are accepted", why.Tenant), err: why}
	}
	text := "the request names too many new tenants: send fewer in one"
	if why.Wait > 0 {
		text = fmt.Sprintf("too many new tenants at once: send again in %v", why.Wait.Round(time.Second)+time.Second)
	}
	return &refusal{code: codes.ResourceExhausted, text: text, wait: why.Wait, err: why}
}

func notAccepted(tenant string) *refusal {
	return &refusal{code: codes.PermissionDenied, text: fmt.Sprintf("tenant %q is not accepted", tenant)}
}

// tooLargeCause is why a request is refused that is larger than can be taken in.
const tooLargeCause partition.Cause = "too_large"

// tooLarge is what the client is told of a request that is too large for ever.
func tooLarge(size int64, err error) *refusal {
	return &refusal{code: codes.InvalidArgument, text: fmt.Sprintf("%d bytes are more than a request may have: send smaller ones", size), err: err}
}

// sayEvery is how often the same cause is logged.
const sayEvery = time.Minute

// refusalLog tells the operator why requests are refused: for each cause the
// first at once, and then one line a minute at most.
type refusalLog struct {
	logger *zap.Logger

	mu    sync.Mutex // guards everything below
	since map[string]*silence
}

// silence is since when a cause was not logged, and how often it came since.
type silence struct {
	began  time.Time
	missed int
}

// say logs that a request is refused, unless that was said a moment ago. setting
// is what of the configuration decides it.
func (l *refusalLog) say(cause, message, setting string, fields ...zap.Field) {
	missed, now := l.due(cause)
	if !now {
		return
	}
	fields = append(fields, zap.String("cause", cause), zap.String("setting", setting))
	if missed > 0 {
		fields = append(fields, zap.Int("others_since", missed))
	}
	l.logger.Warn(message, fields...)
}

func (l *refusalLog) due(cause string) (missed int, now bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.since[cause]
	if s == nil {
		if l.since == nil {
			l.since = map[string]*silence{}
		}
		l.since[cause] = &silence{began: time.Now()}
		return 0, true
	}
	if time.Since(s.began) < sayEvery {
		s.missed++
		return 0, false
	}
	missed = s.missed
	*s = silence{began: time.Now()}
	return missed, true
}
