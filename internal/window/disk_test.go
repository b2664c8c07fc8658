package window

import (
	"context"
	"maps"
	"slices"
	"sync"

	"go.opentelemetry.io/collector/extension/xextension/storage"
)

// disk is a storage client that survives the processes of a test.
type disk struct {
	mu     sync.Mutex
	values map[string][]byte
	fail   func(ops []*storage.Operation) error // before a Batch takes effect
	after  func(ops []*storage.Operation) error // after it did
}

// set has f decide about every Batch from now on.
func (d *disk) set(f func(ops []*storage.Operation) error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fail = f
}

func newDisk() *disk { return &disk{values: map[string][]byte{}} }

// setAfter has f decide about every Batch that took effect.
func (d *disk) setAfter(f func(ops []*storage.Operation) error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.after = f
}

func (d *disk) copy() *disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	return &disk{values: maps.Clone(d.values)}
}

func (d *disk) Batch(_ context.Context, ops ...*storage.Operation) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fail != nil {
		if err := d.fail(ops); err != nil {
			return err
		}
	}
	for _, op := range ops {
		switch op.Type {
		case storage.Get:
			op.Value = slices.Clone(d.values[op.Key])
		case storage.Set:
			d.values[op.Key] = slices.Clone(op.Value)
		case storage.Delete:
			delete(d.values, op.Key)
		}
	}
	if d.after != nil {
		return d.after(ops)
	}
	return nil
}

func (d *disk) Walk(_ context.Context, f storage.WalkFunc) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, k := range slices.Sorted(maps.Keys(d.values)) {
		if _, err := f(k, d.values[k]); err != nil {
			return err
		}
	}
	return nil
}

func (d *disk) Get(ctx context.Context, key string) ([]byte, error) {
	op := storage.GetOperation(key)
	err := d.Batch(ctx, op)
	return op.Value, err
}

func (d *disk) Set(ctx context.Context, key string, value []byte) error {
	return d.Batch(ctx, storage.SetOperation(key, value))
}

func (d *disk) Delete(ctx context.Context, key string) error {
	return d.Batch(ctx, storage.DeleteOperation(key))
}

func (d *disk) Close(context.Context) error { return nil }
