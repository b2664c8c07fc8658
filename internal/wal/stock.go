package wal

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"go.opentelemetry.io/collector/extension/xextension/storage"
)

// Keys of exporterhelper's persistent queue
// (exporterhelper v0.165 internal/queue/persistent_queue.go).
const (
	stockMetadata   = "qmv0"
	stockReadIndex  = "ri"
	stockWriteIndex = "wi"
	stockDispatched = "di"

	maxStock = 1 << 24 // items that unchecked metadata is believed
)

// indexes gives the stock queue's items, oldest first: those that were being
// sent when it stopped, then those that waited. Where its metadata is lost and
// the storage can be searched, all values that look like items are taken.
func (t *takeover) indexes(ctx context.Context) ([]uint64, error) {
	meta, err := t.metadata(ctx)
	if err == nil {
		all := slices.Clone(meta.dispatched)
		for i := meta.read; i < meta.write; i++ {
			all = append(all, i)
		}
		slices.Sort(all)
		return slices.Compact(all), nil
	}
	walker, ok := t.stock.(storage.Walker)
	switch {
	case !errors.Is(err, errStockMetadata) && !errors.Is(err, errNoStock):
		return nil, err
	case !ok && errors.Is(err, errNoStock):
		return nil, nil
	case !ok:
		return nil, err
	}
	var all []uint64
	err = walker.Walk(ctx, func(key string, _ []byte) ([]*storage.Operation, error) {
		if n, err := strconv.ParseUint(key, 10, 64); err == nil && strconv.FormatUint(n, 10) == key {
			all = append(all, n)
		}
		return nil, nil
	})
	slices.Sort(all)
	return all, err
}

type stockMeta struct {
	read, write uint64
	dispatched  []uint64
}

var (
	errStockMetadata = errors.New("metadata of the stock queue is damaged")
	errNoStock       = errors.New("there is no stock queue")
)

func (t *takeover) metadata(ctx context.Context) (stockMeta, error) {
	ops := []*storage.Operation{
		storage.GetOperation(stockMetadata), storage.GetOperation(stockReadIndex),
		storage.GetOperation(stockWriteIndex), storage.GetOperation(stockDispatched),
	}
	if err := t.stock.Batch(ctx, ops...); err != nil {
		return stockMeta{}, fmt.Errorf("read stock metadata: %w", err)
	}
	m, err := parseStock(ops[0].Value, ops[1].Value, ops[2].Value, ops[3].Value)
	if err == nil && m.write-m.read > maxStock {
		return stockMeta{}, errStockMetadata
	}
	return m, err
}

// parseStock reads the metadata: a message of fixed64 fields (meta.proto), or
// before v0.130 one key per index.
func parseStock(meta, read, write, dispatched []byte) (stockMeta, error) {
	if len(meta) > 0 {
		return parseStockProto(meta)
	}
	if read == nil && write == nil && dispatched == nil {
		return stockMeta{}, errNoStock
	}
	if len(read) < 8 || len(write) < 8 {
		return stockMeta{}, errStockMetadata
	}
	le := binary.LittleEndian
	m := stockMeta{read: le.Uint64(read), write: le.Uint64(write)}
	if len(dispatched) >= 4 {
		n := int(le.Uint32(dispatched))
		if len(dispatched) < 4+8*n {
			return stockMeta{}, errStockMetadata
		}
		for i := range n {
			m.dispatched = append(m.dispatched, le.Uint64(dispatched[4+8*i:]))
		}
	}
	return m, nil
}

func parseStockProto(b []byte) (m stockMeta, err error) {
	le := binary.LittleEndian
	for len(b) > 0 {
		tag := b[0]
		b = b[1:]
		size, width := uint64(8), 0
		if tag == 5<<3|2 {
			size, width = binary.Uvarint(b)
		}
		if width < 0 || tag == 5<<3|2 && width == 0 || tag&7 != 1 && tag != 5<<3|2 || uint64(len(b)-width) < size || size%8 != 0 {
			return stockMeta{}, errStockMetadata
		}
		field := b[width : width+int(size)]
		b = b[width+int(size):]
		for ; len(field) >= 8; field = field[8:] {
			switch tag >> 3 {
			case 3:
				m.read = le.Uint64(field)
			case 4:
				m.write = le.Uint64(field)
			case 5:
				m.dispatched = append(m.dispatched, le.Uint64(field))
			}
		}
	}
	return m, nil
}
