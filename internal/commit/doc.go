// Package commit makes sealed windows real: it keeps the head record and takes
// the steps by which a window lands exactly once.
//
// A Log is the commit log of one partition at one lake. Its truth is the
// bucket: manifests 1, 2, 3 …, each created once at the next free number with
// If-None-Match, each naming the one before it. The head, the partition's
// record in the lease store, is an index of them with a lease; it can be lost
// or rolled back, and is then folded anew from the manifests.
//
// DESIGN.md says why that is safe, what each failure leaves behind, and what a
// caller has to do around Commit.
package commit
