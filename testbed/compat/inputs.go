package main

import (
	"strings"
	"time"

	"github.com/s3window/s3window/internal/encode/encodetest"
	"github.com/s3window/s3window/internal/partition"
	"github.com/s3window/s3window/testbed/odd"
)

// window is what one object holds: OTLP requests of one tenant and signal.
type window struct {
	tenant   string
	signal   partition.Signal
	start    time.Time
	level    *string // the directory below hour=, if there is one, without service=
	requests [][]byte
}

// received is the stamp of request i, microseconds.
func (w window) received(i int) int64 { return w.start.UnixMicro() + int64(i)*1000 }

func (w window) bytes() (n int64) {
	for _, r := range w.requests {
		n += int64(len(r))
	}
	return n
}

// ordinary is the tenant whose records are ordinary, about ordinaryRows of them
// in each window.
const (
	ordinary     = "acme"
	ordinaryRows = 900
)

// inputs are all windows, in the order in which they are committed.
func inputs(levels string) (out []window) {
	for _, s := range signals() {
		if levels != "" {
			out = append(out, levelWindows(s, levels == "mixed")...)
			continue
		}
		for i, at := range []string{"2026-09-21T09:05:00Z", "2026-09-21T11:26:40Z", "2026-09-22T00:00:00Z"} {
			out = append(out, window{tenant: ordinary, signal: s, start: clock(at), requests: generated(s, int64(i+1), ordinaryRows)})
		}
		requests, tenants := odd.Requests(s), odd.Tenants()
		for i, t := range tenants {
			w := window{tenant: t, signal: s, start: clock("2026-09-21T11:30:00Z").Add(time.Duration(i) * time.Minute)}
			for j, r := range requests {
				if i == 0 || j%len(tenants) == i {
					w.requests = append(w.requests, r)
				}
			}
			out = append(out, w)
		}
	}
	return out
}

// levelWindows have a level service= below hour=; a mixed partition has a
// window without it too.
func levelWindows(s partition.Signal, mixed bool) (out []window) {
	level := func(v string) *string {
		_, dir, _ := strings.Cut(partition.Level("service", v), "=")
		return &dir
	}
	for i, l := range []*string{
		level("checkout"), level("a/b"), level("ü 😀"), level("007"), level(""), nil,
	} {
		if l == nil && !mixed {
			continue
		}
		out = append(out, window{
			tenant: ordinary, signal: s, start: clock("2026-09-21T11:26:40Z").Add(time.Duration(i) * time.Second), level: l,
			requests: generated(s, int64(10+i), 60)[:1],
		})
	}
	return out
}

func clock(s string) time.Time {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		panic(err) // a constant of this file
	}
	return t
}

func generated(s partition.Signal, seed int64, n int) [][]byte {
	switch s {
	case partition.Logs:
		return encodetest.Logs(seed, n)
	case partition.Traces:
		return encodetest.Traces(seed, n)
	}
	return encodetest.Metrics(seed, n)
}
