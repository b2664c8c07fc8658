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

	"github.com/s3window/s3window/extension/leaseextension/lease"
	leases3 "github.com/s3window/s3window/extension/leaseextension/lease/s3"
	"github.com/s3window/s3window/internal/commit"
	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/partition"
	"github.com/s3window/s3window/internal/s3client"
	"github.com/s3window/s3window/internal/wal"
	"github.com/s3window/s3window/internal/window"
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
	ask    func(g *gate) // has the lake behind a gate probed; set before any is opened for records
	waits  leaseWaits    // of the leases in buckets

	mu    sync.Mutex // guards everything below
	gates map[S3Config]*gate
	sites map[S3Config]*site
	open  map[*lake.Lake]*site
}

// gate keeps windows out of a lake of the configuration until it is proven.
type gate struct {
	settings S3Config
	tenants  []string // whose own it is; none for that of the exporter

	// Guarded by lakes.mu.
	asked, proven bool
	trouble       error // what the last probe says, if it is not proven
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

func newLakes(cfg *Config, dir *directory, shared lease.Leases, queue *wal.WAL, step func(string)) *lakes {
	l := &lakes{
		cfg: cfg, dir: dir, shared: shared, step: step, dead: map[string]bool{},
		gates: map[S3Config]*gate{}, sites: map[S3Config]*site{}, open: map[*lake.Lake]*site{},
		holder: holderName(queue.Writer()),
	}
	for settings, tenants := range dir.lakes() {
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

// prove shows that the lake behind a gate can be used, and lets windows go
// there. litter says why the probe itself could not be removed.
func (l *lakes) prove(ctx context.Context, g *gate) (litter, err error) {
	s, err := l.site(ctx, g.settings)
	if err == nil {
		litter, err = s.lake.Prove(ctx, lake.Needs{
			Replace: l.shared == nil,
			Parts:   g.settings.MultipartThresholdMiB < maxTargetMiB,
		})
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	g.proven, g.trouble = err == nil, err
	return litter, err
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
		id, _, err := partition.ParseManifestKey(prefix, info.Key)
		if err == nil && id.Sink != l.cfg.Sink {
			other = id.Sink
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
	if err := l.pass(settings); err != nil {
		return nil, err
	}
	s, err := l.site(context.Background(), settings)
	if err != nil {
		return nil, err
	}
	return s.lake, nil
}

// pass says why a lake cannot be used yet.
func (l *lakes) pass(settings S3Config) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	g, ok := l.gates[settings]
	switch {
	case !ok || g.proven:
		return nil
	case g.trouble != nil:
		return fmt.Errorf("the bucket has not passed the probe of the start: %w", g.trouble)
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
