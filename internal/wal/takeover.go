package wal

import (
	"context"
	"fmt"
	"hash/crc32"
	"slices"
	"strconv"

	"go.opentelemetry.io/collector/extension/xextension/storage"
)

// TakenOver counts what TakeOver did.
type TakenOver struct {
	Requests  int // appended
	Items     int
	SetAside  int // could not be decoded: kept as they were
	Forgotten int // named by the stock queue, but not there
}

// TakeOver appends what the stock persistent queue of the same exporter left in
// stock, oldest first, and empties stock. It tells its progress apart by name,
// the signal as a rule. decode turns a stored value into records; a value that
// it refuses is set aside. The limit of the queue does not hold here: the data
// is on the disk already.
//
// It can be interrupted anywhere, by an error or a crash, and repeated:
// nothing is lost and nothing is appended twice. Nothing else may use stock
// meanwhile.
func (w *WAL) TakeOver(ctx context.Context, name string, stock storage.Client, decode func([]byte) ([]Record, error)) (TakenOver, error) {
	t := &takeover{w: w, key: handoverPrefix + name, stock: stock, decode: decode}
	if err := t.run(ctx); err != nil {
		return t.done, fmt.Errorf("take over stock queue %q: %w", name, err)
	}
	return t.done, nil
}

type takeover struct {
	w      *WAL
	key    string
	stock  storage.Client
	decode func([]byte) ([]Record, error)
	done   TakenOver
	handed []handed // appended by the Batch that was last, perhaps not deleted yet
}

// run first lets the committer write once: an append of an earlier take-over
// whose outcome is unknown is removed by that, with the progress it may have left.
func (t *takeover) run(ctx context.Context) error {
	if err := t.w.do(nothing("wal:handover-start"), ctx.Done()); err != nil {
		return err
	}
	raw, err := t.w.client.Get(ctx, t.key)
	if err != nil {
		return err
	}
	if raw != nil {
		if t.handed, err = decodeHandover(raw); err != nil {
			return fmt.Errorf("read progress: %w", err)
		}
	}
	indexes, err := t.indexes(ctx)
	if err != nil {
		return err
	}
	for n := 1; len(indexes) > 0; {
		n = min(n, len(indexes))
		size, err := t.move(ctx, indexes[:n])
		if err != nil {
			return err
		}
		indexes = indexes[n:]
		if size < takeOverBytes/2 {
			n = min(2*n, maxTakeOver)
		} else {
			n = max(1, n/2)
		}
	}
	return t.finish(ctx, raw != nil || len(t.handed) > 0)
}

// finish empties the stock queue, then forgets the progress.
//
// Crash before this: the next take-over finds no items and comes here again.
// Crash between the two: the progress names values that do not exist, which
// changes nothing, and goes with the next take-over.
func (t *takeover) finish(ctx context.Context, progress bool) error {
	err := t.stock.Batch(ctx, storage.DeleteOperation(stockMetadata), storage.DeleteOperation(stockReadIndex),
		storage.DeleteOperation(stockWriteIndex), storage.DeleteOperation(stockDispatched))
	if err != nil {
		return fmt.Errorf("delete stock metadata: %w", err)
	}
	if !progress {
		return nil
	}
	c := nothing("wal:handover-end")
	c.build = func(s *step) { s.deletes = append(s.deletes, t.key) }
	return t.w.do(c, ctx.Done())
}

// move appends some values and deletes them from the stock queue. The progress
// record that says which they are rides in the same Batch as the entries.
//
// Crash before the append: nothing moved. Crash between append and delete: the
// next take-over meets the same values under the same index, and only deletes
// them. Crash after it: moved.
func (t *takeover) move(ctx context.Context, indexes []uint64) (int64, error) {
	gets := make([]*storage.Operation, len(indexes))
	dels := make([]*storage.Operation, len(indexes))
	for i, index := range indexes {
		key := strconv.FormatUint(index, 10)
		gets[i], dels[i] = storage.GetOperation(key), storage.DeleteOperation(key)
	}
	if err := t.stock.Batch(ctx, gets...); err != nil {
		return 0, fmt.Errorf("read stock values: %w", err)
	}
	var recs []Record
	var fresh []handed
	var unread []Aside
	size := int64(0)
	for i, op := range gets {
		if op.Value == nil {
			t.done.Forgotten++
			continue
		}
		size += int64(len(op.Value))
		h := handed{indexes[i], uint32(len(op.Value)), crc32.Checksum(op.Value, castagnoli)}
		if slices.Contains(t.handed, h) {
			continue
		}
		fresh = append(fresh, h)
		got, err := t.decode(op.Value)
		if err != nil {
			unread = append(unread, Aside{Seq: indexes[i], Reason: "stock queue: " + err.Error(), Raw: op.Value})
			continue
		}
		recs = append(recs, got...)
		t.done.Requests++
	}
	if err := t.append(ctx, recs, fresh, unread); err != nil {
		return 0, err
	}
	t.w.opts.Fault("wal:handover")
	if err := t.stock.Batch(ctx, dels...); err != nil {
		return 0, fmt.Errorf("delete stock values: %w", err)
	}
	return size, nil
}

// append makes the records, the progress and what could not be decoded durable.
func (t *takeover) append(ctx context.Context, recs []Record, fresh []handed, unread []Aside) error {
	if len(fresh) == 0 {
		return nil
	}
	if t.done.SetAside+len(unread) > asideCount {
		return fmt.Errorf("more than %d values cannot be decoded, the last one: %s", asideCount, unread[len(unread)-1].Reason)
	}
	for _, a := range unread {
		if err := t.w.do(t.w.keepControl(a), ctx.Done()); err != nil {
			return fmt.Errorf("set stock value aside: %w", err)
		}
		t.done.SetAside++
	}
	progress := storage.SetOperation(t.key, encodeHandover(fresh))
	t.handed = fresh
	if len(recs) == 0 {
		c := nothing("wal:handover-mark")
		c.build = func(s *step) { s.ops = append(s.ops, progress) }
		return t.w.do(c, ctx.Done())
	}
	weights, err := weigh(recs)
	if err != nil {
		return err
	}
	t.w.room.force(t.w.opts.Sizer.of(weights))
	t.done.Items += int(weights.items)
	req := newRequest(recs, weights)
	req.extra = []*storage.Operation{progress}
	return t.w.submit(ctx, req)
}

// keepControl keeps a value that never was an entry.
func (w *WAL) keepControl(a Aside) *control {
	c, k := &control{label: "wal:aside"}, &kept{}
	c.build = func(s *step) { w.asides.keep(s, k, a.Seq, a.Reason, a.Raw) }
	c.applied = func() weights {
		w.counts.aside++
		return weights{}
	}
	return c
}
