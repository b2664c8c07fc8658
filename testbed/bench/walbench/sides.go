package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/open-telemetry/opentelemetry-collector-contrib/extension/storage/filestorage"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/exporter/exporterhelper"
	"go.opentelemetry.io/collector/exporter/exportertest"
	"go.opentelemetry.io/collector/extension/extensiontest"
	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/s3window/s3window/internal/wal"
)

var storageID = component.MustNewID("file_storage")

// host offers the storage to the stock queue.
type host struct{ ext component.Component }

func (h host) GetExtensions() map[component.ID]component.Component {
	return map[component.ID]component.Component{storageID: h.ext}
}

func fileStorage(ctx context.Context, dir string, fsync bool) (storage.Extension, error) {
	factory := filestorage.NewFactory()
	cfg := factory.CreateDefaultConfig().(*filestorage.Config)
	cfg.Directory, cfg.FSync = dir, fsync
	ext, err := factory.Create(ctx, extensiontest.NewNopSettings(factory.Type()), cfg)
	if err != nil {
		return nil, err
	}
	return ext.(storage.Extension), nil
}

// startStock is exporterhelper's persistent queue in front of a push that
// always succeeds: nothing is retained.
func startStock(ctx context.Context, l load, dir string) (side, error) {
	ext, err := fileStorage(ctx, dir, l.fsync)
	if err != nil {
		return side{}, err
	}
	queue := exporterhelper.NewDefaultQueueConfig()
	queue.StorageID, queue.BlockOnOverflow = &storageID, true
	exp, err := exporterhelper.NewLogs(ctx, exportertest.NewNopSettings(component.MustNewType("bench")), &struct{}{},
		func(context.Context, plog.Logs) error { return nil },
		exporterhelper.WithQueue(configoptional.Some(queue)))
	if err != nil {
		return side{}, err
	}
	if err := exp.Start(ctx, host{ext}); err != nil {
		return side{}, err
	}
	return side{
		send:  func(ctx context.Context, _ int, ld plog.Logs) error { return exp.ConsumeLogs(ctx, ld) },
		close: exp.Shutdown,
	}, nil
}

// retained is how many entries the WAL's side holds back before a tenant's
// are trimmed, as windows do.
const retained = 1024

// startWAL marshals in the caller, as the exporter does, reads every entry and
// trims a tenant's entries together once retained are held.
func startWAL(ctx context.Context, l load, dir string) (side, error) {
	w, err := openWAL(ctx, dir, l.fsync)
	if err != nil {
		return side{}, err
	}
	var wg sync.WaitGroup
	failed := make(chan error, 1)
	wg.Go(func() { failed <- windows(ctx, w) })
	m := plog.ProtoMarshaler{}
	return side{
		send: func(ctx context.Context, sender int, ld plog.Logs) error {
			payload, err := m.MarshalLogs(ld)
			if err != nil {
				return err
			}
			return w.Append(ctx, wal.Record{
				Tenant: strconv.Itoa(sender % l.tenants), Signal: "logs", Items: ld.LogRecordCount(), Payload: payload,
			})
		},
		close: func(ctx context.Context) error {
			err := w.Close(ctx)
			wg.Wait()
			if rerr := <-failed; !errors.Is(rerr, wal.ErrClosed) {
				err = errors.Join(err, rerr)
			}
			return err
		},
	}, nil
}

func openWAL(ctx context.Context, dir string, fsync bool) (*wal.WAL, error) {
	ext, err := fileStorage(ctx, dir, fsync)
	if err != nil {
		return nil, err
	}
	client, err := ext.GetClient(ctx, component.KindExporter, component.MustNewID("bench"), "wal")
	if err != nil {
		return nil, err
	}
	return wal.Open(ctx, wal.Options{Client: client})
}

// windows reads, and trims the largest tenant's entries when enough are held.
func windows(ctx context.Context, w *wal.WAL) error {
	held := map[string][]uint64{}
	n := 0
	for {
		entries, err := w.Read(ctx)
		if err != nil {
			return err
		}
		for _, e := range entries {
			held[e.Tenant] = append(held[e.Tenant], e.Seq)
			n++
		}
		for n >= retained {
			largest := ""
			for tenant, seqs := range held {
				if len(seqs) > len(held[largest]) {
					largest = tenant
				}
			}
			if err := w.Trim(ctx, held[largest]); err != nil {
				return err
			}
			n -= len(held[largest])
			delete(held, largest)
		}
	}
}

// replay fills a queue, closes it, and measures opening and reading it.
func replay(ctx context.Context, dir string, size, total int) (rate, perCPU float64, err error) {
	l := load{dir: dir, senders: 16, tenants: 16, size: size}
	tmp, remove, err := tempDir(dir)
	if err != nil {
		return 0, 0, err
	}
	defer remove()
	if err := fill(ctx, tmp, l, total); err != nil {
		return 0, 0, err
	}
	cpu, begin, n := cpuTime(), time.Now(), 0
	w, err := openWAL(ctx, tmp, true)
	if err != nil {
		return 0, 0, err
	}
	for w.Stats().UnreadEntries > 0 {
		entries, err := w.Read(ctx)
		if err != nil {
			return 0, 0, err
		}
		for _, e := range entries {
			n += len(e.Payload)
		}
	}
	took, spent := time.Since(begin).Seconds(), (cpuTime() - cpu).Seconds()
	if n != total/size/l.senders*l.senders*size {
		return 0, 0, fmt.Errorf("replay gave %d bytes", n)
	}
	mib := float64(n) / (1 << 20)
	return mib / took, mib / spent, w.Close(ctx)
}

func fill(ctx context.Context, dir string, l load, total int) error {
	w, err := openWAL(ctx, dir, false)
	if err != nil {
		return err
	}
	errs := make([]error, l.senders)
	var wg sync.WaitGroup
	for g := range l.senders {
		wg.Go(func() {
			r := wal.Record{Tenant: strconv.Itoa(g), Signal: "logs", Items: 1, Payload: make([]byte, l.size)}
			for range total / l.size / l.senders {
				errs[g] = errors.Join(errs[g], w.Append(ctx, r))
			}
		})
	}
	wg.Wait()
	return errors.Join(append(errs, w.Close(ctx))...)
}
