// Package icebergsync is the extension s3window_iceberg: it registers the windows
// that the s3window exporter committed in Apache Iceberg tables. DESIGN.md has the
// protocol; the work is in package run, which the command shares.
package icebergsync
