package s3windowexporter

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/exporterhelper"
	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.uber.org/zap"

	"github.com/s3window/s3window/internal/lake"
	"github.com/s3window/s3window/internal/partition"
	"github.com/s3window/s3window/internal/wal"
	"github.com/s3window/s3window/internal/window"
)

const (
	// clientName tells the queue's storage from others of the same exporter.
	clientName = "wal"
	// proveWait is how long the first probe of the bucket is waited for before
	// windows are begun without it.
	proveWait = 10 * time.Second
	// proveMore is how long the first probes of the tenants' buckets are waited
	// for after that.
	proveMore = time.Second
	// closeWait is how long the queue may take to close when the time for the
	// shutdown is over.
	closeWait = 5 * time.Second
)

// core is what all signals of one exporter share: the queue, the memory limit
// and the windows.
type core struct {
	set      exporter.Settings
	cfg      *Config
	tenants  *directory
	door     *door
	status   *status
	observer *observer
	damage   window.Damage

	// Guarded by the factory's mu.
	members int                // signals not shut down yet
	signals []partition.Signal // of its members; they do not change once it is started
	claimed bool               // its lakes are its own

	startOnce sync.Once
	startErr  error

	// Set by start.
	queue   *wal.WAL
	lakes   *lakes
	runtime *window.Runtime

	appendFails atomic.Bool
	begun       atomic.Bool        // the windows are
	stopping    chan struct{}      // closed by shutdown
	cancel      context.CancelFunc // of the background work
	background  sync.WaitGroup
}

// newCore makes a core that is not started. It does no I/O.
func newCore(set exporter.Settings, cfg *Config) (*core, error) {
	set.TelemetrySettings = shared(set.TelemetrySettings)
	s, tenants := &status{logger: set.Logger}, newDirectory(cfg)
	o, err := newObserver(set.TelemetrySettings, set.ID, cfg.Telemetry.PerTenant, s)
	if err != nil {
		return nil, fmt.Errorf("make metrics: %w", err)
	}
	return &core{
		set: set, cfg: cfg, tenants: tenants, door: newDoor(cfg, tenants, o, set.Logger), status: s, observer: o,
		stopping: make(chan struct{}),
	}, nil
}

// start opens the queue, which is local, and starts the background work. It
// connects to nothing else: a collector comes up while its bucket is down. An
// error leaves nothing open.
func (c *core) start(ctx context.Context, host component.Host) (err error) {
	step, crashes, err := steps()
	if err != nil {
		return err
	}
	if crashes {
		c.set.Logger.Warn("This process will kill itself, because " + crashVariable + " is set")
	}
	s3 := c.cfg.S3.client()
	if what := s3.Overridden(); what != "" {
		c.set.Logger.Warn("A setting of the environment has no effect: " + what)
	}
	c.observer.begin(c.signals)
	c.door.warn(host.GetExtensions())
	leases, err := leaseExtension(host, c.cfg.Lease)
	if err != nil {
		return err
	}
	queue, err := c.openQueue(ctx, host, step)
	if err != nil {
		return err
	}
	c.lakes = newLakes(c, leases, queue, step)
	if err := c.prepare(ctx, queue, step); err != nil {
		c.lakes.close()
		return errors.Join(fmt.Errorf("start exporter: %w", err), queue.Close(ctx))
	}
	return c.required(ctx, c.work())
}

// required waits for the outcome of the first check of the exporter's bucket,
// tried, where a start is to fail without it. Then nothing is left open.
func (c *core) required(ctx context.Context, tried <-chan struct{}) error {
	if !c.cfg.RequireBucket {
		return nil
	}
	err := errors.New("it did not answer in time")
	select {
	case <-tried:
		err = c.lakes.pass(c.cfg.Tenant.Default, c.cfg.S3)
	case <-ctx.Done():
	}
	if err == nil {
		return nil
	}
	err = fmt.Errorf("`require_bucket` (true): bucket %q cannot be used: %s", c.cfg.S3.ref(), lake.Reason(err))
	now, cancel := context.WithCancel(context.WithoutCancel(ctx))
	cancel()
	return errors.Join(err, c.stop(now))
}

// prepare makes what works over the open queue.
func (c *core) prepare(ctx context.Context, queue *wal.WAL, step func(string)) (err error) {
	if err := c.lakes.prepare(ctx); err != nil {
		return err
	}
	if c.runtime, err = window.New(c.windowOptions(queue, step)); err != nil {
		return err
	}
	for _, left := range queue.Backlog() {
		c.door.splitter.Remember([]string{left.Tenant})
	}
	c.queue = queue
	return c.watch()
}

// openQueue opens the WAL in the storage that is configured.
func (c *core) openQueue(ctx context.Context, host component.Host, step func(string)) (*wal.WAL, error) {
	cfg := c.cfg.QueueConfig.Get()
	var client storage.Client
	var err error
	if cfg.StorageID != nil {
		if client, err = storageClient(ctx, host, *cfg.StorageID, c.set.ID, clientName); err != nil {
			return nil, err
		}
	}
	info, err := c.tenants.origins(c.cfg.Sink).Encode()
	if err != nil {
		return nil, fmt.Errorf("open queue: %w", err)
	}
	limit := cfg.QueueSize
	if client == nil {
		limit = min(limit, c.cfg.MemoryLimitMiB<<20)
		c.set.Logger.Warn("The queue is in memory: what is acknowledged and not committed is lost with this process; set sending_queue::storage",
			zap.Int64("limit_bytes", limit))
	}
	queue, err := wal.Open(ctx, wal.Options{
		Client: client, Limit: limit, Sizer: sizer(cfg.Sizer), BlockOnOverflow: cfg.BlockOnOverflow,
		SegmentSize: c.cfg.WAL.SegmentSizeMiB << 20, SegmentAge: c.cfg.WAL.SegmentAge,
		WriterInfo: info, OnDamage: c.damaged, Step: step, Logger: c.set.Logger,
	})
	if err != nil && client != nil {
		err = errors.Join(fmt.Errorf("`sending_queue::storage` (%v): %w", cfg.StorageID, err), client.Close(ctx))
	}
	return queue, err
}

// damaged takes note of what the queue found damaged: it is counted, and named
// in a manifest of its partition.
func (c *core) damaged(d wal.Damage) {
	c.observer.damaged(d)
	c.damage.Add(d)
}

func sizer(s exporterhelper.RequestSizerType) wal.Sizer {
	switch s {
	case exporterhelper.RequestSizerTypeItems:
		return wal.Items
	case exporterhelper.RequestSizerTypeRequests:
		return wal.Requests
	default:
		return wal.Bytes
	}
}

func (c *core) windowOptions(queue *wal.WAL, step func(string)) window.Options {
	q := c.cfg.QueueConfig.Get()
	memory, encoders := c.cfg.MemoryLimitMiB<<20, q.NumConsumers
	return window.Options{
		Queue: queue, Volatile: q.StorageID == nil, Damage: &c.damage, Sink: c.cfg.Sink,
		Limits:   c.tenants.common.limits(),
		Tick:     c.tenants.tick(),
		Memory:   memory,
		Encoders: encoders,
		Grace:    c.cfg.Flush.ShutdownGrace,
		Retry:    window.Retry{Initial: c.cfg.Retry.InitialInterval, Max: c.cfg.Retry.MaxInterval},
		Target:   c.tenants.target, Backlog: c.tenants.backlog, Open: c.lakes.lake, Log: c.lakes.log,
		Observer: c.observer, Logger: c.set.Logger, Step: step,
	}
}

// work starts what runs until shutdown: the checks of the buckets, and the
// windows, which begin when those were tried once. What it returns is closed
// when the exporter's own bucket was.
func (c *core) work() (tried <-chan struct{}) {
	ctx, cancel := context.WithCancel(context.Background())
	c.cancel = cancel
	checks := newBucketChecks(c)
	c.lakes.ask = func(g *gate) { checks.begin(ctx, g) }
	var all []<-chan struct{}
	for _, g := range c.lakes.needed() {
		all = append(all, checks.begin(ctx, g))
	}
	if c.cfg.QueueConfig.Get().BlockOnOverflow {
		c.refuseWaiters()
	}
	c.background.Go(func() { c.watchClock(c.queue.Ahead) })
	c.background.Go(func() {
		if c.wait(proveWait, all[:1]) {
			c.wait(proveMore, all[1:])
		}
		c.begun.Store(true)
		if err := c.runtime.Run(ctx); err != nil {
			c.status.fail(fmt.Errorf("run windows: %w", err))
		}
	})
	return all[0]
}

// wait returns when all are closed, and whether they were in time.
func (c *core) wait(limit time.Duration, all []<-chan struct{}) bool {
	patience := time.NewTimer(limit)
	defer patience.Stop()
	for _, one := range all {
		select {
		case <-one:
		case <-patience.C:
			return false
		case <-c.stopping:
			return false
		}
	}
	return true
}

// shutdown commits what is worth it within `flush::shutdown_grace` and ctx,
// leaves the rest in the queue, and returns without a goroutine left. It may be
// called without a start, or after one that failed.
func (c *core) shutdown(ctx context.Context) error {
	c.status.end()
	defer c.observer.builder.Shutdown()
	if c.cancel == nil {
		return nil
	}
	return c.stop(ctx)
}

// stop ends what work began, and closes the queue.
func (c *core) stop(ctx context.Context) error {
	defer func() { c.cancel = nil }()
	close(c.stopping)
	c.queue.Wait(false)
	stop := context.AfterFunc(ctx, c.cancel)
	err := c.runtime.Shutdown(context.WithoutCancel(ctx))
	stop()
	c.cancel()
	c.background.Wait()
	c.sayWhatIsLeft()
	if ctx.Err() != nil {
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeWait)
		defer cancel()
		ctx = late
	}
	err = errors.Join(err, c.queue.Close(ctx))
	c.lakes.close()
	return err
}

// sayWhatIsLeft tells of acknowledged records that are not committed: the next
// start goes on with those in a storage, and those in memory are lost here.
func (c *core) sayWhatIsLeft() {
	left := c.queue.Stats()
	switch {
	case left.Entries == 0:
	case c.cfg.QueueConfig.Get().StorageID == nil:
		c.set.Logger.Error("Entries in the memory queue are lost with this shutdown; set sending_queue::storage",
			zap.Int64("entries", left.Entries), zap.Int64("bytes", left.Bytes))
	default:
		c.set.Logger.Info("Entries in the queue are left for the next start",
			zap.Int64("entries", left.Entries), zap.Int64("bytes", left.Bytes))
	}
}
