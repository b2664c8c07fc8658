package s3windowexporter

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"

	"go.uber.org/zap"

	"github.com/s3window/s3window/extension/leaseextension/lease"
	leases3 "github.com/s3window/s3window/extension/leaseextension/lease/s3"
	"github.com/s3window/s3window/internal/commit"
	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/partition"
	"github.com/s3window/s3window/internal/s3client"
	"github.com/s3window/s3window/internal/wal"
	"github.com/s3window/s3window/internal/window"
	"github.com/s3window/s3window/internal/window/sealed"
)

var errUnproven = errors.New("the bucket has not answered the probe of the start yet")

// lakes opens the lakes of the configuration, and those that an earlier
// configuration used and the queue still names.
type lakes struct {
	cfg    *Config
	dir    *directory
	shared lease.Leases // of the extension; nil = leases in each lake's bucket
	holder string
	dead   map[string]bool // holders that were earlier processes of this queue
	step   func(string)
	logger *zap.Logger
	ask    func(g *gate) // has the lake behind a gate probed; set before any is opened for records
	waits  leaseWaits    // of the leases in buckets

	mu    sync.Mutex // guards everything below
	gates map[S3Config]*gate
	sites map[S3Config]*site
	open  map[*lake.Lake]*site
}

// gate keeps windows out of a lake of the configuration until it is proven, and
// its layout is that of the configuration.
type gate struct {
	settings S3Config
	tenants  []string // whose own it is; none for that of the exporter

	// Guarded by lakes.mu.
	asked   bool
	proven  bool                    // the store does what is needed
	open    bool                    // windows may go there
	trouble error                   // what the last check says, if they may not
	mixed   map[string]*layoutError // of tenants whose windows may not
}

// site is one open lake.
type site struct {
	settings S3Config
	lake     *lake.Lake
	leases   lease.Leases
	surveys  map[string]*commit.Survey // by sink; guarded by lakes.mu
	close    func()
}

// survey returns what is known of which tenants of a sink have commit logs.
func (s *site) survey(sink string) *commit.Survey {
	if s.surveys[sink] == nil {
		s.surveys[sink] = commit.NewSurvey(s.lake, sink)
	}
	return s.surveys[sink]
}

func newLakes(c *core, shared lease.Leases, queue *wal.WAL, step func(string)) *lakes {
	l := &lakes{
		cfg: c.cfg, dir: c.tenants, shared: shared, step: step, logger: c.set.Logger, dead: map[string]bool{},
		gates: map[S3Config]*gate{}, sites: map[S3Config]*site{}, open: map[*lake.Lake]*site{},
		holder: holderName(queue.Writer()),
		waits: leaseWaits{
			retried: func() { c.observer.Retried(leaseStep, "", "") },
			report:  func(err error) { c.status.set(bucketLeases, err) },
		},
	}
	for settings, tenants := range l.dir.lakes() {
		l.gates[settings] = &gate{settings: settings, tenants: tenants}
	}
	for _, writer := range queue.Writers() {
		if writer.ID != queue.Writer() {
			l.dead[writer.ID] = true
		}
	}
	return l
}

// holderName names this process in leases: the host for people, and the writer,
// by which a later process of the same queue knows that it is dead.
func holderName(writer string) string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return host + "/" + writer
}

// predecessor says whether holder was an earlier process of this queue. The
// storage gives a queue to one process at a time, so it is dead.
func (l *lakes) predecessor(holder string) bool {
	return l.dead[holder[strings.LastIndexByte(holder, '/')+1:]]
}

// prepare opens the exporter's lake. It connects to nothing.
func (l *lakes) prepare(ctx context.Context) error {
	_, err := l.site(ctx, l.dir.common.S3)
	return err
}

// needed gives the gates of the lakes that records can go to, the exporter's
// first. Those of tenants that are disabled are probed when records are left
// for them.
func (l *lakes) needed() []*gate {
	l.mu.Lock()
	defer l.mu.Unlock()
	first := l.gates[l.dir.common.S3]
	out := []*gate{first}
	for g := range maps.Values(l.gates) {
		enabled := func(tenant string) bool { return l.dir.of(tenant).Enabled }
		if g != first && slices.ContainsFunc(g.tenants, enabled) {
			out = append(out, g)
		}
	}
	slices.SortFunc(out[1:], func(a, b *gate) int { return cmp.Compare(a.tenants[0], b.tenants[0]) })
	for _, g := range out {
		g.asked = true
	}
	return out
}

// check shows that the lake behind a gate can be used and is filed in the layout
// of the configuration, and lets windows go there. An error says why some or all
// may not. litter says why the probe itself could not be removed.
func (l *lakes) check(ctx context.Context, g *gate) (step sealed.Step, litter, err error) {
	s, err := l.site(ctx, g.settings)
	if err == nil && !l.isProven(g) {
		litter, err = s.lake.Prove(ctx, lake.Needs{
			Replace: l.shared == nil,
			Parts:   g.settings.MultipartThresholdMiB < maxTargetMiB,
		})
	}
	if err != nil {
		l.noteCheck(g, false, nil, err)
		return probeStep, litter, err
	}
	c := layoutCheck{lake: s.lake, sink: l.cfg.Sink, want: l.dir.layout(g.settings.ref()), adopt: l.cfg.Layout == layoutAdopt, logger: l.logger}
	mixed, err := c.run(ctx)
	l.noteCheck(g, true, mixed, err)
	if err == nil {
		err = firstOf(mixed)
	}
	return layoutStep, litter, err
}

// firstOf is one of the errors of tenants, and says of how many there are more;
// nil if there is none.
func firstOf(mixed map[string]*layoutError) error {
	if len(mixed) == 0 {
		return nil
	}
	first := *mixed[slices.Min(slices.Collect(maps.Keys(mixed)))]
	if more := len(mixed) - 1; more > 0 {
		first.is += fmt.Sprintf(" (and %d more tenants)", more)
	}
	return &first
}

func (l *lakes) isProven(g *gate) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return g.proven
}

func (l *lakes) noteCheck(g *gate, proven bool, mixed map[string]*layoutError, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	g.proven, g.open, g.mixed, g.trouble = proven, err == nil, mixed, err
}

// ready says that every lake that was asked for can be used as it is
// configured.
func (l *lakes) ready() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, g := range l.gates {
		if g.asked && (!g.open || len(g.mixed) > 0) {
			return false
		}
	}
	return true
}

// otherSink gives the name of another sink that commits under the same prefix;
// empty if there is none.
func (l *lakes) otherSink(ctx context.Context, g *gate) (string, error) {
	s, err := l.site(ctx, g.settings)
	if err != nil {
		return "", err
	}
	found := errors.New("found")
	prefix := g.settings.Prefix
	own := partition.SystemPrefix(prefix) + "sink=" + partition.Escape(l.cfg.Sink) + "/"
	other := ""
	look := func(info lake.Info) error {
		sink, ok := partition.ParseLayoutKey(prefix, info.Key)
		if !ok {
			id, _, err := partition.ParseManifestKey(prefix, info.Key)
			sink, ok = id.Sink, err == nil
		}
		if ok && sink != l.cfg.Sink {
			other = sink
		}
		return found
	}
	// Keys are listed in order: the first sink, and the one behind this one.
	for _, after := range []string{"", own + "\U0010FFFF"} {
		err := s.lake.Bucket().List(ctx, partition.SystemPrefix(prefix)+"sink=", after, look)
		if other != "" {
			return other, nil
		}
		if err != nil && !errors.Is(err, found) {
			return "", fmt.Errorf("look for other sinks: %w", err)
		}
	}
	return "", nil
}

// lake gives the lake that ref names, as the tenant may use it. Those of the
// configuration are given once they are proven; others were by the process that
// used them.
func (l *lakes) lake(tenant string, ref lake.Ref) (*lake.Lake, error) {
	settings := l.dir.s3(tenant, ref)
	if err := l.pass(tenant, settings); err != nil {
		return nil, err
	}
	s, err := l.site(context.Background(), settings)
	if err != nil {
		return nil, err
	}
	return s.lake, nil
}

// pass says why a tenant's windows may not go to a lake yet.
func (l *lakes) pass(tenant string, settings S3Config) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	g, ok := l.gates[settings]
	switch {
	case !ok:
		return nil
	case g.open && g.mixed[tenant] == nil:
		return nil
	case g.open:
		return g.mixed[tenant]
	case g.trouble != nil:
		return fmt.Errorf("the bucket has not passed the check of the start: %w", g.trouble)
	case !g.asked:
		g.asked = true
		l.ask(g)
	}
	return errUnproven
}

// site opens a lake.
func (l *lakes) site(ctx context.Context, at S3Config) (*site, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s, ok := l.sites[at]; ok {
		return s, nil
	}
	settings, ref := at.client(), at.ref()
	client, err := s3client.New(ctx, settings)
	if err != nil {
		return nil, fmt.Errorf("make S3 client: %w", err)
	}
	bucket := lake.NewS3(client, lake.S3Options{
		Settings: settings, Threshold: at.MultipartThresholdMiB << 20, PartSize: at.PartSizeMiB << 20, Step: l.step,
	})
	s := &site{
		settings: at, lake: lake.New(bucket, ref, lake.WithStep(l.step)), leases: l.shared,
		surveys: map[string]*commit.Survey{}, close: func() { s3client.CloseIdle(client) },
	}
	if l.shared == nil {
		store := leases3.New(client, ref.Bucket, partition.LeasePrefix(ref.Prefix), settings.Refine)
		own := lease.NewParticipant(store, lease.Options{Holder: l.holder, Observer: l.waits.observer(at)})
		s.leases, s.close = own, func() { own.Close(); s3client.CloseIdle(client) }
	}
	l.sites[at], l.open[s.lake] = s, s
	return s, nil
}

// log gives the commit log of a partition in a lake that lake gave.
func (l *lakes) log(in *lake.Lake, id partition.ID) window.Log {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.open[in]
	return commit.New(in, s.leases, id, commit.Options{
		Turns: l.shared != nil, Survey: s.survey(id.Sink), Holder: l.holder, Predecessors: l.predecessor,
		Retention: l.cfg.WriterRetention, Timeout: s.settings.Timeout, Step: l.step,
		// Nothing waits for these, and whoever keeps the leases tells of them.
		Failed: func(operation string, err error) {
			l.logger.Debug("A commit log could not use its head, and went on without", zap.String("operation", operation), zap.Error(err))
		},
	})
}

// close ends the leases in the buckets and idle connections.
func (l *lakes) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.sites {
		s.close()
	}
	clear(l.sites)
	clear(l.open)
}
