package s3windowexporter

import (
	"context"
	"fmt"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension/xextension/storage"

	"github.com/s3window/s3window/extension/leaseextension/lease"
)

// storageClient opens the storage of owner under name in the extension id.
func storageClient(ctx context.Context, host component.Host, id, owner component.ID, name string) (storage.Client, error) {
	found, err := extension(host, "sending_queue::storage", id)
	if err != nil {
		return nil, err
	}
	ext, ok := found.(storage.Extension)
	if !ok {
		return nil, fmt.Errorf("`sending_queue::storage` (%v) is not a storage extension: name one such as file_storage", id)
	}
	client, err := ext.GetClient(ctx, component.KindExporter, owner, name)
	if err != nil {
		return nil, fmt.Errorf("`sending_queue::storage` (%v) gives no storage: %w: check that it can be written, and that no other collector uses it", id, err)
	}
	return client, nil
}

// leaseExtension finds the leases; nil if none are configured.
func leaseExtension(host component.Host, id *component.ID) (lease.Leases, error) {
	if id == nil {
		return nil, nil
	}
	found, err := extension(host, "lease", *id)
	if err != nil {
		return nil, err
	}
	leases, ok := found.(lease.Leases)
	if !ok {
		return nil, fmt.Errorf("`lease` (%v) is not a lease extension: name one, or leave it out for leases in the bucket", id)
	}
	return leases, nil
}

func extension(host component.Host, key string, id component.ID) (component.Component, error) {
	found, ok := host.GetExtensions()[id]
	if !ok {
		return nil, fmt.Errorf("`%s` (%v) names no running extension: configure it under `extensions` and list it in `service::extensions`", key, id)
	}
	return found, nil
}
