package leaseextension

import (
	"context"
	"errors"
	"slices"
	"strings"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/configoptional"

	"github.com/s3window/s3window/extension/leaseextension/internal/dynamodb"
	"github.com/s3window/s3window/extension/leaseextension/internal/etcd"
	"github.com/s3window/s3window/extension/leaseextension/internal/nats"
	"github.com/s3window/s3window/extension/leaseextension/internal/storage"
	"github.com/s3window/s3window/extension/leaseextension/lease"
	"github.com/s3window/s3window/extension/leaseextension/lease/memory"
	"github.com/s3window/s3window/extension/leaseextension/lease/s3"
)

// backend is one way to keep leases. A further one is a package with a Config and a
// Store, a block in Config, and a row in backends; or, with a heavy client, a module
// of its own, see NewBackendFactory.
type backend struct {
	name string
	// block returns what checks the backend's block; nil if it is missing.
	block func(*Config) (check func() error)
	// open makes the store. It connects nothing that can wait.
	open func(context.Context, *Config, environment) (opened, error)
}

// environment is what backends may need besides the configuration.
type environment struct {
	host component.Host
	id   component.ID // of this extension
}

// opened is a store and what ends it.
type opened struct {
	store lease.Store
	close func(context.Context) error
}

func backends() []backend {
	return []backend{
		{name: "dynamodb", block: func(c *Config) func() error { return blockOf(&c.DynamoDB) }, open: openDynamoDB},
		{name: "etcd", block: func(c *Config) func() error { return blockOf(&c.Etcd) }, open: openEtcd},
		{name: "memory", block: func(*Config) func() error { return func() error { return nil } }, open: openMemory},
		{name: "nats", block: func(c *Config) func() error { return blockOf(&c.NATS) }, open: openNATS},
		{name: "s3", block: func(c *Config) func() error { return blockOf(&c.S3) }, open: openS3},
		{name: "storage", block: func(c *Config) func() error { return blockOf(&c.Storage) }, open: openStorage},
	}
}

func blockOf[T any, P checked[T]](block *configoptional.Optional[T]) func() error {
	if !block.HasValue() {
		return nil
	}
	return P(block.Get()).Check
}

// checked is a pointer to a backend's settings.
type checked[T any] interface {
	*T
	// Check names everything that is wrong with the settings, one line each.
	Check() error
}

func backendNamed(name string) (backend, bool) {
	all := backends()
	i := slices.IndexFunc(all, func(b backend) bool { return b.name == name })
	if i < 0 {
		return backend{}, false
	}
	return all[i], true
}

func backendNames() string {
	var names []string
	for _, b := range backends() {
		names = append(names, b.name)
	}
	return strings.Join(names, ", ")
}

// open opens the configured backend.
func (c *Config) open(ctx context.Context, env environment) (opened, error) {
	b, ok := backendNamed(c.Backend)
	if !ok {
		return opened{}, errors.New("there is no such backend")
	}
	return b.open(ctx, c, env)
}

func openMemory(context.Context, *Config, environment) (opened, error) {
	return opened{store: memory.New(), close: func(context.Context) error { return nil }}, nil
}

func openDynamoDB(ctx context.Context, c *Config, _ environment) (opened, error) {
	return closing(dynamodb.Open(ctx, *c.DynamoDB.Get()))
}

func openEtcd(ctx context.Context, c *Config, _ environment) (opened, error) {
	return closing(etcd.Open(ctx, *c.Etcd.Get()))
}

func openNATS(ctx context.Context, c *Config, _ environment) (opened, error) {
	return closing(nats.Open(ctx, *c.NATS.Get()))
}

// closing is what was opened, for stores that close themselves.
func closing[S ClosingStore](store S, err error) (opened, error) {
	if err != nil {
		return opened{}, err
	}
	return opened{store: store, close: func(context.Context) error { return store.Close() }}, nil
}

func openS3(ctx context.Context, c *Config, _ environment) (opened, error) {
	store, err := s3.Open(ctx, *c.S3.Get())
	if err != nil {
		return opened{}, err
	}
	return opened{store: store, close: func(context.Context) error { store.Close(); return nil }}, nil
}

func openStorage(ctx context.Context, c *Config, env environment) (opened, error) {
	store, client, err := storage.Open(ctx, *c.Storage.Get(), env.host, env.id)
	if err != nil {
		return opened{}, err
	}
	return opened{store: store, close: client.Close}, nil
}
