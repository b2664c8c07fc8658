package wal

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkAppend is the WAL's own cost: the storage is a map.
func BenchmarkAppend(b *testing.B) {
	for _, size := range []int{2 << 10, 50 << 10} {
		for _, senders := range []int{1, 64} {
			b.Run(fmt.Sprintf("%dKiB/%d senders", size>>10, senders), func(b *testing.B) {
				w, err := Open(context.Background(), Options{})
				require.NoError(b, err)
				stop := consume(b, w)
				payload := make([]byte, size)
				b.SetBytes(int64(size))
				b.ReportAllocs()
				b.ResetTimer()
				var wg sync.WaitGroup
				var left atomic.Int64
				left.Store(int64(b.N))
				for g := range senders {
					wg.Go(func() {
						r := Record{Tenant: strconv.Itoa(g % 16), Signal: "logs", Items: 1, Payload: payload}
						for left.Add(-1) >= 0 {
							if err := w.Append(context.Background(), r); err != nil {
								b.Error(err)
							}
						}
					})
				}
				wg.Wait()
				b.StopTimer()
				require.NoError(b, w.Close(context.Background()))
				stop()
			})
		}
	}
}

// consume reads and trims 512 entries at a time.
func consume(b *testing.B, w *WAL) (stop func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		var held []uint64
		for {
			entries, err := w.Read(context.Background())
			if err != nil {
				return
			}
			for _, e := range entries {
				held = append(held, e.Seq)
			}
			if len(held) >= 512 {
				if err := w.Trim(context.Background(), held); err != nil {
					return
				}
				held = held[:0]
			}
		}
	}()
	return func() { <-done }
}

// BenchmarkReplay opens and reads a queue that file_storage holds; the open is
// in it.
func BenchmarkReplay(b *testing.B) {
	for _, size := range []int{2 << 10, 50 << 10, 2 << 20} {
		b.Run(fmt.Sprintf("%dKiB", size>>10), func(b *testing.B) {
			dir := b.TempDir()
			total := fillDir(b, dir, size, 128<<20)
			b.SetBytes(total)
			b.ReportAllocs()
			for b.Loop() {
				client, err := openFile(dir, "wal", true)
				require.NoError(b, err)
				w, err := Open(context.Background(), Options{Client: client})
				require.NoError(b, err)
				n := int64(0)
				for n < total {
					entries, err := w.Read(context.Background())
					require.NoError(b, err)
					for _, e := range entries {
						n += int64(len(e.Payload))
					}
				}
				require.NoError(b, w.Close(context.Background()))
			}
		})
	}
}

func fillDir(b *testing.B, dir string, size, total int) int64 {
	client, err := openFile(dir, "wal", false)
	require.NoError(b, err)
	w, err := Open(context.Background(), Options{Client: client})
	require.NoError(b, err)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			payload := make([]byte, size)
			for range total / size / 8 {
				if err := w.Append(context.Background(), Record{Tenant: "t", Signal: "logs", Items: 1, Payload: payload}); err != nil {
					b.Error(err)
				}
			}
		})
	}
	wg.Wait()
	require.NoError(b, w.Close(context.Background()))
	return int64(total / size / 8 * 8 * size)
}
