//go:build e2e

// Package e2e runs the real collector against a real S3 server, kills it, and
// judges what is in the bucket. `make e2e` builds what it needs; -short runs
// the part that CI runs.
package e2e
