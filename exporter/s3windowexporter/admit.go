package s3windowexporter

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"go.opentelemetry.io/collector/client"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.uber.org/zap"

	"github.com/s3window/s3window/internal/partition"
	"github.com/s3window/s3window/internal/wal"
	"github.com/s3window/s3window/internal/window"
)

// door decides which requests are taken in, by whose they are, and tells the
// operator of those that are not.
type door struct {
	cfg      *Config
	tenants  *directory
	splitter *partition.Splitter
	observer *observer
	logger   *zap.Logger
	refusals refusalLog

	noMetadata, noAuth sync.Once // it was said that nothing is known of clients
}

func newDoor(cfg *Config, tenants *directory, o *observer, logger *zap.Logger) *door {
	return &door{
		cfg: cfg, tenants: tenants, observer: o, logger: logger,
		splitter: partition.NewSplitter(cfg.Tenant.rules(), cfg.bounds()), refusals: refusalLog{logger: logger},
	}
}

// request is what is known of a request beside its parts.
type request struct {
	signal  partition.Signal
	records int
}

// admitted are the parts of a request that go into the queue.
type admitted struct {
	parts []partition.Part
	left  []partition.Part // of tenants that are disabled; dropped with the request's success
	undo  func()           // of the tenants that are new; nil for none
}

// admit decides about the parts of a request, as the splitter gave them with
// err. An error is what its client is told.
func (d *door) admit(ctx context.Context, req request, parts []partition.Part, err error) (admitted, error) {
	var why *partition.Refusal
	if errors.As(err, &why) {
		return admitted{}, d.refuse(ctx, req, why)
	}
	if err != nil {
		return admitted{}, consumererror.NewPermanent(fmt.Errorf("accept request: %w", err))
	}
	in, left, err := d.enabled(req, parts)
	if err != nil {
		return admitted{}, err
	}
	undo, err := d.splitter.Admit(in)
	if errors.As(err, &why) {
		return admitted{}, d.refuse(ctx, req, why)
	}
	if undo != nil {
		d.compareNames(in)
	}
	return admitted{in, left, undo}, nil
}

// enabled takes the parts of tenants that are disabled out of a request, and
// gives them by themselves. The error refuses all of it.
func (d *door) enabled(req request, parts []partition.Part) (in, left []partition.Part, err error) {
	if !d.tenants.disabled {
		return parts, nil, nil
	}
	refused := ""
	for _, p := range parts {
		t := d.tenants.of(p.Tenant)
		if t.Enabled {
			in = append(in, p)
			continue
		}
		left = append(left, p)
		if t.OnDisabled == onDisabledRefuse && refused == "" {
			refused = p.Tenant
		}
	}
	if refused == "" {
		return in, left, nil
	}
	d.observer.disabled(req.signal, left, "refused")
	d.refusals.say("disabled", "Requests of a tenant that is disabled are refused; with on_disabled: discard its records are dropped instead",
		tenantKey(refused)+"::enabled", zap.String("tenant", refused), zap.String("signal", string(req.signal)))
	return nil, nil, notAccepted(refused).toClient()
}

// refuse tells the operator why a request is refused, and returns what its
// client is told.
func (d *door) refuse(ctx context.Context, req request, why *partition.Refusal) error {
	d.observer.refused(req.signal, why.Cause, req.records)
	fields := []zap.Field{zap.String("signal", string(req.signal)), zap.Int("records", req.records)}
	if why.Tenant != "" {
		fields = append(fields, zap.String("tenant", why.Tenant))
	}
	t, cause := &d.cfg.Tenant, string(why.Cause)
	switch why.Cause {
	case partition.Missing:
		d.missing(ctx)
		d.refusals.say(cause, "Requests are refused because no rule says whose their records are", "tenant::on_missing (refuse)", fields...)
	case partition.Unknown:
		d.compareNames([]partition.Part{{Tenant: why.Tenant}})
		d.refusals.say(cause, "Requests of tenants without a block under tenants are refused", "tenant::known_only (true)", fields...)
	case partition.MaxTenants:
		d.refusals.say(cause, "Requests of new tenants are refused, since as many were seen since the start as are accepted; raise the bound, "+
			"or check that the rules under tenant::from name a tenant and not a value without bounds",
			fmt.Sprintf("tenant::max_tenants (%d)", t.MaxTenants), fields...)
	case partition.NewTenants:
		d.refusals.say(cause, "Requests of new tenants are refused, since too many are new within a minute; raise the bound, "+
			"or check that the rules under tenant::from name a tenant and not a value without bounds",
			fmt.Sprintf("tenant::max_new_per_minute (%d)", t.MaxNewPerMinute), append(fields, zap.Duration("admitted_in", why.Wait))...)
	}
	return refusalOf(why).toClient()
}

// refuseLarge tells the operator why a request is refused for good whose parts
// have size bytes together, and returns what its client is told. err is what the
// queue says; nil where the memory decides.
func (d *door) refuseLarge(req request, size int64, err error) error {
	d.observer.refused(req.signal, tooLargeCause, req.records)
	fields := []zap.Field{zap.String("signal", string(req.signal)), zap.Int("records", req.records), zap.Int64("bytes", size)}
	switch {
	case err == nil:
		d.refusals.say(string(tooLargeCause), "Requests are refused that are larger than the memory lets be encoded at once; raise the limit, or send smaller ones",
			fmt.Sprintf("memory_limit_mib (%d)", d.cfg.MemoryLimitMiB), append(fields, zap.Int64("limit", d.maxRequest()))...)
	case errors.Is(err, wal.ErrTooLarge):
		d.refusals.say(string(tooLargeCause), "Requests are refused that are larger than the whole queue; make it larger, or send smaller ones",
			fmt.Sprintf("sending_queue::queue_size (%d)", d.cfg.QueueConfig.Get().QueueSize), fields...)
	default:
		d.refusals.say("invalid", "Requests are refused that the queue cannot hold", "sending_queue", append(fields, zap.Error(err))...)
	}
	return tooLarge(size, err).toClient()
}

// maxRequest is the largest request that can be taken in, bytes: it is read back
// from the queue in one piece.
func (d *door) maxRequest() int64 {
	return window.MaxEntry(d.cfg.MemoryLimitMiB<<20, d.cfg.QueueConfig.Get().NumConsumers)
}

// accepted notes what became of a request that is in the queue.
func (d *door) accepted(ctx context.Context, req request, a admitted) {
	d.observer.disabled(req.signal, a.left, "discarded")
	for i := range a.parts {
		if p := &a.parts[i]; p.Missing > 0 {
			d.missing(ctx)
			d.observer.defaulted(req.signal, p.Missing)
		}
	}
}

// missing says once where the rules about clients can never give a value,
// because nothing is known of clients. What stands before this exporter cannot
// be seen from here; what comes can.
func (d *door) missing(ctx context.Context) {
	var metadata, auth bool
	for _, r := range d.cfg.Tenant.From {
		metadata = metadata || r.Metadata != ""
		auth = auth || r.Auth != ""
	}
	info := client.FromContext(ctx)
	if metadata && !hasMetadata(info) {
		d.noMetadata.Do(func() {
			d.logger.Warn("A request came without any client metadata, so the rules under tenant::from that read it cannot give a tenant: " +
				"the receiver needs include_metadata: true, a batch processor needs metadata_keys, and what queues in between must keep the metadata")
		})
	}
	if auth && info.Auth == nil {
		d.noAuth.Do(func() {
			d.logger.Warn("A request came without what an authenticator says of its client, so the rules under tenant::from that read it cannot give a tenant: " +
				"the receiver needs auth, and a batch processor or another queue in between drops it")
		})
	}
}

func hasMetadata(info client.Info) bool {
	for range info.Metadata.Keys() {
		return true
	}
	return false
}

// authenticator is an extension that receivers ask who a client is.
type authenticator interface {
	Authenticate(ctx context.Context, sources map[string][]string) (context.Context, error)
}

// warn says at the start what of the rules cannot work, or trusts clients.
func (d *door) warn(extensions map[component.ID]component.Component) {
	var auth, client, after bool
	attribute := false
	for _, r := range d.cfg.Tenant.From {
		auth = auth || r.Auth != ""
		client = client || r.ofClient()
		attribute = attribute || !r.ofClient()
		after = after || r.ofClient() && attribute
	}
	found := false
	for _, e := range extensions {
		_, is := e.(authenticator)
		found = found || is
	}
	if auth && !found {
		d.logger.Warn("No extension authenticates clients, so the rules under tenant::from that read auth can never give a tenant: " +
			"configure one such as oidc or basicauth, list it under service::extensions, and name it in the receiver's auth")
	}
	if after {
		d.logger.Warn("A rule under tenant::from that reads an attribute stands before one about the client, so whoever sends records may name another's tenant: " +
			"put auth and metadata first")
	}
	d.warnOfNames()
}
