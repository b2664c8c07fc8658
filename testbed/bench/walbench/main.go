// Command walbench compares the write-ahead queue with exporterhelper's
// persistent queue: the same requests, the same file_storage, one process, the
// two sides by turns. It prints tables; only the ratios mean something on a
// machine that is shared.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"time"
)

func main() {
	dir := flag.String("dir", os.TempDir(), "where the storage lies: the disk that is measured")
	span := flag.Duration("for", 3*time.Second, "length of one measurement")
	rounds := flag.Int("rounds", 3, "measurements of each case; the median counts")
	flag.Parse()
	if err := run(context.Background(), *dir, *span, *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "walbench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, dir string, span time.Duration, rounds int) error {
	fmt.Println("Acknowledged requests, 2 KB each, fsync: true")
	fmt.Printf("%8s  %12s %12s %8s  %12s %12s\n", "senders", "wal req/s", "stock req/s", "ratio", "wal CPU us", "stock CPU us")
	for _, senders := range []int{1, 8, 64, 512} {
		c := load{dir: dir, fsync: true, senders: senders, tenants: 16, size: 2 << 10, span: span}
		ours, stock, err := compare(ctx, c, rounds)
		if err != nil {
			return err
		}
		fmt.Printf("%8d  %12.0f %12.0f %7.1fx  %12.0f %12.0f\n", senders,
			ours.rate, stock.rate, ours.rate/stock.rate, ours.cpu, stock.cpu)
	}
	fmt.Println("\nBytes written per acknowledged byte, 16 tenants, 16 senders")
	fmt.Printf("%8s %8s  %8s %8s  %12s %12s  %12s %12s\n", "entry", "fsync", "wal", "stock", "wal CPU us", "stock CPU us", "wal req/s", "stock req/s")
	for _, size := range []int{2 << 10, 50 << 10} {
		for _, fsync := range []bool{false, true} {
			c := load{dir: dir, fsync: fsync, senders: 16, tenants: 16, size: size, span: span}
			ours, stock, err := compare(ctx, c, rounds)
			if err != nil {
				return err
			}
			fmt.Printf("%5d KB %8v  %7.2fx %7.2fx  %12.0f %12.0f  %12.0f %12.0f\n", size>>10, fsync,
				ours.written, stock.written, ours.cpu, stock.cpu, ours.rate, stock.rate)
		}
	}
	fmt.Println("\nReplay from file_storage (fsync: true, page cache warm), open included")
	fmt.Printf("%8s  %10s %14s\n", "entry", "MiB/s", "MiB/CPU-second")
	for _, size := range []int{2 << 10, 50 << 10, 1 << 20} {
		var rate, cpu []float64
		for range rounds {
			r, c, err := replay(ctx, dir, size, 256<<20)
			if err != nil {
				return err
			}
			rate, cpu = append(rate, r), append(cpu, c)
		}
		fmt.Printf("%5d KB  %10.0f %14.0f\n", size>>10, median(rate), median(cpu))
	}
	return nil
}

// compare measures both sides by turns and gives the medians.
func compare(ctx context.Context, c load, rounds int) (ours, stock result, err error) {
	var a, b []result
	for range rounds {
		r, err := c.measure(ctx, startWAL)
		if err != nil {
			return ours, stock, err
		}
		a = append(a, r)
		if r, err = c.measure(ctx, startStock); err != nil {
			return ours, stock, err
		}
		b = append(b, r)
	}
	return medians(a), medians(b), nil
}

func medians(rs []result) result {
	of := func(f func(result) float64) float64 {
		var all []float64
		for _, r := range rs {
			all = append(all, f(r))
		}
		return median(all)
	}
	return result{
		rate:    of(func(r result) float64 { return r.rate }),
		cpu:     of(func(r result) float64 { return r.cpu }),
		written: of(func(r result) float64 { return r.written }),
	}
}

func median(all []float64) float64 {
	slices.Sort(all)
	return all[len(all)/2]
}
