// Package verify judges a lake from its bucket alone.
//
// It never asks the exporter or a WAL, and a lease store only for the heads that
// it is to hold to the bucket. It holds every commit log to the rules of the
// commit protocol:
//
//   - manifests are 1, 2, 3 … without a gap, each decodes, says the partition
//     and number that its key says, and names the SHA-256 of the one before;
//   - no head, in the bucket or given by the caller, knows a window that the log
//     does not have, names another manifest, or says of a writer what is not the
//     fold of the manifests up to its own;
//   - the windows of a writer follow one another: each begins at or behind the
//     end of the one before, and says so in after;
//   - every object is named once, lies under a key of its own window, and has
//     the size, the SHA-256 and the number of rows that the manifest says; a
//     Parquet footer that names a tenant, signal or writer names the right
//     one, and received_at, where its statistics or the beginning of a line say
//     it, lies within the window.
//
// Objects that no manifest names are reported as uncommitted, or as leftover
// where their writer has committed past them and the log is whole, and entries
// that a manifest reports as lost are repeated. None of this is damage: the first
// may be a window on its way, the last is what the exporter itself confessed.
//
// A lake that is being written can be verified: a partition's objects are
// listed before its manifests, and what a manifest names is opened whether it
// was listed or not. Memory is bounded by the number of objects of the largest
// partitions looked at together, about 150 bytes each, and 16 bytes for each mark
// of a Resume. The search for duplicates has bounds of its own.
package verify
