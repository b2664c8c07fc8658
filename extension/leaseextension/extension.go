package leaseextension

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension"
	"go.uber.org/zap"

	"github.com/s3window/s3window/extension/leaseextension/internal/metadata"
	"github.com/s3window/s3window/extension/leaseextension/lease"
)

// ErrNotStarted says that a lease was asked for before the extension started.
var ErrNotStarted = errors.New("lease extension is not started")

// plan is what an extension does when it starts.
type plan struct {
	backend string
	ttl     time.Duration
	open    func(context.Context, component.Host) (opened, error)
}

// leaseExtension is the component: a participant from Start to Shutdown.
type leaseExtension struct {
	plan      plan
	logger    *zap.Logger
	telemetry *metadata.TelemetryBuilder

	// mu guards everything declared below.
	mu          sync.Mutex
	participant *lease.Participant
	opened      opened
}

var (
	_ extension.Extension = (*leaseExtension)(nil)
	_ lease.Leases        = (*leaseExtension)(nil)
)

func newExtension(set extension.Settings, p plan) (*leaseExtension, error) {
	telemetry, err := metadata.NewTelemetryBuilder(set.TelemetrySettings)
	if err != nil {
		return nil, fmt.Errorf("make telemetry: %w", err)
	}
	return &leaseExtension{plan: p, logger: set.Logger, telemetry: telemetry}, nil
}

// Start opens the store. A store that cannot be reached does not stop it: that
// shows as a recoverable status once a lease is asked for.
func (e *leaseExtension) Start(ctx context.Context, host component.Host) error {
	opened, err := e.plan.open(ctx, host)
	if err != nil {
		return fmt.Errorf("open lease store %q: %w", e.plan.backend, err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.opened = opened
	e.participant = lease.NewParticipant(opened.store, lease.Options{TTL: e.plan.ttl, Observer: newReporter(e, host).observer()})
	return nil
}

// Shutdown ends every lease that is still held, without releasing it.
func (e *leaseExtension) Shutdown(ctx context.Context) error {
	e.mu.Lock()
	participant, opened := e.participant, e.opened
	e.participant = nil
	e.mu.Unlock()
	defer e.telemetry.Shutdown()
	if participant == nil {
		return nil
	}
	participant.Close()
	if err := opened.close(ctx); err != nil {
		return fmt.Errorf("close lease store: %w", err)
	}
	return nil
}

// Acquire implements Leases.
func (e *leaseExtension) Acquire(ctx context.Context, name string, opts ...lease.AcquireOption) (lease.Lease, error) {
	participant, err := e.started()
	if err != nil {
		return nil, fmt.Errorf("acquire lease %q: %w", name, err)
	}
	return participant.Acquire(ctx, name, opts...)
}

// Read implements Leases.
func (e *leaseExtension) Read(ctx context.Context, name string) ([]byte, error) {
	participant, err := e.started()
	if err != nil {
		return nil, fmt.Errorf("read lease %q: %w", name, err)
	}
	return participant.Read(ctx, name)
}

func (e *leaseExtension) started() (*lease.Participant, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.participant == nil {
		return nil, ErrNotStarted
	}
	return e.participant, nil
}
