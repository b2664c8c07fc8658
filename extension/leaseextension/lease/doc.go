// Package lease has leases that carry a small state. The lease fences each write of
// the state. All they need is a store that has a register per key and
// compare-and-set.
//
// It imports no store. Package memory and package s3 below it are stores, and so
// are the other backends of the extension leaseextension, which is where most
// components find a Leases.
//
// # What a lease does not guarantee
//
// A lease does not keep two holders from being at work at the same time. A
// process can be stopped after it has checked that it holds the lease, and act
// after the next holder has begun. Context and Deadline make that rare. Nothing
// can make it impossible. What a lease does guarantee: only the holder of the
// newest epoch writes the state in its record. Anything else that a holder
// changes needs a fence of its own: a conditional write, as the manifests have,
// or the epoch.
//
// A lease survives no more than its store does. If a store is restored from an old
// copy, the states are those of the copy. If a failover loses acknowledged writes,
// their states are lost. Even then epochs do not repeat, as long as clocks are no
// further apart than the age of the copy.
//
// Turns are not a queue across processes. Waiters poll.
//
// # The record
//
// There is one register per name, and one JSON object in it:
//
//	{"version":1,"epoch":1791009458377856,"write":"k5…","lease":{"holder":"gw-0/q7","ttl_ms":30000},"k":41}
//
// The fields besides version, epoch, write and lease are the state. lease is
// absent while the lease is free. Every change is a compare-and-set on the
// register's revision, and changes write, 128 random bits that make every
// version distinct.
//
//   - epoch grows with every acquisition: to the microseconds since 1970 or, if
//     that is not more, by one. It names acquisitions, it tells no time.
//   - A take-over replaces the lease and keeps the state as it was read.
//   - Expiry is observed, never compared. A waiter takes over after it has seen
//     the same version for the record's whole ttl_ms on its own monotonic clock.
//     Any write starts that over. What was seen by one Acquire or Read counts for
//     the next.
//   - A holder counts from before it sent its last confirmed write, and to nine
//     tenths of the TTL. So it knows before any waiter, unless clocks run at rates
//     that differ by more than a tenth.
//   - A write that ends with an error, a conflict included, may have been
//     applied. It is settled by reading the record: if it holds this write's id,
//     it was. While the record is at the old revision, the same bytes go out
//     again on the same revision: however many copies arrive and however late,
//     at most one is applied.
//   - A write may conflict with an earlier write of the same acquisition whose
//     outcome was unknown. The lease is still held then: the write goes out again,
//     based on the earlier one.
//
// A commit costs two writes, acquire and release. A lease that is held for a
// third of its TTL is renewed in the background from then on.
//
// # Fairness
//
// Callers of one process get their turn in the order they came, and only the
// first of them polls: after 20 ms, then doubling up to a tenth of the TTL or one
// second, with jitter, and from the start when the record changes. After a
// process has released a lease that others want, it waits for about as long as it
// held it. Waiters write nothing and may not be noticed, so a process that takes
// turn after turn leaves a gap now and then.
package lease
