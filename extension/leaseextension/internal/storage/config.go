package storage

import (
	"context"
	"errors"
	"fmt"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension/xextension/storage"
)

// Config is the backend's block of the configuration.
type Config struct {
	// Extension is the ID of the storage extension, such as file_storage/leases.
	Extension component.ID `mapstructure:"extension"`
}

// Check names what is wrong with the block.
func (c *Config) Check() error {
	if c.Extension == (component.ID{}) {
		return errors.New("`extension` is empty: it must name a storage extension, such as file_storage/leases")
	}
	return nil
}

// Open returns a store on a client that the host's storage extension makes for
// the lease extension id. Closing the client is the caller's.
func Open(ctx context.Context, cfg Config, host component.Host, id component.ID) (*Store, storage.Client, error) {
	found, ok := host.GetExtensions()[cfg.Extension]
	if !ok {
		return nil, nil, fmt.Errorf("find storage extension %q: it is not among `service::extensions`", cfg.Extension)
	}
	extension, ok := found.(storage.Extension)
	if !ok {
		return nil, nil, fmt.Errorf("find storage extension %q: it is no storage extension", cfg.Extension)
	}
	client, err := extension.GetClient(ctx, component.KindExtension, id, "")
	if err != nil {
		return nil, nil, fmt.Errorf("open a client of storage extension %q: %w", cfg.Extension, err)
	}
	return New(client), client, nil
}
