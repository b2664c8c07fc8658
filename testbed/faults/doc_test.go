//go:build e2e

// Package faults runs a real collector under load against every fault that
// docs/reliability.md names, and checks each sentence of its table: what the
// client and the collector's status say, whether data is still taken, how much
// memory that takes, and that afterwards every acknowledged record is in the
// bucket once. `make faults` prints the table anew.
package faults
