package s3windowexporter

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/s3window/s3window/extension/leaseextension"
	"github.com/s3window/s3window/internal/commit"
	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/partition"
	"github.com/s3window/s3window/internal/s3client"
	"github.com/s3window/s3window/internal/wal"
	"github.com/s3window/s3window/internal/window"
)

var errUnproven = errors.New("the bucket has not answered the probe of the start yet")

// lakes opens the lake of the configuration, and those that an earlier
// configuration used and the queue still names.
type lakes struct {
	cfg    *Config
	shared leaseextension.Leases // of the extension; nil = leases in each lake's bucket
	holder string
	dead   map[string]bool // holders that were earlier processes of this queue
	step   func(string)

	mu     sync.Mutex // guards everything below
	proven bool
	sites  map[lake.Ref]*site
}

// site is one open lake.
type site struct {
	lake   *lake.Lake
	leases leaseextension.Leases
	close  func()
}

func newLakes(cfg *Config, shared leaseextension.Leases, queue *wal.WAL, step func(string)) *lakes {
	l := &lakes{
		cfg: cfg, shared: shared, step: step, dead: map[string]bool{}, sites: map[lake.Ref]*site{},
		holder: holderName(queue.Writer()),
	}
	for writer := range queue.Writers() {
		if writer != queue.Writer() {
			l.dead[writer] = true
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

// prepare opens the configured lake. It connects to nothing.
func (l *lakes) prepare(ctx context.Context) error {
	_, err := l.site(ctx, l.cfg.S3.ref())
	return err
}

// prove shows that the configured lake can be used, and lets windows go there.
func (l *lakes) prove(ctx context.Context) error {
	s, err := l.site(ctx, l.cfg.S3.ref())
	if err != nil {
		return err
	}
	if err := s.lake.Prove(ctx); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.proven = true
	return nil
}

// otherSink gives the name of another sink that commits under the same prefix;
// empty if there is none.
func (l *lakes) otherSink(ctx context.Context) (string, error) {
	s, err := l.site(ctx, l.cfg.S3.ref())
	if err != nil {
		return "", err
	}
	found := errors.New("found")
	own := partition.SystemPrefix(l.cfg.S3.Prefix) + "sink=" + partition.Escape(l.cfg.Sink) + "/"
	other := ""
	look := func(info lake.Info) error {
		id, _, err := partition.ParseManifestKey(l.cfg.S3.Prefix, info.Key)
		if err == nil && id.Sink != l.cfg.Sink {
			other = id.Sink
		}
		return found
	}
	// Keys are listed in order: the first sink, and the one behind this one.
	for _, after := range []string{"", own + "\U0010FFFF"} {
		err := s.lake.Bucket().List(ctx, partition.SystemPrefix(l.cfg.S3.Prefix)+"sink=", after, look)
		if other != "" {
			return other, nil
		}
		if err != nil && !errors.Is(err, found) {
			return "", fmt.Errorf("look for other sinks: %w", err)
		}
	}
	return "", nil
}

// open gives the lake that ref names. The configured one is given once it is
// proven; others were by the process that used them.
func (l *lakes) open(ref lake.Ref) (*lake.Lake, error) {
	s, err := l.site(context.Background(), ref)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if ref == l.cfg.S3.ref() && !l.proven {
		return nil, errUnproven
	}
	return s.lake, nil
}

// site opens a lake, with the credentials and settings of the configuration.
func (l *lakes) site(ctx context.Context, ref lake.Ref) (*site, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s, ok := l.sites[ref]; ok {
		return s, nil
	}
	settings := l.cfg.S3.client()
	settings.Endpoint, settings.Region, settings.Bucket, settings.PathStyle = ref.Endpoint, ref.Region, ref.Bucket, ref.PathStyle
	client, err := s3client.New(ctx, settings)
	if err != nil {
		return nil, fmt.Errorf("make S3 client: %w", err)
	}
	bucket := lake.NewS3(client, lake.S3Options{
		Settings: settings, Threshold: l.cfg.S3.MultipartThresholdMiB << 20, PartSize: l.cfg.S3.PartSizeMiB << 20, Step: l.step,
	})
	s := &site{lake: lake.New(bucket, ref, lake.WithStep(l.step)), leases: l.shared, close: func() { s3client.CloseIdle(client) }}
	if l.shared == nil {
		store := leaseextension.NewS3Store(client, ref.Bucket, partition.LeasePrefix(ref.Prefix))
		own := leaseextension.NewLeases(store, leaseextension.Options{Holder: l.holder})
		s.leases, s.close = own, func() { own.Close(); s3client.CloseIdle(client) }
	}
	l.sites[ref] = s
	return s, nil
}

// log gives the commit log of a partition in a lake that open gave.
func (l *lakes) log(in *lake.Lake, id partition.ID) window.Log {
	l.mu.Lock()
	defer l.mu.Unlock()
	return commit.New(in, l.sites[in.Ref()].leases, id, commit.Options{
		Holder: l.holder, Predecessors: l.predecessor,
		Retention: l.cfg.WriterRetention, Timeout: l.cfg.S3.Timeout, Step: l.step,
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
}
