//go:build e2e

// Package fleet runs three real collectors on shared tenants, one bucket and
// one lease store, and does to them what happens to fleets. The bucket alone is
// judged: k is 1 to n without a gap, and every acknowledged record is in it
// once. `make soak` does it for as long as SOAK says.
package fleet
