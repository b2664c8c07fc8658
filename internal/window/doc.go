// Package window moves acknowledged records from the WAL into committed
// windows, within a fixed amount of memory.
//
// One loop owns all state. Everything that can wait (storage, encoding,
// uploads, commits) runs in goroutines of its own that are given what they
// need and post their result back to the loop; so what happens depends on the
// order of events alone, and runs under testing/synctest as it does live.
//
// Memory is a cache of the WAL. A record that is held may be dropped and read
// again by its sequence number at any time; what decides windows, objects and
// rows are the references (ref), never the payloads. DESIGN.md has the rules.
package window
