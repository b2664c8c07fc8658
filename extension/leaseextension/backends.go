package leaseextension

import (
	"context"
	"slices"
	"strings"

	"go.opentelemetry.io/collector/component"

	"github.com/s3window/s3window/extension/leaseextension/internal/memory"
	"github.com/s3window/s3window/extension/leaseextension/internal/s3"
	"github.com/s3window/s3window/extension/leaseextension/internal/storage"
)

// backend is one way to keep leases. A further one is a package under internal/
// with a Config and a Store, a block in Config, and a row in backends.
type backend struct {
	name string
	// configured tells whether the block that the backend needs is there.
	configured func(*Config) bool
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
	store Store
	close func(context.Context) error
}

func backends() []backend {
	return []backend{
		{name: "memory", configured: func(*Config) bool { return true }, open: openMemory},
		{name: "s3", configured: func(c *Config) bool { return c.S3.HasValue() }, open: openS3},
		{name: "storage", configured: func(c *Config) bool { return c.Storage.HasValue() }, open: openStorage},
	}
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

func openMemory(context.Context, *Config, environment) (opened, error) {
	return opened{store: memory.New(), close: func(context.Context) error { return nil }}, nil
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
