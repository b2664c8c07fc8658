//go:generate mdatagen metadata.yaml

// Package s3windowexporter is the collector component s3window: configuration
// in, parts wired, lifecycle. It knows no protocol; internal/window,
// internal/wal and internal/commit do.
//
// All signals of one exporter ID share one core: one queue, one memory limit,
// one set of windows. A request is split by tenant, marshalled and appended to
// the queue in the caller's goroutine; the call returns when it is durable.
package s3windowexporter
