package wal

import (
	"context"
	"sync"

	"go.opentelemetry.io/collector/extension/xextension/storage"
)

// memory is the storage of a queue in memory. It keeps and gives the values
// themselves, so that an entry is there once however many hold it.
type memory struct {
	// mu guards everything declared below.
	mu     sync.Mutex
	values map[string][]byte
}

func newMemory() *memory { return &memory{values: map[string][]byte{}} }

func (m *memory) Batch(_ context.Context, ops ...*storage.Operation) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, op := range ops {
		switch op.Type {
		case storage.Get:
			op.Value = m.values[op.Key]
		case storage.Set:
			m.values[op.Key] = op.Value
		case storage.Delete:
			delete(m.values, op.Key)
		}
	}
	return nil
}

func (m *memory) Get(ctx context.Context, key string) ([]byte, error) {
	op := storage.GetOperation(key)
	err := m.Batch(ctx, op)
	return op.Value, err
}

func (m *memory) Set(ctx context.Context, key string, value []byte) error {
	return m.Batch(ctx, storage.SetOperation(key, value))
}

func (m *memory) Delete(ctx context.Context, key string) error {
	return m.Batch(ctx, storage.DeleteOperation(key))
}

func (*memory) Close(context.Context) error { return nil }
