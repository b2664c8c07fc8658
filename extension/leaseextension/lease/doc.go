// Package lease is leases that carry a small state, each write of which is fenced
// by the lease, over any store with a register per key and compare-and-set.
//
// It imports no store. Package memory and package s3 below it are stores, and so
// are the other backends of the extension leaseextension, which is where most
// components find a Leases.
//
// # What a lease does not guarantee
//
// A lease does not keep two holders from being at work at the same time. A
// process can be stopped, or its clock slowed, between asking whether it holds
// the lease and acting on it, and act after the next holder has begun. Context
// and Deadline make that rare, and nothing can make it impossible. What a lease
// does guarantee is that the state in its record is only ever written by the
// holder of the newest epoch. Whatever else a holder changes must be fenced by
// itself: by a conditional write, as the manifests are, or by the epoch.
//
// A lease does not survive what its store does not survive: a store that is
// restored from an old copy takes states back with it, and a failover that loses
// acknowledged writes takes back those. Epochs do not repeat even then, as long
// as clocks are no further apart than the age of the copy.
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
// absent while nobody holds it. Every change is a compare-and-set on the
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
//   - A conflict with an earlier write of the same acquisition, whose outcome was
//     unknown, is none: the next write is based on it.
//
// A commit costs two writes, acquire and release. A lease that is held for a
// third of its TTL is renewed in the background from then on.
//
// # Fairness
//
// Callers of one process get their turn in the order they came, and only the
// first of them polls: after 20 ms, then doubling up to a tenth of the TTL or one
// second, with jitter, and from the start when the record changes. A process that
// gives a lease back while others want it stays away for about as long as it held
// it. Waiters write nothing and can go unseen, so a process that takes turn after
// turn leaves a gap now and then.
package lease
