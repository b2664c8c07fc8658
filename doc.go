// Package s3window holds no code: it is the root of the module. The exporter is
// in exporter/s3windowexporter, the lease extension in extension/leaseextension,
// and ARCHITECTURE.md says what else is where.
package s3window
