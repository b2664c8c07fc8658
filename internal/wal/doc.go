// Package wal is a write-ahead queue on a collector storage client: what
// Append has acknowledged is in the storage until Trim takes it out.
//
// One goroutine, the committer, makes every change: it takes all that is
// pending, gives the group one stamp, and writes it in one Batch, so that one
// fsync serves everyone who waits. One reader takes the groups in order, from
// memory where they are still there and from the storage otherwise; it may lag
// behind by the whole queue without holding it in memory.
//
// The formats, the crash story and what a storage must promise are in
// DESIGN.md.
package wal
